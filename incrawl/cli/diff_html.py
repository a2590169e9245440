"""Two versions of a page side by side, as an HTML page that stands alone and runs no script."""

from __future__ import annotations

from html import escape

from incrawl.cli.diff_terminal import left_out_of
from incrawl.cli.text import clean, percent
from incrawl.core.changes import Change
from incrawl.core.changes.report import Report, TextChange
from incrawl.core.changes.words import compare_words

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; padding: 0 1em; max-width: 80em;
  color: #1b1f24 }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
td, th { vertical-align: top; text-align: left; padding: .4em .8em; border-bottom: 1px solid #ddd;
  overflow-wrap: anywhere }
td.old { background: #fff1f0 } td.new { background: #effaf0 } td.none { background: #f6f6f6 }
del { background: #ffc9c4; text-decoration: none } ins { background: #b6ecbc; text-decoration: none }
tr.place td { border: 0; color: #57606a; font-size: 13px; padding-bottom: 0 }
tr.same td { color: #57606a } p.dim { color: #57606a }
tr.volatile del, tr.volatile ins { background: none; border-bottom: 1px dashed }
"""
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)
_SHOWN_AROUND = 1  # unchanged paragraphs before and after a change


def side_by_side(report: Report, old_name: str, new_name: str) -> str:
    """The whole page. Everything that comes from the two versions is escaped."""
    rows = "".join(_rows(report))
    title = f"{report.new.title or new_name}: what changed"
    names = f"<tr><th>{_safe(old_name)}</th><th>{_safe(new_name)}</th></tr>"
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n{_POLICY}\n'
        f"<title>{_safe(title)}</title>\n<style>{_STYLE}</style></head>\n<body><h1>{_safe(title)}</h1>\n"
        f"{_summary(report)}\n<table><thead>{names}</thead>\n<tbody>{rows}</tbody></table>\n</body></html>\n"
    )


def _safe(text: str) -> str:
    return escape(clean(text))


def _summary(report: Report) -> str:
    verdict = report.verdict
    left_out = "".join(
        f'<p class="dim">Left out: {_safe(line)}</p>' for line in [left_out_of(report)] if line
    )
    if not verdict.changed:
        return f"<p><b>Unchanged.</b></p>{left_out}"
    old, new = verdict.old, verdict.new
    kinds = _safe(", ".join(sorted(verdict.kinds)))
    parts = [f"<b>{kinds}</b>, {verdict.size}, {percent(verdict.share)} of the page"]
    if verdict.subtree:
        levels = ", ".join(map(str, verdict.levels))
        parts.append(f"structure on levels {levels}, below <code>{_safe(verdict.subtree)}</code>")
    parts.append(f"RMS {old.rms:.3f} → {new.rms:.3f}, checksum {old.checksum:.3f} → {new.checksum:.3f}")
    return "".join(f"<p>{part}</p>" for part in parts) + left_out


def _rows(report: Report) -> list[str]:
    """Changed paragraphs with their neighbours, in the order of the new page."""
    volatile = report.volatile()
    changes = report.changes() + volatile
    changed = {change.what.new for change in changes if change.what.new is not None}
    shown = {near for at in changed for near in range(at - _SHOWN_AROUND, at + _SHOWN_AROUND + 1)}
    same = [
        (at, _same(report.new.texts[at])) for at in sorted(shown - changed) if 0 <= at < len(report.new.texts)
    ]
    different = [(_position(change), _different(change, change in volatile)) for change in changes]
    return [row for _, row in sorted(same + different, key=lambda placed: placed[0])]


def _position(change: TextChange) -> float:
    """A paragraph that is gone comes just before the one that now has its number."""
    what = change.what
    return what.new if what.new is not None else (what.old or 0) - 0.5


def _same(text: str) -> str:
    return f'<tr class="same"><td>{_safe(text)}</td><td>{_safe(text)}</td></tr>\n'


def _different(change: TextChange, volatile: bool) -> str:
    name, row = ("volatile, ", '<tr class="volatile">') if volatile else ("", "<tr>")
    what = f"{name}{change.change} <code>{_safe(change.place)}</code>"
    head = f'<tr class="place"><td colspan="2">{what}</td></tr>\n'
    return head + f"{row}{_cell(change, 'old', 'del')}{_cell(change, 'new', 'ins')}</tr>\n"


def _cell(change: TextChange, side: str, mark: str) -> str:
    if not getattr(change, side):
        return '<td class="none"></td>'
    if change.change is Change.MOVED:
        return f'<td class="{side}">{_safe(change.new)}</td>'
    stretches = [
        (stretch.same, _safe(getattr(stretch, side))) for stretch in compare_words(change.old, change.new)
    ]
    marked = "".join([text if same or not text else f"<{mark}>{text}</{mark}>" for same, text in stretches])
    return f'<td class="{side}">{marked}</td>'

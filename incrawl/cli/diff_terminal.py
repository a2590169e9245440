"""Two versions of a page in a terminal: the verdict in a few lines, then a diff paragraph by paragraph."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from incrawl.cli.text import clean, make_table, percent
from incrawl.core.changes import Change
from incrawl.core.changes.report import Report, TextChange
from incrawl.core.changes.verdict import Verdict
from incrawl.core.changes.words import compare_words

_SIGNS = {Change.CHANGED: "~", Change.ADDED: "+", Change.REMOVED: "-", Change.MOVED: "↷"}
_SIDES = {"old": ("-", "red"), "new": ("+", "green")}


def show_diff(report: Report, console: Console, *, ignored: bool = False) -> None:
    """Prints the whole report. Page text is cleaned: it must not reach the terminal as commands."""
    console.print(headline(report.verdict))
    if left_out := left_out_of(report):
        console.print(Text(f"left out: {left_out}", "dim"))
    if report.verdict.changed:
        _show_changes(report, console)
    if ignored:
        _show_ignored(report, console)


def _show_changes(report: Report, console: Console) -> None:
    console.print(_sums(report))
    if report.verdict.subtree:
        console.print(_structure(report.verdict))
    for change in report.changes():
        console.print()
        for line in _paragraph(change):
            console.print(line)


def _show_ignored(report: Report, console: Console) -> None:
    """What did not count: paragraphs that are volatile, then what each version has of noise."""
    for change in report.volatile():
        console.print()
        for line in [Text("volatile:", "bold dim"), *_paragraph(change)]:
            console.print(line)
    for name, side in (("old", report.old), ("new", report.new)):
        for kind, examples in sorted(side.ignored.examples.items()):
            count = side.ignored.counts[kind]
            console.print(Text(f"left out of the {name} version: {count} × {clean(kind)}", "bold dim"))
            for example in examples:
                console.print(Text(f"  {clean(example)}", "dim"))


def headline(verdict: Verdict) -> Text:
    """`changed: content, structural (major), 12 % of the text`."""
    if not verdict.changed:
        return Text("unchanged", "bold green")
    kinds = ", ".join(sorted(verdict.kinds))
    return Text(f"changed: {kinds} ({verdict.size}), {percent(verdict.share)} of the page", "bold yellow")


def left_out_of(report: Report) -> str:
    """What did not take part in the comparison, counted by kind; of the two versions the one with more."""
    kinds = dict(report.verdict.ignored)
    for side in (report.old, report.new):
        kinds |= {kind: max(count, kinds.get(kind, 0)) for kind, count in side.ignored.counts.items()}
    return ", ".join(f"{count} × {clean(kind)}" for kind, count in sorted(kinds.items()))


def _sums(report: Report) -> object:
    table = make_table("", "#old", "#new")
    old, new = report.old.signatures, report.new.signatures
    table.add_row("RMS", f"{old.rms:.3f}", f"{new.rms:.3f}")
    table.add_row("checksum", f"{old.checksum:.3f}", f"{new.checksum:.3f}")
    table.add_row("paragraphs", str(len(old)), str(len(new)))
    table.add_row("elements", str(len(old.tree)), str(len(new.tree)))
    return table


def _structure(verdict: Verdict) -> Text:
    levels = ", ".join(map(str, verdict.levels))
    counts = f"{verdict.tree.added} elements came, {verdict.tree.removed} went"
    return Text(f"structure: {counts} on levels {levels}, below {clean(verdict.subtree)}", "magenta")


def _paragraph(change: TextChange) -> list[Text]:
    head = Text(f"{_SIGNS[change.change]} {change.change}  {clean(change.place)}", "bold cyan")
    what = change.what
    head.append(f"  RMS {_move(what.old_rms, what.new_rms)}", "dim")
    head.append(f"  checksum {_move(what.old_checksum, what.new_checksum)}", "dim")
    if change.change is Change.MOVED:
        return [head, Text(f"  {clean(change.new)}")]
    sides = [side for side, text in (("old", change.old), ("new", change.new)) if text]
    return [head, *[_side(change, side) for side in sides]]


def _side(change: TextChange, side: str) -> Text:
    """One side's text, the words that differ from the other side in reverse."""
    sign, colour = _SIDES[side]
    line = Text(f"  {sign} ", colour)
    for stretch in compare_words(change.old, change.new):
        changed = not stretch.same and change.change is Change.CHANGED
        line.append(clean(getattr(stretch, side)), f"{colour} reverse" if changed else colour)
    return line


def _move(old: float | None, new: float | None) -> str:
    before, after = ("-" if value is None else f"{value:.3f}" for value in (old, new))
    return before if before == after else f"{before} → {after}"

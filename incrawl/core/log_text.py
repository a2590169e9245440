"""Text of strangers in a log: no page, header or URL may write a line of its own or talk to a terminal."""

from __future__ import annotations

from incrawl.core.identity import without_credentials

_INDENT = "\n    "


def safe_line(text: str) -> str:
    """A log message in which only the first line starts at the margin, without control characters.

    Continuation lines are indented, so that none of them can be taken for an entry of its own.

    >>> safe_line("Crawled http://a.test/\\n2026-11-18 ERROR: forged\\x1b[2J")
    'Crawled http://a.test/\\n    2026-11-18 ERROR: forged\\\\x1b[2J'
    """
    lines = without_credentials(text).split("\n")
    return _INDENT.join("".join(map(_visible, line)) if not line.isprintable() else line for line in lines)


def _visible(sign: str) -> str:
    if sign.isprintable() or sign == "\t":
        return sign
    return sign.encode("unicode_escape", "surrogatepass").decode()

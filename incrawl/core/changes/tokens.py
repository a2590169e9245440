"""Reads a page as a mere row of tags, where a parser gives up: no depth is too deep, and time is linear.

The page is written out again with every delimiter in its place, as a parser's tree would be. Nesting is
taken as it comes: an end tag ends whatever is open, and nothing is put right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from xml.sax.saxutils import escape

from incrawl.core.changes.extras import Extras

_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.S)
_SILENT = re.compile(
    r"<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)|<(script|style)\b[^>]*>(.*?)(?:</\1[^>]*>|\Z)", re.S | re.I
)
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)([^<>]*)>?")
_ATTRIBUTE = re.compile(r"""([A-Za-z_:][\w:.-]*)\s{0,8}=\s{0,8}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905
_NOT_IN_XML = re.compile("[\0-\x08\x0b\x0e-\x1f]")


def rewrite(page: str, extras: Extras, *, xml: bool = False) -> bytes:
    """The page in the form in which lxml writes out a tree. Scripts and styles go to `extras`."""
    page = _CDATA.sub(lambda section: escape(section[1]), _NOT_IN_XML.sub("", page))
    page = _SILENT.sub(lambda match: _set_aside(match, extras), page)
    return "".join(["<html>", *_written(page, xml=xml), "</html>"]).encode("utf-8", "replace")


def _written(page: str, *, xml: bool) -> Iterator[str]:
    end = depth = 0
    for match in _TAG.finditer(page):
        yield _text(page[end : match.start()])
        end = match.end()
        name = match[2] if xml else match[2].lower()
        if not match[1]:
            empty = match[3].endswith("/") or (name in _VOID and not xml)
            depth += not empty
            yield f"<{name}{_attributes(match[3])}{'/' * empty}>"
        elif depth:
            depth -= 1
            yield f"</{name}>"
    yield _text(page[end:])
    yield "</html>" * depth  # whatever is still open ends here


def _text(written: str) -> str:
    return escape(unescape(written) if "&" in written else written) if written else ""


def _attributes(written: str) -> str:
    if "=" not in written:
        return ""
    found = {
        name.lower(): double or single or bare for name, double, single, bare in _ATTRIBUTE.findall(written)
    }
    return "".join([f' {name}="{escape(unescape(value), _QUOTE)}"' for name, value in found.items()])


def _set_aside(match: re.Match[str], extras: Extras) -> str:
    if match[1] and match[2]:
        if match[1].lower() == "style":
            extras.styles.append(" ".join(match[2].split()))
        else:
            extras.add_script(match[2])
    return ""


_QUOTE = {'"': "&quot;"}

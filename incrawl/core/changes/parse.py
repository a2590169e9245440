"""The one parse of a page, and the way round the parser where it gives up."""

from __future__ import annotations

import re
import threading
from html import escape
from typing import Any

from lxml import etree

from incrawl.core.changes.decode import Form
from incrawl.core.changes.endless import has_endless_tag
from incrawl.core.changes.extras import Extras, take_extras
from incrawl.core.changes.ignored import Ignored
from incrawl.core.changes.markup import Markup, read_markup, read_written
from incrawl.core.changes.pieces import MarkupError
from incrawl.core.changes.rules import NO_RULES, IgnoreRules
from incrawl.core.changes.tokens import rewrite

DEEPEST = 2000
"""Elements may nest this deep. libxml2 drops what lies deeper than 2,048 tags, and all that follows it."""

_DOCTYPE = 2000  # bytes in which a doctype is looked for
_STRANGE = re.compile(r"[^\w:.-]")


def read_page(page: bytes, form: Form, rules: IgnoreRules = NO_RULES) -> tuple[Markup, Extras]:
    """Columns of a page, from its tree, or from its bare tags where the parser cannot read it all."""
    if form is Form.PLAIN:
        page = _as_html(page)
    elif form is Form.OPAQUE:
        page = b"<html/>"
    xml = form is Form.XML
    root = None if has_endless_tag(page) else _parse_xml(page) if xml else _parse_html(page)
    if root is not None:
        extras = take_extras(root)
        for xpath in rules.xpaths:
            _take_out(root, xpath, extras.ignored)
        markup = _markup_of(root, xml=xml)
        if markup is not None and markup.levels.max() < DEEPEST:
            return markup, extras
    extras = Extras()
    return read_written(rewrite(page.decode("utf-8", "replace"), extras, xml=xml), xml=xml), extras


def _parse_html(page: bytes) -> Any:
    """The tree of an HTML page, or None for a page without any content."""
    return _parse(page, _parsers.html)


def _parse_xml(page: bytes) -> Any:
    """The tree of a well-formed XML document, else None. No entity is resolved, nothing is fetched."""
    return _parse(page, _parsers.xml)


class _Parsers(threading.local):
    """Parsers of one thread; making them takes longer than parsing a small page."""

    def __init__(self) -> None:
        self.html = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
        self.xml = etree.XMLParser(
            encoding="utf-8", resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        )


_parsers = _Parsers()


def _parse(page: bytes, parser: Any) -> Any:
    try:
        root = etree.fromstring(page, parser)
    except (etree.LxmlError, ValueError):
        return None
    if root is not None and b"xhtml" in page[:_DOCTYPE].lower():
        # With an XHTML doctype libxml2 would add tags of its own when it writes the tree out.
        root.getroottree().docinfo.clear()
    return root


def _take_out(root: Any, xpath: Any, ignored: Ignored) -> None:
    """Removes all elements that a rule names; the text after them stays."""
    for element in xpath(root):
        if element.getparent() is not None:
            ignored.add("element by rule", " ".join("".join(element.itertext()).split()))
            _drop(element)


def _drop(element: Any) -> None:
    before, parent = element.getprevious(), element.getparent()
    if element.tail:
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _as_html(plain: bytes) -> bytes:
    """Plain text as a page: blocks between empty lines, or lines where there are no blocks."""
    text = plain.decode("utf-8", "replace")
    blocks = text.replace("\r\n", "\n").split("\n\n")
    if len(blocks) == 1:
        blocks = text.splitlines()
    return "".join(
        ["<html><body>", *[f"<p>{escape(block)}</p>" for block in blocks if block.strip()]]
    ).encode()


def _markup_of(root: Any, *, xml: bool) -> Markup | None:
    """Columns of a tree, names that hold delimiters put right first; None where they cannot be."""
    try:
        return read_markup(root, xml=xml)
    except MarkupError:
        try:
            _rename_strange(root)
            return read_markup(root, xml=xml)
        except (ValueError, KeyError):
            return None


def _rename_strange(root: Any) -> None:
    """Broken markup such as `<a href="x""y">` yields names that no writer of XML can write.

    Binary data may yield some that lxml cannot even take away: it raises ValueError or KeyError.
    """
    for element in root.iter(etree.Element):
        if _STRANGE.search(element.tag):
            element.tag = "x-" + _STRANGE.sub("", element.tag)
        for name in [name for name in element.attrib if _STRANGE.search(name)]:
            del element.attrib[name]

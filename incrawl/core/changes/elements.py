"""What kind of thing an HTML element is: how it divides text, and how large its text is by default."""

from __future__ import annotations

BLOCK = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "col",
        "colgroup",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "frameset",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "noscript",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "search",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
        "xmp",
        "listing",
        "plaintext",
    ]
)
"""Elements that begin a paragraph of their own. Elements made up by a site (`x-card`) do so, too."""

SPACED = frozenset(["br", "button", "input", "textarea", "iframe", "object", "video", "audio"])
"""Inline elements whose text stands apart from the text beside them."""

FONT_SIZES = {
    "title": 24.0,
    "h1": 24.0,
    "h2": 18.0,
    "h3": 14.0,
    "h4": 12.0,
    "h5": 10.0,
    "h6": 8.0,
}
"""Points by default. The title weighs as much as the highest heading: readers see it in every list."""

FONT_STEPS = {"big": 1.2, "small": 1 / 1.2, "sub": 1 / 1.2, "sup": 1 / 1.2}
"""Size by default as a multiple of the size around the element."""

BODY_SIZE = 12.0


def is_block(tag: str) -> bool:
    return tag in BLOCK or "-" in tag

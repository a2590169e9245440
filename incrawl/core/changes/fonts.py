"""The font size, in points, that an element has by default or by inline style."""

from __future__ import annotations

import re

from incrawl.core.changes.elements import BODY_SIZE, FONT_SIZES, FONT_STEPS

_LENGTH = re.compile(r"(\d+\.?\d*|\.\d+)(px|pt|pc|em|rem|ex|ch|%|in|cm|mm)")
_LONGEST_STYLE = 2000
_POINTS = {"px": 0.75, "pt": 1.0, "pc": 12.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "rem": BODY_SIZE}
_KEYWORDS = {
    "xx-small": 7.0, "x-small": 7.5, "small": 10.0, "medium": 12.0, "large": 13.5, "x-large": 18.0,
    "xx-large": 24.0, "xxx-large": 36.0,
}  # fmt: skip
_STEPS = {"larger": 1.2, "smaller": 1 / 1.2}
_RELATIVE = {"em": 1.0, "%": 0.01, "ex": 0.5, "ch": 0.5}
_FONT_TAG = {"1": 7.5, "2": 10.0, "3": 12.0, "4": 13.5, "5": 18.0, "6": 24.0, "7": 36.0}
_SMALLEST, _LARGEST = 1.0, 144.0


def font_size(style: str, parent: float) -> float | None:
    """Points that an inline style sets, None where it sets none; relative sizes refer to `parent`.

    >>> font_size("color:red; font-size: 16px", 12), font_size("font-size:150%", 12), font_size("top:0", 12)
    (12.0, 18.0, None)
    """
    for declaration in style[:_LONGEST_STYLE].lower().split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() in ("font-size", "font"):
            for word in value.replace("/", " ").split():
                if (size := _size(word, parent)) is not None:
                    return min(max(size, _SMALLEST), _LARGEST)
    return None


def _size(word: str, parent: float) -> float | None:
    if word in _KEYWORDS:
        return _KEYWORDS[word]
    if word in _STEPS:
        return parent * _STEPS[word]
    length = _LENGTH.fullmatch(word)
    if length is None:
        return None
    return float(length[1]) * _POINTS.get(length[2], parent * _RELATIVE.get(length[2], 1.0))


def element_size(tag: str, style: str, parent: float) -> float:
    """Points of an element's text; `style` is its style attribute, or the size of a `font` tag."""
    if tag == "font" and style.strip() in _FONT_TAG:
        return _FONT_TAG[style.strip()]
    explicit = font_size(style, parent) if style else None
    size = explicit or FONT_SIZES.get(tag, parent * FONT_STEPS.get(tag, 1.0))
    return min(max(size, _SMALLEST), _LARGEST)

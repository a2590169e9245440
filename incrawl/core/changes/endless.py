"""Tags with thousands of attributes: libxml2 compares each attribute with all before it.

No real page has such a tag. One of 200,000 attributes would keep the parser busy for a minute.
"""

from __future__ import annotations

import re

MOST_ATTRIBUTES = 4000

_END = b">"
_SHORTEST = 2 * MOST_ATTRIBUTES  # bytes of a tag with more than that
_TAG = re.compile(rb"""<[A-Za-z](?:[^<>"']++|"[^"]*+"|'[^']*+')*+""")
_QUOTED = re.compile(rb""""[^"]*"|'[^']*'""")


def has_endless_tag(page: bytes) -> bool:
    """Whether some tag has more than MOST_ATTRIBUTES. Pages that cannot have one are told at once."""
    if len(page) < _SHORTEST or not (page.count(b"=") > MOST_ATTRIBUTES or _has_gap(page)):
        return False
    return any(_is_endless(tag[0]) for tag in _TAG.finditer(page))


def _has_gap(page: bytes) -> bool:
    """Whether so much stands between two ends of tags that it may be one tag."""
    end = 0
    while end + _SHORTEST <= len(page):
        end = page.rfind(_END, end + 1, end + _SHORTEST)  # ends in between are no farther apart than that
        if end < 0:
            return True
    return False


def _is_endless(tag: bytes) -> bool:
    if len(tag) < _SHORTEST:
        return False
    names = _QUOTED.sub(b" ", tag).replace(b"/", b" ")
    return len(names.split(None, MOST_ATTRIBUTES)) > MOST_ATTRIBUTES

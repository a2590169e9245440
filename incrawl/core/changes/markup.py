"""From a parsed page to plain columns: tags, levels, texts, attributes.

Touching every node of an lxml tree from Python costs more than parsing the page did. So the tree is
written out as XML once (in C), where `<`, `>` and `"` occur as delimiters only, and is cut at those.
What stands between two attribute values, such as `</a</li<li class=`, repeats itself all over a site:
each such piece is read once and remembered (see `pieces`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from lxml import etree

from incrawl.core.changes.attributes import Attributes
from incrawl.core.changes.pieces import CLOSE, EMPTY, FACTS, MarkupError, memory_of
from incrawl.core.changes.vocabulary import Vocabulary

_STEPS = np.array([0 if mark & EMPTY else -1 if mark & CLOSE else 1 for mark in range(16)], np.int8)


@dataclass(frozen=True, slots=True)
class Markup:
    """A page as columns. `marks`, `depths` have one entry per tag, `numbers` and `levels` one per element."""

    numbers: Any  # of the elements' names in the vocabulary, in document order (uint16)
    levels: Any  # of the elements, 1 for the root (int32)
    opening: Any  # positions among all tags of those that begin an element
    marks: Any  # what each tag does (uint8)
    depths: Any  # elements open after each tag (int32)
    cuts: list[bytes]  # "", tag, text, tag, text, …; entities not yet resolved
    attributes: Attributes
    vocabulary: Vocabulary


def read_markup(root: Any, *, xml: bool = False) -> Markup:
    """Columns of the tree below `root`. Raises MarkupError on names that would be misread."""
    return read_written(etree.tostring(root, encoding="utf-8", with_tail=False), xml=xml)


def read_written(written: bytes, *, xml: bool = False) -> Markup:
    """Columns of a tree that is written out as XML."""
    cuts = written.replace(b">", b"<").split(b"<")
    between = (b"<" + b"<".join(cuts[1::2])).split(b'"')
    memory = memory_of(xml=xml)
    pieces = list(map(memory.__getitem__, between[0::2]))
    coded = np.frombuffer(b"".join([piece[0] for piece in pieces]), "<u4")
    if 2 * len(coded) + 1 != len(cuts):
        raise MarkupError("a name holds a delimiter")
    facts = np.frombuffer(b"".join([piece[1] for piece in pieces]), "<u4").reshape(-1, FACTS)
    ends = facts[:, 0].cumsum(dtype=np.int32)
    marks = (coded >> 16).astype(np.uint8)
    marks[ends[facts[:, 1].nonzero()[0] - 1] - 1] |= EMPTY
    depths = _STEPS.take(marks).cumsum(dtype=np.int32)
    opening = ((marks & CLOSE) == 0).nonzero()[0]
    elements = opening.searchsorted(ends[:-1]) - 1
    return Markup(
        numbers=coded[opening].astype(np.uint16),
        levels=depths[opening] + (marks[opening] >= EMPTY),
        opening=opening,
        marks=marks,
        depths=depths,
        cuts=cuts,
        attributes=Attributes.of(elements, facts[:-1], between[1::2]),
        vocabulary=memory.vocabulary,
    )

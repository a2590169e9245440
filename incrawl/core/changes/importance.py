"""How much each paragraph weighs: the font size, in points, of the elements that hold its text."""

from __future__ import annotations

from operator import mul
from typing import Any

import numpy as np

from incrawl.core.changes.attributes import Group, Name
from incrawl.core.changes.checksum import PARAGRAPH_K
from incrawl.core.changes.elements import BLOCK as BLOCKS
from incrawl.core.changes.elements import BODY_SIZE, FONT_SIZES, FONT_STEPS
from incrawl.core.changes.fonts import element_size
from incrawl.core.changes.markup import Markup
from incrawl.core.changes.pieces import BLOCK, CLOSE, EMPTY, PARTING
from incrawl.core.changes.text import Text, plain_text
from incrawl.core.changes.vocabulary import KNOWN, among

_STEPPED, _SIZED, _BLOCKS = among(*FONT_STEPS, "font"), among(*FONT_SIZES), among(*BLOCKS & set(KNOWN))
_SIZES = np.array([FONT_SIZES.get(name, BODY_SIZE) for name in (*KNOWN, "")])
_SIZE, _STYLE = Name.of("size"), Name.of("style")
_WHITE_SPACE = b" \n\t\r\f\v"


def paragraph_sizes(text: Text, markup: Markup, nodes: Any) -> tuple[Any, dict[int, float]]:
    """The font size of each paragraph, and the checksums of those that are written in more than one."""
    styles = _styles(markup)
    if not styles and not _STEPPED(markup.numbers).any() and not _blocks_in_headings(markup):
        return _SIZES.take(markup.numbers[nodes], mode="clip"), {}
    sizes = _text_sizes(markup, styles)
    return sizes[text.tags], _mixed_checksums(text, markup, sizes)


def _styles(markup: Markup) -> dict[int, bytes]:
    """Elements with an inline style or attribute that sets a font size."""
    attributes = markup.attributes
    if attributes.edges[Group.LOOK] == attributes.edges[Group.LOOK + 1]:
        return {}
    styles = {node: style for node, style in attributes.named(_STYLE) if b"font" in style.lower()}
    return dict(attributes.named(_SIZE)) | styles


def _blocks_in_headings(markup: Markup) -> bool:
    """Whether a heading holds more than text and inline elements, right at its beginning."""
    headings = _SIZED(markup.numbers[:-1]).nonzero()[0]
    deeper = markup.levels[headings + 1] > markup.levels[headings]
    return bool((deeper & _BLOCKS(markup.numbers[headings + 1])).any())


def _text_sizes(markup: Markup, styles: dict[int, bytes]) -> Any:
    """The font size of the text after each tag."""
    sized = _SIZED(markup.numbers) | _STEPPED(markup.numbers)
    sized[list(styles)] = True
    nodes = sized.nonzero()[0]
    begins = markup.opening[nodes]
    spans = list(zip(nodes.tolist(), begins.tolist(), _ends(markup, begins).tolist(), strict=True))
    edges, sizes = _paint(markup, spans, styles)
    return np.repeat(sizes, np.diff([*edges, len(markup.marks)]))


def _ends(markup: Markup, begins: Any) -> Any:
    """The tag that closes each element: the next one, or else the next closing one on its level."""
    ends = np.where(markup.marks[begins] & EMPTY, begins, (begins + 1).clip(max=len(markup.marks) - 1))
    open_still = (markup.depths[ends] >= markup.depths[begins] + (markup.marks[begins] >= EMPTY)).nonzero()[0]
    if len(open_still):
        closing = (markup.marks & CLOSE).nonzero()[0]
        count = np.int64(len(markup.marks))
        keys = np.append(np.sort((markup.depths[closing] + 1) * count + closing), -1)
        wanted = markup.depths[begins[open_still]] * count + begins[open_still]
        ends[open_still] = keys[np.searchsorted(keys[:-1], wanted)] % count
    return ends


def _paint(
    markup: Markup, spans: list[tuple[int, int, int]], styles: dict[int, bytes]
) -> tuple[list[int], list[float]]:
    """Where the font size changes, and to what: inner elements hide outer ones."""
    edges, sizes = [0], [BODY_SIZE]
    outer: list[tuple[int, float]] = []
    for node, begin, end in [*spans, (-1, 1 << 62, 0)]:
        while outer and outer[-1][0] <= begin:
            edge, size = outer.pop()
            edges.append(edge)
            sizes.append(size)
        if node >= 0:
            tag, style = markup.vocabulary.name(int(markup.numbers[node])), styles.get(node, b"")
            outer.append((end, sizes[-1]))
            edges.append(begin)
            sizes.append(element_size(tag, style.decode("utf-8", "replace"), sizes[-1]))
    return edges, sizes


def _mixed_checksums(text: Text, markup: Markup, sizes: Any) -> dict[int, float]:
    """Checksums of the paragraphs that are written in more than one font size."""
    changes = (sizes[1:] != sizes[:-1]).nonzero()[0] + 1
    inside = changes[(markup.marks[changes] & PARTING) != BLOCK]
    if not len(inside) or not len(text.tags):
        return {}
    found = np.unique(text.tags.searchsorted(inside, side="right") - 1)
    found = found[found >= 0]
    spans = zip(found.tolist(), text.tags[found].tolist(), text.ends[found].tolist(), strict=True)
    return {index: _mixed_checksum(markup, sizes, begin, end) for index, begin, end in spans}


def _mixed_checksum(markup: Markup, sizes: Any, begin: int, end: int) -> float:
    """The checksum of one paragraph, from the texts after the tags from `begin` up to `end`."""
    texts = b"\0".join(markup.cuts[2 * begin + 2 : 2 * end + 2 : 2])
    codes = map(sum, plain_text(texts).translate(None, _WHITE_SPACE).split(b"\0"))
    return float(PARAGRAPH_K * sum(map(mul, codes, sizes[begin:end].tolist())))

"""The text of a page, cut into paragraphs: the text of one block with its inline children."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrawl.core.changes.ignored import Ignored
from incrawl.core.changes.letters import ASCII, BREAK, Letters
from incrawl.core.changes.markup import Markup
from incrawl.core.changes.pieces import BLOCK, PARTING
from incrawl.core.changes.tree import Tree

_ENTITY = re.compile(rb"&(?:lt|gt|quot|amp|#13);")
_CHARACTERS = {b"&lt;": b"<", b"&gt;": b">", b"&quot;": b'"', b"&amp;": b"&", b"&#13;": b" "}
_BLANKS = b"\n\t\r\f\v\2"
_TO_BLANK = bytes.maketrans(_BLANKS, b" " * len(_BLANKS))
_WIDE_BLANKS = "\xa0\x85\u3000\u205f\u202f\u2028\u2029" + "".join(map(chr, range(0x2000, 0x200B)))
_UNSEEN = "\xad\u200b\u200c\u200d\u2060\ufeff"
_RARE = [(sign.encode(), b" ") for sign in _WIDE_BLANKS] + [(sign.encode(), b"") for sign in _UNSEEN]
_IN_NO_ARRANGEMENT = b" \n\t\r\f\v" + bytes(set("\xa0\xad\u200b\u2060\ufeff\u3000".encode()))
_BLANK = 32
_TAG = b"\3"  # no text in a tree holds it
_SEPARATORS = np.array([1, BREAK, 2, 1], np.uint8)  # what stands for an inline, block and spaced tag


@dataclass(frozen=True, slots=True)
class Text:
    """The paragraphs of a page, and how they hang together with its tags."""

    letters: Letters
    tags: Any  # for each paragraph the position in `Markup.marks` of the tag that begins it
    ends: Any  # … and of the tag that ends it
    arrangement: bytes  # characters and the places of tags among them, whatever may be blank left out


def read_text(markup: Markup) -> Text:
    """All paragraphs that hold any characters."""
    codes = np.frombuffer(bytearray(_TAG.join(markup.cuts[0::2])), np.uint8)
    codes[codes == _TAG[0]] = _SEPARATORS.take(markup.marks & PARTING)
    stream = codes.tobytes()
    letters, runs = Letters.split(_collapsed(plain_text(stream.translate(_TO_BLANK, b"\1"))))
    boundaries = np.append(((markup.marks & PARTING) == BLOCK).nonzero()[0], len(markup.marks))
    begins, ends = boundaries[(runs - 1).clip(0)], boundaries[runs]
    return Text(letters, begins, ends, stream.translate(None, _IN_NO_ARRANGEMENT))


def plain_text(text: bytes) -> bytes:
    """Text with entities resolved, wide blanks as blanks, and without characters that show nothing."""
    if b"&" in text:
        text = _ENTITY.sub(lambda match: _CHARACTERS[match[0]], text)
    return text if text.isascii() else _without_rare(text)


def _without_rare(text: bytes) -> bytes:
    others = text.translate(None, ASCII)  # short on most pages, so that it is searched instead
    for rare, plain in _RARE:
        if rare in others:
            text = text.replace(rare, plain)
    return text


def _collapsed(text: bytes) -> bytes:
    """Text with one blank for each row of blanks, and none where a paragraph begins."""
    codes = np.frombuffer(text, np.uint8)
    blank = codes == _BLANK
    kept = ~(blank[1:] & (blank | (codes == BREAK))[:-1])
    collapsed: bytes = codes[1:][kept].tobytes()
    return text[:1] + collapsed


def owners(text: Text, markup: Markup, tree: Tree) -> Any:
    """For each paragraph its element: the one just begun, or the parent of the one just ended."""
    last = markup.opening.searchsorted(text.tags, side="right") - 1
    ended = (markup.marks[text.tags] > PARTING).nonzero()[0]
    if len(ended):
        last[ended] = tree.last_on_level(markup.depths[text.tags[ended]], last[ended])
    return last


def paragraphs_at(text: Text, tags: Any) -> Any:
    """For each tag the number of the paragraph that it stands in, or else of the next one, or the last."""
    return text.ends.searchsorted(tags, side="right").clip(max=max(len(text.ends) - 1, 0))


def without_patterns(text: Text, patterns: tuple[re.Pattern[str], ...], ignored: Ignored) -> Text:
    """The text without what the patterns match; a paragraph of which nothing is left is none."""
    kept = []
    for paragraph in text.letters.paragraphs():
        plain = paragraph.decode("utf-8", "replace")
        for pattern in patterns:
            for match in pattern.finditer(plain):
                ignored.add("text by rule", match[0])
            plain = pattern.sub("", plain)
        kept.append(" ".join(plain.split()).encode())
    letters, runs = Letters.split(b"\0".join(kept))
    return Text(letters, text.tags[runs], text.ends[runs], b"") if kept else text

"""What stands between two attribute values of a page: tags that end and begin, and the next attribute."""

from __future__ import annotations

from struct import pack
from typing import NamedTuple

from incrawl.core.changes.attributes import name_hash, sort_key
from incrawl.core.changes.elements import SPACED, is_block
from incrawl.core.changes.vocabulary import Vocabulary

INLINE, BLOCK, SPACE, CLOSE, EMPTY = 0, 1, 2, 4, 8
"""Marks of a tag: how it parts the text around it, and whether it ends an element, or begins and ends one."""

PARTING = 3  # the bits of a mark that say how it parts text
FACTS = 4  # numbers in `Piece.facts`

_LONGEST_REMEMBERED = 200
_MOST_REMEMBERED = 30_000


class MarkupError(ValueError):
    """The tree holds names that cannot be told from delimiters (`<p <="x">`)."""


class Piece(NamedTuple):
    """All packed, so that the pieces of a page are joined rather than gone through."""

    tags: bytes  # uint32 for each tag: its mark above 16 bits for its name in the vocabulary
    facts: bytes  # uint32: tags, whether the tag before is an empty element, attribute's hash and key


class Tags(dict[bytes, int]):
    """For tags that were met before, `li` or `/li` or `br/`: the code (see Piece)."""

    def __init__(self, vocabulary: Vocabulary, *, xml: bool) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self._xml = xml

    def __missing__(self, tag: bytes) -> int:
        read = self._mark(tag) << 16 | self._vocabulary.number(tag.strip(b"/"))
        if len(self) < _MOST_REMEMBERED:
            self[tag] = read
        return read

    def _mark(self, tag: bytes) -> int:
        name = tag.strip(b"/").decode("utf-8", "replace")
        parting = BLOCK if self._xml or is_block(name) else SPACE if name in SPACED else INLINE
        return parting | (CLOSE if tag.startswith(b"/") else EMPTY if tag.endswith(b"/") else 0)


class Memory(dict[bytes, Piece]):
    """Pieces that were read before. A full one is replaced: sites come and go in a long crawl."""

    def __init__(self, *, xml: bool) -> None:
        super().__init__()
        self.vocabulary = Vocabulary()
        self._tags = Tags(self.vocabulary, xml=xml)

    @property
    def is_full(self) -> bool:
        return max(len(self), len(self.vocabulary)) > _MOST_REMEMBERED

    def __missing__(self, text: bytes) -> Piece:
        piece = read_piece(text, self._tags)
        if len(text) <= _LONGEST_REMEMBERED:
            self[text] = piece
        return piece


_memories = {xml: Memory(xml=xml) for xml in (False, True)}


def memory_of(*, xml: bool) -> Memory:
    """The memory for the next page; whoever is still reading one keeps the memory that he has."""
    if _memories[xml].is_full:
        _memories[xml] = Memory(xml=xml)
    return _memories[xml]


def read_piece(text: bytes, known: Tags) -> Piece:
    """`/</li<li class=` → ends an empty element and a li, begins a li, next comes its class."""
    markup, _, attribute = text.partition(b" ")
    before, *tags = markup.split(b"<")
    if before not in (b"", b"/") or (attribute[-1:] != b"=" if attribute else b" " in text):
        raise MarkupError(f"{text[:80]!r} is no markup")
    read = list(map(known.__getitem__, tags))
    name = attribute[:-1]
    described = (name_hash(name), sort_key(name)) if name else (0, 0)
    return Piece(
        pack(f"<{len(read)}I", *read),
        pack(f"<{FACTS}I", len(tags), bool(before), *described),
    )

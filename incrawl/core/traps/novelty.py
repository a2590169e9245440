"""Does a page say anything that the pages of its pattern have not said before?"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from hashlib import blake2b

LEAST_LETTERS = 4  # shorter pieces of text say nothing by themselves
NEW_LETTERS = 15  # this much new text makes a page new: a product's name is enough
LOOKED_AT = 200_000  # characters of a page
FEW = 0.01  # share of the latest pages up to which those with something new count for nothing
MANY = 0.1  # share of the latest pages from which those that lead on make a pattern endless
_BITS = 1 << 15
_FULL = 4000  # pieces after which a memory of this size would mistake new for known
_HASHES = 3

# Both end at the next angle bracket: no page can make them slow.
_SILENT = re.compile(r"<(script|style|noscript|template)\b", re.I)
_TAG = re.compile(r"<[^<>]*>")
_WITH_DIGITS = re.compile(r"\b[^\W\d_]*\d\w*")
_NO_LETTERS = re.compile(r"[\W\d_]+")


def text_blocks(html: str) -> list[str]:
    """The pieces of text between tags, words only: a counter, date or id makes nothing new of a page.

    >>> text_blocks("<h1>July 2031</h1><p>Events on day 7: none, id a7f3</p>")
    ['july', 'events on day none id']
    """
    return words_of(_TAG.split(without_silent(html[:LOOKED_AT])))


def words_of(pieces: Iterable[str]) -> list[str]:
    """Pieces of text reduced to their words, those without any left out."""
    words = (_NO_LETTERS.sub(" ", _WITH_DIGITS.sub(" ", piece)).strip().lower() for piece in pieces)
    return [piece for piece in words if len(piece) >= LEAST_LETTERS]


def without_silent(html: str) -> str:
    """The page without scripts and styles, in linear time: one that is not closed runs to the end."""
    lower = html.lower()
    kept, position = [], 0
    while (start := _SILENT.search(html, position)) is not None:
        kept.append(html[position : start.start()])
        position = lower.find(f"</{start[1].lower()}", start.end())
        if position < 0:
            return " ".join(kept)
    return " ".join((*kept, html[position:]))


class Novelty:
    """The memory of one pattern: a small Bloom filter of texts, and how the latest pages fared."""

    __slots__ = ("_bits", "_filled", "_latest")

    def __init__(self, window: int) -> None:
        self._bits = bytearray(_BITS // 8)
        self._filled = 0
        self._latest: deque[tuple[bool, bool]] = deque(maxlen=window)  # new, leads on

    def add(self, blocks: Iterable[str], leads_on: Callable[[], bool]) -> bool:
        """Takes a page's texts down; True when they brought enough that was not known.

        `leads_on`: whether it has links to further pages of the pattern; asked only where it matters.
        """
        new = sum(len(block) for block in set(blocks) if self._is_new(block)) >= NEW_LETTERS
        self._latest.append((new, not new and leads_on()))
        return new

    @property
    def is_trap(self) -> bool:
        """Whether the latest pages said nothing new, and led on: pages that lead nowhere are finite."""
        pages = len(self._latest)
        new, leading = (sum(column) for column in zip(*self._latest, strict=True)) if pages else (0, 0)
        return pages == self._latest.maxlen and new <= FEW * pages and leading >= MANY * pages

    def _is_new(self, block: str) -> bool:
        digest = blake2b(block.encode("utf-8", "surrogatepass"), digest_size=2 * _HASHES).digest()
        places = [int.from_bytes(digest[at : at + 2]) % _BITS for at in range(0, 2 * _HASHES, 2)]
        if all(self._bits[place >> 3] & (1 << (place & 7)) for place in places):
            return False
        if self._filled >= _FULL:
            # Full: forget, rather than take what is new for known and cut a large site.
            self._bits, self._filled = bytearray(_BITS // 8), 0
        for place in places:
            self._bits[place >> 3] |= 1 << (place & 7)
        self._filled += 1
        return True

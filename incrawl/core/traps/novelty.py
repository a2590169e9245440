"""Does a page say anything that the pages of its pattern have not said before?"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping

from xxhash import xxh3_64_intdigest

LEAST_LETTERS = 4  # shorter pieces of text say nothing by themselves
NEW_LETTERS = 15  # this much new text makes a page new: a product's name is enough
LOOKED_AT = 200_000  # characters of a page
FEW = 0.01  # share of the latest pages up to which those with something new count for nothing
MANY = 0.1  # share of the latest pages from which those that lead on make a pattern endless
_BITS = 1 << 15
_FULL = 4000  # pieces after which a memory of this size would mistake new for known

# Both end at the next angle bracket: no page can make them slow.
_SILENT = re.compile(r"<(script|style|noscript|template)\b", re.I)
_TAG = re.compile(r"<[^<>]*>")
_WITH_DIGITS = re.compile(r"\b[^\W\d_]*\d\w*")
_DIGIT = re.compile(r"\d")
_NO_LETTERS = re.compile(r"[\W\d_]+")
# The same for text in ASCII, at a fraction of the cost: letters in lower case, all else a space.
_BETWEEN = "\0"  # no text has it: parsers leave it out
_LETTERS_ONLY = {code: chr(code).lower() if chr(code).isalpha() else " " for code in range(1, 128)}


def text_blocks(html: str) -> list[str]:
    """The pieces of text between tags, words only: a counter, date or id makes nothing new of a page.

    >>> text_blocks("<h1>July 2031</h1><p>Events on day 7: none, id a7f3</p>")
    ['july', 'events on day none id']
    """
    return words_of(_TAG.split(without_silent(html[:LOOKED_AT])))


def words_of(pieces: Iterable[str]) -> list[str]:
    """Pieces of text reduced to their words, those without any left out."""
    plain = [_WITH_DIGITS.sub(" ", piece) if _DIGIT.search(piece) else piece for piece in pieces]
    together = _BETWEEN.join(plain)
    if together.isascii():
        words = (" ".join(piece.split()) for piece in together.translate(_LETTERS_ONLY).split(_BETWEEN))
    else:
        words = (_NO_LETTERS.sub(" ", piece).strip().lower() for piece in plain)
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
        return self.add_marks(marks_of(blocks), leads_on)

    def add_marks(self, marks: Mapping[int, int], leads_on: Callable[[], bool]) -> bool:
        """`add`, for texts that several memories are to take down: their marks are worked out once."""
        new = sum(length for mark, length in marks.items() if self._is_new(mark)) >= NEW_LETTERS
        self._latest.append((new, not new and leads_on()))
        return new

    @property
    def is_trap(self) -> bool:
        """Whether the latest pages said nothing new, and led on: pages that lead nowhere are finite."""
        pages = len(self._latest)
        new, leading = (sum(column) for column in zip(*self._latest, strict=True)) if pages else (0, 0)
        return pages == self._latest.maxlen and new <= FEW * pages and leading >= MANY * pages

    def _is_new(self, mark: int) -> bool:
        bits = self._bits
        places = first, second, third = mark % _BITS, (mark >> 16) % _BITS, (mark >> 32) % _BITS
        known = bits[first >> 3] >> (first & 7) & bits[second >> 3] >> (second & 7)
        if known & bits[third >> 3] >> (third & 7) & 1:
            return False
        if self._filled >= _FULL:
            # Full: forget, rather than take what is new for known and cut a large site.
            bits = self._bits = bytearray(_BITS // 8)
            self._filled = 0
        for place in places:
            bits[place >> 3] |= 1 << (place & 7)
        self._filled += 1
        return True


def marks_of(blocks: Iterable[str]) -> dict[int, int]:
    """What stands for each of the texts, and how long it is."""
    return {xxh3_64_intdigest(block.encode("utf-8", "surrogatepass")): len(block) for block in blocks}

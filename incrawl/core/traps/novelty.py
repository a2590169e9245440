"""Does a page say anything that the pages of its pattern have not said before?"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum

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
_NO_DIGITS = bytes(code for code in range(1, 128) if not chr(code).isdigit())

Mark = tuple[int, int, int, int, int, int, int]
"""What stands for a text: its length, then three bytes of a memory, each with the bit that is meant."""


def text_blocks(html: str) -> list[str]:
    """The pieces of text between tags, words only: a counter, date or id makes nothing new of a page.

    >>> text_blocks("<h1>July 2031</h1><p>Events on day 7: none, id a7f3</p>")
    ['july', 'events on day none id']
    """
    return words_of(_TAG.split(without_silent(html[:LOOKED_AT])))


def words_of(pieces: Iterable[str]) -> list[str]:
    """Pieces of text reduced to their words, those without any left out."""
    given = list(pieces)
    together = _BETWEEN.join(given)
    words = _ascii_words(together) if together.isascii() else map(_words, given)
    return [piece for piece in words if len(piece) >= LEAST_LETTERS]


def _words(piece: str) -> str:
    plain = _WITH_DIGITS.sub(" ", piece) if _DIGIT.search(piece) else piece
    return _NO_LETTERS.sub(" ", plain).strip().lower()


def _ascii_words(together: str) -> Iterator[str]:
    """`_words` of each of the pieces, which are looked at together: most have no digits."""
    digits = together.encode("ascii").translate(None, _NO_DIGITS).split(b"\0")
    pieces = together.split(_BETWEEN)
    plain = [
        _WITH_DIGITS.sub(" ", piece) if has else piece for piece, has in zip(pieces, digits, strict=True)
    ]
    letters = _BETWEEN.join(plain).translate(_LETTERS_ONLY)
    while "  " in letters:  # each time half as long a row of spaces is left
        letters = letters.replace("  ", " ")
    return (piece.strip() for piece in letters.split(_BETWEEN))


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


class _Page(IntEnum):
    """How one of the latest pages fared."""

    NEW = 0
    LEADS_ON = 1  # nothing new, but links to further pages of the pattern
    ENDS = 2


class Novelty:
    """The memory of one pattern: a small Bloom filter of texts, and how the latest pages fared."""

    __slots__ = ("_bits", "_filled", "_latest")

    def __init__(self, window: int) -> None:
        self._bits = bytearray(_BITS // 8)
        self._filled = 0
        self._latest: deque[_Page] = deque(maxlen=window)

    def add(self, blocks: Iterable[str], leads_on: Callable[[], bool]) -> bool:
        """Takes a page's texts down; True when they brought enough that was not known.

        `leads_on`: whether it has links to further pages of the pattern; asked only where it matters.
        """
        return self.add_marks(marks_of(blocks), leads_on)

    def add_marks(self, marks: Iterable[Mark], leads_on: Callable[[], bool]) -> bool:
        """`add`, for texts that several memories are to take down: their marks are worked out once."""
        new = self._take_down(marks) >= NEW_LETTERS
        self._latest.append(_Page.NEW if new else _Page.LEADS_ON if leads_on() else _Page.ENDS)
        return new

    @property
    def is_trap(self) -> bool:
        """Whether the latest pages said nothing new, and led on: pages that lead nowhere are finite."""
        latest, pages = self._latest, len(self._latest)
        if pages != latest.maxlen or latest.count(_Page.NEW) > FEW * pages:
            return False
        return latest.count(_Page.LEADS_ON) >= MANY * pages

    def _take_down(self, marks: Iterable[Mark]) -> int:
        """The letters of the texts that were not known. Every text of every new page passes this loop."""
        bits, letters = self._bits, 0
        for length, first, first_bit, second, second_bit, third, third_bit in marks:
            if bits[first] & first_bit and bits[second] & second_bit and bits[third] & third_bit:
                continue
            if self._filled >= _FULL:
                # Full: forget, rather than take what is new for known and cut a large site.
                bits = self._bits = bytearray(_BITS // 8)
                self._filled = 0
            bits[first] |= first_bit
            bits[second] |= second_bit
            bits[third] |= third_bit
            self._filled += 1
            letters += length
        return letters


def marks_of(blocks: Iterable[str]) -> list[Mark]:
    """What stands for each of the texts; one that is said twice counts once."""
    return [_mark(block) for block in dict.fromkeys(blocks)]


def _mark(block: str) -> Mark:
    drawn = xxh3_64_intdigest(block.encode("utf-8", "surrogatepass"))
    first, second, third = drawn % _BITS, (drawn >> 16) % _BITS, (drawn >> 32) % _BITS
    return (
        *(len(block), first >> 3, 1 << (first & 7)),
        *(second >> 3, 1 << (second & 7), third >> 3, 1 << (third & 7)),
    )

"""The characters of many paragraphs side by side, so that numpy sums them up in one go.

A call of numpy costs some microseconds however little there is to do: here they are few.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

BREAK = 0
"""Stands between paragraphs, and adds nothing to any sum."""

ASCII = bytes(range(128))
_ALL = bytes(range(1, 256))
_BLANK = 32
_BLANK_OUT = bytes.maketrans(b" ", b"\0")
_BITS = np.zeros((4, 256), np.uint64)
_BITS[np.arange(256) // 64, np.arange(256)] = np.uint64(1) << (
    np.arange(256, dtype=np.uint64) % np.uint64(64)
)
_BITS[0, BREAK] = 0
"""For each quarter of all codes a table that gives a code of that quarter a bit of its own."""
_FITS_THE_CACHE = 16384


@dataclass(frozen=True, slots=True)
class Letters:
    """UTF-8 of all paragraphs, one after the other; the only white space is the blank."""

    text: bytes
    codes: Any  # the same as numbers, blanks as breaks (uint8)
    starts: Any  # of each paragraph
    ends: Any

    @classmethod
    def split(cls, text: bytes) -> tuple[Letters, Any]:
        """Paragraphs from a text with breaks; and which of all runs between breaks these are.

        A run may end in one blank, which is left out; empty runs are no paragraphs.
        """
        codes = np.frombuffer(b"\0" + text + b"\0", np.uint8)
        breaks = (codes == BREAK).nonzero()[0]
        runs = (breaks[1:] - breaks[:-1] > 1).nonzero()[0]
        starts, ends = breaks[runs], breaks[runs + 1] - 1
        bare = np.frombuffer(text.translate(_BLANK_OUT), np.uint8)
        return cls(text, bare, starts, ends - (codes[ends] == _BLANK)), runs

    @classmethod
    def of_one(cls, text: str) -> Letters:
        """Letters of any text whatever, as one paragraph."""
        packed = "".join(text.replace("\0", "").split()).encode("utf-8", "surrogatepass")
        return cls.split(packed)[0]

    def __len__(self) -> int:
        return len(self.starts)

    def paragraphs(self) -> list[bytes]:
        text = self.text
        return [text[start:end] for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)]

    def lower(self) -> Letters:
        """The same in lower case."""
        others = (
            "" if self.text.isascii() else self.text.translate(None, ASCII).decode("utf-8", "surrogatepass")
        )
        if others == others.lower():  # bytes.lower leaves all but ASCII alone
            small = self.text.lower()
            return Letters(
                small, np.frombuffer(small.translate(_BLANK_OUT), np.uint8), self.starts, self.ends
            )
        lowered = self.text.decode("utf-8", "surrogatepass").lower().encode("utf-8", "surrogatepass")
        return Letters.split(lowered)[0]

    def counts(self) -> Any:
        """For each paragraph the number of bytes that are not white space."""
        return self._each(np.add, self.codes != BREAK, np.int64)

    def with_digits(self) -> list[int]:
        """The paragraphs that hold a digit."""
        digits = (self.codes - np.uint8(48) < 10).view(np.uint8)
        found: list[int] = self._each(np.bitwise_or, digits, np.uint8).nonzero()[0].tolist()
        return found

    def sums(self) -> Any:
        """For each paragraph the sum of its codes."""
        return self._each(np.add, self.codes, np.int64)

    def sums_of_squares(self) -> Any:
        return self._each(np.add, np.square(self.codes, dtype=np.uint16), np.int64)

    def distinct(self) -> Any:
        """The number of different codes of each paragraph."""
        counts = self._distinct_ascii()
        if not self.text.isascii():
            counts += self._distinct_beyond_ascii()
        return counts

    def distinct_in_all(self) -> int:
        """The number of different codes of all paragraphs together."""
        return len(_ALL) - len(_ALL.translate(None, self.text)) - (b" " in self.text)

    def _distinct_ascii(self) -> Any:
        """Goes over the text in blocks that fit into the processor's cache with what is made of them."""
        counts = np.empty(len(self), np.int64)
        first = 0
        while first < len(self):
            begin = int(self.starts[first])
            last = max(int(self.starts.searchsorted(begin + _FITS_THE_CACHE)), first + 1)
            codes, starts = self.codes[begin : int(self.ends[last - 1])], self.starts[first:last] - begin
            low, high = (np.bitwise_or.reduceat(bits.take(codes), starts) for bits in _BITS[:2])
            counts[first:last] = np.bitwise_count(low) + np.bitwise_count(high)
            first = last
        return counts

    def _distinct_beyond_ascii(self) -> Any:
        """Most pages have few codes above 127, and only those are looked at."""
        places = (self.codes > 127).nonzero()[0]
        codes, firsts = self.codes[places], places.searchsorted(self.starts)
        filled = np.diff(firsts, append=len(places)).nonzero()[0]
        counts = np.zeros(len(self), np.int64)
        for bits in _BITS[2:]:
            counts[filled] += np.bitwise_count(np.bitwise_or.reduceat(bits.take(codes), firsts[filled]))
        return counts

    def _each(self, operation: Any, values: Any, kind: Any) -> Any:
        """The result of an operation over each paragraph; what follows it up to the next is all breaks."""
        return operation.reduceat(values, self.starts, dtype=kind) if len(self) else np.empty(0, kind)

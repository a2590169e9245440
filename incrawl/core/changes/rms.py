"""RMS of a text (paper 003, eq. 2): √(Σ code² / n), n being the number of distinct characters.

The sum runs over all characters that are not white space, in lower case. A code is a byte of the
text's UTF-8 form: ASCII codes for ASCII text, and no single dash outweighs a paragraph elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from incrawl.core.changes.letters import Letters


@dataclass(frozen=True, slots=True)
class Rms:
    """RMS of a page and of its paragraphs."""

    page: float
    distinct: int  # `n` of the page
    paragraphs: Any

    @classmethod
    def of(cls, letters: Letters) -> Rms:
        """`letters` as written; they are put in lower case here."""
        small = letters.lower()
        squares, on_page = small.sums_of_squares(), small.distinct_in_all()
        page = sqrt(int(squares.sum()) / on_page) if on_page else 0.0
        return cls(page, on_page, (squares / small.distinct()) ** 0.5)


def rms(text: str) -> float:
    """RMS of one text; 0 for a text without characters.

    >>> round(rms("The quick brown fox jumps over the lazy dog"), 3)
    127.329
    """
    return Rms.of(Letters.of_one(text)).page


def distinct(text: str) -> int:
    """`n` of the formula: how many different characters (as bytes) the text has."""
    return Rms.of(Letters.of_one(text)).distinct

"""Weighted checksum (paper 003, eq. 3): Σ importance · code · K over a text's characters.

Importance is the font size in points of the element that holds the text, so headings weigh more.
Case counts, white space does not. K is 0.001 for a paragraph and 0.0001 for a page: the page's
checksum is a tenth of the sum of its paragraphs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from incrawl.core.changes.letters import Letters

PARAGRAPH_K = 0.001
PAGE_SHARE = 0.1


def checksum(runs: Iterable[tuple[str, float]]) -> float:
    """Checksum of one paragraph, given as texts with the font size (in points) of each.

    >>> round(checksum([("The quick brown fox jumps over the lazy dog", 12)]), 3)
    45.612
    """
    return PARAGRAPH_K * sum(
        size * sum("".join(text.split()).encode("utf-8", "replace")) for text, size in runs
    )


def paragraph_checksums(letters: Letters, sizes: Any) -> Any:
    """Checksum of every paragraph, each written in one font size."""
    return letters.sums() * sizes * PARAGRAPH_K


def page_checksum(paragraphs: Any) -> float:
    """Checksum of a page from those of its paragraphs."""
    return float(paragraphs.sum()) * PAGE_SHARE

"""Which pages are leased first: Pvalue and three lists (paper 003). `lua/lease.lua` takes from them 4:2:1.

Written for the reader, page by page; the batch job computes the same over arrays (`incrawl.collection`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeVar

Page = TypeVar("Page", bound=Hashable)


def pvalue(forward: int, back: int) -> int:
    """Eq. 1: links on the page minus pages of the repository that link to it."""
    return forward - back


def pvalues(links: Iterable[tuple[Page, Collection[Page]]]) -> dict[Page, int]:
    """The Pvalue of every page and of every URL linked to, from each page's current out-links.

    Taken from the stored out-links and not from events: a revisit or a second delivery counts
    no link twice, and a link that was dropped is gone from the sum.
    """
    forward: dict[Page, int] = {}
    back: Counter[Page] = Counter()
    for page, targets in links:
        distinct = set(targets)
        forward[page] = len(distinct)
        back.update(distinct)
    return {page: pvalue(forward.get(page, 0), back[page]) for page in forward.keys() | back.keys()}


def three_lists(values: Mapping[Page, int]) -> tuple[list[Page], list[Page], list[Page]]:
    """The pages by falling Pvalue, cut into three nearly equal lists (the first are the longer)."""
    ordered = sorted(values, key=lambda page: (-values[page], str(page)))
    size, longer = divmod(len(ordered), 3)
    first, second = size + (longer > 0), 2 * size + longer
    return ordered[:first], ordered[first:second], ordered[second:]

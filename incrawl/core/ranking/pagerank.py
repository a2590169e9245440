"""PageRank of the crawl's own link graph (paper 002), by power iteration over numpy arrays."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Page = TypeVar("Page", bound=Hashable)
Numbers = NDArray[np.int64]
Ranks = NDArray[np.float64]

DAMPING = 0.85
TOP = 10.0


def pagerank(
    sources: Numbers, targets: Numbers, pages: int, *, tolerance: float = 1e-9, rounds: int = 200
) -> Ranks:
    """The rank of pages 0…pages−1, summing to 1, given the links sources[i] → targets[i].

    A page without links passes its rank on to all pages alike. Ends when a round moves less than
    `tolerance` in all.
    """
    if pages == 0:
        return np.zeros(0)
    out_links = np.bincount(sources, minlength=pages)
    dangling = out_links == 0
    share = 1.0 / np.maximum(out_links, 1)
    rank = np.full(pages, 1.0 / pages)
    for _ in range(rounds):
        passed_on = np.bincount(targets, weights=(rank * share)[sources], minlength=pages)
        to_all = (1 - DAMPING + DAMPING * rank[dangling].sum()) / pages
        following = DAMPING * passed_on + to_all
        moved = float(np.abs(following - rank).sum())
        rank = following
        if moved < tolerance:
            break
    return rank


def on_scale(rank: Ranks) -> Ranks:
    """Ranks on a logarithmic 0…10 scale: the least page 0, the greatest 10; 0 where all are equal."""
    if rank.size == 0 or rank.max() <= rank.min():
        return np.zeros_like(rank)
    return np.asarray(TOP * np.log(rank / rank.min()) / np.log(rank.max() / rank.min()))


def number_links(
    links: Iterable[tuple[Page, Collection[Page]]],
) -> tuple[list[Page], Numbers, Numbers]:
    """The pages in order of their numbers, and every link once, as two arrays of numbers.

    Links to a page's own place are left out: they would let it vouch for itself.
    """
    numbers: dict[Page, int] = {}
    sources: list[int] = []
    targets: list[int] = []
    for page, out in links:
        source = numbers.setdefault(page, len(numbers))
        found = {numbers.setdefault(target, len(numbers)) for target in out} - {source}
        sources.extend([source] * len(found))
        targets.extend(found)
    return list(numbers), np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)


def ranks_of(links: Iterable[tuple[Page, Collection[Page]]]) -> tuple[dict[Page, float], float]:
    """The rank of each page on the 0…10 scale, and how many times the greatest rank is the least
    (`Collection.rank_spread`), from which a weight in proportion to PageRank can be had back."""
    pages, sources, targets = number_links(links)
    rank = pagerank(sources, targets, len(pages))
    spread = float(rank.max() / rank.min()) if pages else 1.0
    return dict(zip(pages, on_scale(rank).tolist(), strict=True)), spread

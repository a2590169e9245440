"""A collection of bounded size (paper 000, Fig. 2): the most important pages of all that are known.

A page outside that ranks higher takes the place of the least important one inside, which stays known, at
rest, and may come back. Of equal pages those inside stay.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrawl.collection.amending import Amender
from incrawl.collection.numbers import PageNumbers, short_id
from incrawl.collection.survey import Entry
from incrawl.frontier import bounded, operations
from incrawl.frontier.frontier import Frontier

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Members:
    """Who is in the collection, by page number."""

    waiting: Flags
    engaged: Flags  # with a worker, suspect or quarantined, or a sitemap: nobody moves those

    @classmethod
    async def of(cls, frontier: Frontier, pages: PageNumbers) -> Members:
        members = cls(np.zeros(len(pages), dtype=bool), np.zeros(len(pages), dtype=bool))
        async for ids in bounded.waiting_ids(frontier):
            members.waiting[_numbers(pages, ids)] = True
        async for ids in bounded.engaged_ids(frontier):
            members.engaged[_numbers(pages, ids)] = True
        return members


@dataclass(frozen=True, slots=True)
class Exchange:
    """The pages that leave the collection and those that take their places."""

    leaves: Flags
    enters: Flags
    size: int  # of the collection afterwards

    @classmethod
    def of(cls, ranks: NDArray[np.float64], members: Members, may_enter: Flags, size: int) -> Exchange:
        inside = members.waiting | members.engaged
        candidates = np.flatnonzero((members.waiting & ~members.engaged) | (may_enter & ~inside))
        # By falling rank; of equal ones, those inside first.
        by_rank = candidates[np.lexsort((~inside[candidates], -ranks[candidates]))]
        chosen = np.zeros(len(ranks), dtype=bool)
        chosen[by_rank[: max(0, size - int(members.engaged.sum()))]] = True
        leaves = members.waiting & ~members.engaged & ~chosen
        return cls(leaves, chosen & ~inside, int((chosen | members.engaged).sum()))

    async def carry_out(self, frontier: Frontier, entries: list[tuple[int, Entry]]) -> None:
        """Moves those of the `entries` that are to be moved. One that a worker has just got stays."""
        leaving = [entry.record for number, entry in entries if self.leaves[number]]
        # Failures so far must not make it look gone for good.
        await Amender(frontier).amend((record, {"failures": 0}) for record in leaving)
        entering = [entry.record for number, entry in entries if self.enters[number]]
        await asyncio.gather(
            *(operations.reschedule(frontier, record.url, None) for record in leaving),
            *(operations.reschedule(frontier, record.url, 0.0) for record in entering),
        )


def _numbers(pages: PageNumbers, ids: list[bytes]) -> NDArray[np.int64]:
    return pages.of_known(np.fromiter(map(short_id, ids), dtype=np.uint64, count=len(ids)))

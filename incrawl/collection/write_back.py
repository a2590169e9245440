"""The last pass over the records: list and rank are written where they have changed, and the URLs that
numbers stand for are picked up."""

from __future__ import annotations

import heapq
from collections.abc import Collection as Numbered
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incrawl.collection.amending import PATIENCE, Amended, Amender
from incrawl.collection.bound import Exchange
from incrawl.collection.ranking import Ranking
from incrawl.collection.survey import batches, numbered
from incrawl.core.records import UrlRecord
from incrawl.core.refresh.policy import Learner
from incrawl.frontier.frontier import Frontier


@dataclass(slots=True)
class Largest:
    """The `places` greatest of all that are added."""

    places: int
    heap: list[tuple[str, int]] = field(default_factory=list)

    def add(self, item: tuple[str, int]) -> None:
        if len(self.heap) < self.places:
            heapq.heappush(self.heap, item)
        elif self.places:
            heapq.heappushpop(self.heap, item)

    @property
    def least(self) -> tuple[str, int]:
        """The least of them, once there are any."""
        return self.heap[0]


@dataclass(slots=True)
class Written:
    """What the pass found and did."""

    at_cut: Largest
    amended: Amended = Amended()
    records: dict[int, UrlRecord] = field(default_factory=dict)  # those that were asked for


async def write_back(
    frontier: Frontier,
    ranking: Ranking,
    exchange: Exchange | None,
    *,
    wanted: Numbered[int] = (),
    learner: Learner | None = None,
    write: bool = True,
    patience: float = PATIENCE,
) -> Written:
    """Amends records, carries out the `exchange`, shows the `learner` all records, and picks up those
    whose numbers are `wanted`."""
    written = Written(Largest(ranking.cut.places if ranking.cut else 0))
    at_cut, amender = ranking.is_at_cut(), Amender(frontier)
    shown = np.zeros(ranking.pages, dtype=bool)
    async for batch in batches(frontier):
        entries = list(numbered(ranking.survey.pages, batch))
        for number, entry in entries:
            if number in wanted:
                written.records[number] = entry.record
            if learner is not None and not shown[number]:
                shown[number] = True
                learner.add(entry.record._replace(**ranks_of(ranking, number)))
            if at_cut[number]:
                at_cut[number] = False  # a record may come twice
                written.at_cut.add((entry.record.url, number))
        if write:
            values = ((entry.record, ranks_of(ranking, number)) for number, entry in entries)
            await amender.amend(values)
            if exchange is not None:
                await exchange.carry_out(frontier, entries)
    written.amended = await amender.finish(patience)
    return written


def ranks_of(ranking: Ranking, number: int) -> dict[str, Any]:
    return {"list": int(ranking.lists[number]), "rank": float(ranking.ranks[number])}

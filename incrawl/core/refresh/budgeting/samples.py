"""Samples of a collection that is too large to be held: taken page by page, in one go.

Two are needed. What pages are like is learnt from pages drawn evenly. What they spend is another matter:
a few pages that are visited all the time may take half of the budget, and an even sample misses them.
"""

from __future__ import annotations

import random
from heapq import heappush, heapreplace

from incrawl.core.records import UrlRecord


class EvenSample:
    """`size` pages, each as likely as any other (reservoir sampling)."""

    def __init__(self, size: int, chance: random.Random) -> None:
        self._size = size
        self._chance = chance
        self._seen = 0
        self.records: list[UrlRecord] = []

    def add(self, record: UrlRecord) -> None:
        self._seen += 1
        if len(self.records) < self._size:
            self.records.append(record)
        elif (place := self._chance.randrange(self._seen)) < self._size:
            self.records[place] = record


class SpendingSample:
    """`size` pages, each the more likely the more it spends, and for how many pages each stands.

    A page's priority is what it spends over a random share; the pages of the highest priorities are kept.
    One that spends less than the first priority that was not kept, t, stands for t ÷ what it spends: sums
    over the sample then are, on average, sums over all pages (priority sampling, by Duffield, Lund, Thorup).
    """

    def __init__(self, size: int, chance: random.Random) -> None:
        self._size = size
        self._chance = chance
        self._heap: list[tuple[float, int, float, UrlRecord]] = []
        self._seen = 0
        self._not_kept = 0.0

    def add(self, record: UrlRecord, spends: float) -> None:
        self._seen += 1
        entry = (spends / (1.0 - self._chance.random()), self._seen, spends, record)
        if len(self._heap) < self._size:
            heappush(self._heap, entry)
        else:
            least = entry if entry < self._heap[0] else heapreplace(self._heap, entry)
            self._not_kept = max(self._not_kept, least[0])

    @property
    def records(self) -> list[UrlRecord]:
        return [record for *_, record in self._heap]

    @property
    def stand_for(self) -> list[float]:
        return [max(1.0, self._not_kept / spends) for _, _, spends, _ in self._heap]

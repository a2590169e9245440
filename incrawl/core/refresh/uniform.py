"""The budget spread evenly: every page as often as every other. Simple, and hard to beat where all pages
change alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from incrawl.core.records import UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits, LimitSettings
from incrawl.core.values import Rate


class Settings(LimitSettings, Protocol):
    @property
    def budget(self) -> Rate | None: ...


@dataclass(frozen=True, slots=True)
class Uniform:
    """Each page waits for all the others to have had their turn."""

    visits_per_second: float
    limits: Limits = Limits()

    @classmethod
    def from_config(cls, config: Settings) -> Uniform:
        if config.budget is None:
            raise ValueError("it spreads INCRAWL_BUDGET, which is not set (such as 20000/day)")
        return cls(config.budget.per_second, Limits.from_config(config))

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        if collection.pages == 0:
            return self.limits.current(record)
        return self.limits.clamp(collection.pages / self.visits_per_second)

    def learner(self, now: float) -> PageCounter:
        return PageCounter()


class PageCounter:
    """Nothing is learnt; that a policy has a learner makes the batch job count the pages."""

    def add(self, record: UrlRecord) -> None:
        """A page says nothing beyond that it is there."""

    def learnt(self, collection: Collection) -> Collection:
        return collection

"""Spends a stated budget of visits where they keep the collection freshest.

A visit has a price, the same for all pages (`Collection.price`), set such that the budget is just spent;
each page is visited when its visit earns the price: in seconds of freshness, weighed by the page's
importance, and in knowledge. What is believed of a page comes from its own history and from what the
whole collection is like. All that is decided here is local: one record and the collection's values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Protocol
from zlib import crc32

from incrawl.core.records import Outcome, UrlRecord, Visit
from incrawl.core.refresh.budgeting.grid import Grid, grid_of
from incrawl.core.refresh.budgeting.learner import BudgetLearner
from incrawl.core.refresh.budgeting.model import Model, belief
from incrawl.core.refresh.budgeting.worth import best_wait
from incrawl.core.refresh.policy import Collection, Limits, LimitSettings
from incrawl.core.urls import host_key
from incrawl.core.values import Rate

LEAST_INTEREST = 0.05
LONGEST_UNTRIED = 2.0  # average waits, beyond what the page's own history covers
HORIZON = 2.0  # average waits over which what a visit tells is put to use


class Settings(LimitSettings, Protocol):
    @property
    def budget(self) -> Rate | None: ...
    @property
    def importance(self) -> str: ...
    @property
    def host_interval(self) -> float: ...
    @property
    def host_intervals(self) -> Mapping[str, float]: ...


@dataclass(frozen=True, slots=True)
class Budget:
    """`visits_per_second` is what may be spent; a host is visited once in `host_interval` at most.

    What is not spent is lost: `spends_all` has pages visited ahead of their time where nothing else is due.
    """

    spends_all: ClassVar[bool] = True

    visits_per_second: float
    limits: Limits = Limits()
    importance: str = "uniform"
    host_interval: float = 0.0
    host_intervals: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_config(cls, config: Settings) -> Budget:
        if config.budget is None:
            raise ValueError("it spends INCRAWL_BUDGET, which is not set (such as 20000/day)")
        limits = Limits.from_config(config)
        rate = config.budget.per_second
        return cls(rate, limits, config.importance, config.host_interval, config.host_intervals)

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        if not visit.compared and visit.outcome is not Outcome.NEW:
            return self.limits.current(record)
        if collection.pages == 0:
            return self.limits.current(record)
        average = collection.pages / self.visits_per_second
        if collection.price is None:
            return self.limits.clamp(average)
        model = self.model(collection)
        now = belief(self.grid, model, record.history, record.older)
        horizon = HORIZON * average * eagerness(record)
        wait = best_wait(self.grid, model, now, self.price(record, collection), horizon)
        return self.limits.clamp(min(wait, self.longest(record, average)))

    def learner(self, now: float) -> BudgetLearner:
        return BudgetLearner(self, now)

    @property
    def grid(self) -> Grid:
        return grid_of(self.limits)

    def model(self, collection: Collection) -> Model:
        return _model(
            self.limits,
            collection.first_rate,
            collection.rates_at_first,
            collection.rates_later,
            collection.switching,
        )

    def price(self, record: UrlRecord, collection: Collection) -> float:
        """Seconds of this page's freshness that a visit must earn."""
        weight = self.weight(record, collection) / collection.average_weight
        price = (collection.price or 0.0) / weight
        if collection.crowded:
            price *= dict(collection.crowded).get(host_key(record.url), 1.0)
        return price

    def weight(self, record: UrlRecord, collection: Collection) -> float:
        if self.importance == "rank":
            return float(collection.rank_spread ** ((record.rank or 0.0) / 10))
        if self.importance == "interest":
            return max(record.interest or 0.0, LEAST_INTEREST)
        return 1.0

    def longest(self, record: UrlRecord, average: float) -> float:
        """No page is left alone for much longer than it was watched: what is known of it may be chance."""
        return LONGEST_UNTRIED * average + sum(seen.interval for seen in record.history)


def eagerness(record: UrlRecord) -> float:
    """How much this visit is meant to tell: 1/e…e, another one for each page and visit, so that of pages
    that are alike some are tried out and not all at once."""
    place = (crc32(record.url.encode()) / 2**32 + record.visits * 0.618034) % 1.0
    return math.exp(2 * place - 1)


@lru_cache(8)
def _model(
    limits: Limits, first: int, at_first: tuple[float, ...], later: tuple[float, ...], switching: float
) -> Model:
    """A collection's model on the grid: nearly all visits ask for the same."""
    grid = grid_of(limits)
    return Model(grid.spread(first, at_first), grid.spread(first, later), switching)

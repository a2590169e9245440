"""Sets the price of a visit from the whole collection, so that the budget is just spent."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrawl.core.records import UrlRecord
from incrawl.core.refresh.budgeting.learning import Sample, learn
from incrawl.core.refresh.budgeting.model import Model
from incrawl.core.refresh.budgeting.samples import EvenSample, SpendingSample
from incrawl.core.refresh.policy import Collection
from incrawl.core.urls import host_key

if TYPE_CHECKING:
    from incrawl.core.refresh.budget import Budget

SAMPLE = 300  # pages that the model is learnt from; more do not tell more
SPENDERS = 1000  # pages that the price is worked out for
FIRST_ROUNDS, ROUNDS = 20, 2
ENOUGH = 20  # pages compared at least once before anything is learnt
GAIN, UPDATES = 0.4, 4.0  # how fast the price follows experience, and how often per average wait
MOST_CORRECTION = 2.0
MOST_SLACK = 0.6  # more than that at a time is not believed
CROWD = 0.9  # of what its host's interval allows
MOST_CROWDED = 1e6


class BudgetLearner:
    """Takes in all records of a collection at `now`; keeps samples and sums."""

    def __init__(self, policy: Budget, now: float) -> None:
        self._policy = policy
        self._now = now
        chance = random.Random(int(now))
        self._sample = EvenSample(SAMPLE, chance)
        self._spenders = SpendingSample(SPENDERS, chance)
        self._pages = 0
        self._demand = 0.0  # visits per second that the refresh times come to
        self._by_host: Counter[str] = Counter()

    def add(self, record: UrlRecord) -> None:
        if record.last_crawl is None or not record.refresh_time:
            return
        self._pages += 1
        self._demand += 1 / record.refresh_time
        if self._policy.host_interval or self._policy.host_intervals:
            self._by_host[host_key(record.url)] += 1 / record.refresh_time  # type: ignore[assignment]
        self._sample.add(record)
        self._spenders.add(record, 1 / record.refresh_time)

    def learnt(self, collection: Collection) -> Collection:
        told = replace(collection, learnt_at=self._now)
        pages = self._sample.records
        compared = sum(bool(record.history) for record in pages)
        if compared == 0 or compared < min(ENOUGH, len(pages)):
            return told
        grid, model = self._policy.grid, self._policy.model(collection)
        sample = Sample.of(grid, pages)
        model = learn(sample, model, ROUNDS if collection.rates_at_first else FIRST_ROUNDS)
        told = replace(
            told,
            average_weight=self._average_weight(collection),
            crowded=self._crowded(collection),
            correction=self._correction(collection),
            first_rate=grid.first,
            rates_at_first=tuple(model.at_first.round(6).tolist()),
            rates_later=tuple(model.later.round(6).tolist()),
            switching=model.switching,
        )
        return replace(told, price=self._price(model, told) * math.exp(told.correction))

    def _average_wait(self, collection: Collection) -> float:
        return max(collection.pages, 1) / self._policy.visits_per_second

    def _average_weight(self, collection: Collection) -> float:
        weights = [self._policy.weight(record, collection) for record in self._spenders.records]
        return float(np.average(weights, weights=self._spenders.stand_for))

    def _price(self, model: Model, told: Collection) -> float:
        """The price at which the best fixed waits of all pages come to what the budget allows."""
        pages, stand_for = self._spenders.records, np.array(self._spenders.stand_for)
        stand_for /= stand_for.sum()
        at_price_one = replace(told, price=1.0)
        prices = np.array([self._policy.price(record, at_price_one) for record in pages])
        grid, average = self._policy.grid, self._average_wait(told)
        fresh = Sample.of(grid, pages).beliefs(model) @ grid.fresh
        longest = np.array([self._policy.longest(record, average) for record in pages])
        longest = np.clip(longest, self._policy.limits.minimum, self._policy.limits.maximum)
        low, high = math.log(1e-5 * average), math.log(100 * average)
        for _ in range(20):
            middle = (low + high) / 2
            earned = (fresh - (math.exp(middle) * prices)[:, None]) / grid.waits
            best = earned.argmax(axis=1)
            worthwhile = earned[np.arange(len(best)), best] > 0
            chosen = np.where(worthwhile, np.minimum(grid.waits[best], longest), longest)
            if stand_for @ (1 / chosen) > 1 / average:
                low = middle
            else:
                high = middle
        return math.exp((low + high) / 2)

    def _correction(self, before: Collection) -> float:
        """What the refresh times ask for, against what the budget allows, moves the price."""
        if before.learnt_at is None or before.price is None or self._now <= before.learnt_at:
            return before.correction
        elapsed = self._now - before.learnt_at
        average = self._average_wait(before)
        demand = self._demand / self._pages * average
        error = math.log(min(max(demand, MOST_SLACK), 1 / MOST_SLACK))
        step = GAIN * error * min(UPDATES * elapsed / average, 1.0)
        return min(max(before.correction + step, -MOST_CORRECTION), MOST_CORRECTION)

    def _crowded(self, before: Collection) -> tuple[tuple[str, float], ...]:
        """Hosts whose pages ask for more visits than their interval allows: there, visits are dearer."""
        known, found = dict(before.crowded), {}
        for host, demand in self._by_host.items():
            interval = self._policy.host_intervals.get(host, self._policy.host_interval)
            factor = known.get(host, 1.0) * demand * interval / CROWD
            if factor > 1:
                found[host] = min(factor, MOST_CROWDED)
        return tuple(found.items())

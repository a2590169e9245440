"""Sets the price of a visit from the whole collection, so that the budget is just spent."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from incrawl.core.records import UrlRecord
from incrawl.core.refresh.budgeting.grid import Matrix
from incrawl.core.refresh.budgeting.learning import Sample, learn
from incrawl.core.refresh.policy import Collection
from incrawl.core.urls import host_key

if TYPE_CHECKING:
    from incrawl.core.refresh.budget import Budget

SAMPLE = 300  # pages that the model is learnt from; more do not tell more
FIRST_ROUNDS, ROUNDS = 20, 2
ENOUGH = 20  # pages compared at least once before anything is learnt
GAIN, UPDATES = 0.1, 4.0  # how fast the price follows experience, and how often per average wait
MOST_CORRECTION = 2.0
IDLE, OVERLOADED = 0.97, 1.5
LATE = 0.1  # of its refresh time: a page that is so much overdue waits for the budget or its host
CROWD = 0.9  # of what its host's interval allows
MOST_CROWDED = 1e6


class BudgetLearner:
    """Takes in all records of a collection at `now`; keeps a sample and sums."""

    def __init__(self, policy: Budget, now: float) -> None:
        self._policy = policy
        self._now = now
        self._random = random.Random(int(now))
        self._sample: list[UrlRecord] = []
        self._pages = 0
        self._visits = 0
        self._late = 0
        self._demand = 0.0  # visits per second that the refresh times come to
        self._by_host: Counter[str] = Counter()

    def add(self, record: UrlRecord) -> None:
        self._visits += record.visits
        if record.last_crawl is None or not record.refresh_time:
            return
        self._pages += 1
        self._demand += 1 / record.refresh_time
        self._late += self._now > record.last_crawl + (1 + LATE) * record.refresh_time
        if self._policy.host_interval or self._policy.host_intervals:
            self._by_host[host_key(record.url)] += 1 / record.refresh_time  # type: ignore[assignment]
        if len(self._sample) < SAMPLE:
            self._sample.append(record)
        elif (place := self._random.randrange(self._pages)) < SAMPLE:
            self._sample[place] = record

    def learnt(self, collection: Collection) -> Collection:
        told = replace(collection, learnt_at=self._now, visits=self._visits)
        compared = sum(bool(record.history) for record in self._sample)
        if compared == 0 or compared < min(ENOUGH, len(self._sample)):
            return told
        grid, model = self._policy.grid, self._policy.model(collection)
        sample = Sample.of(grid, self._sample)
        model = learn(sample, model, ROUNDS if collection.rates_at_first else FIRST_ROUNDS)
        told = replace(
            told,
            average_weight=fmean(self._policy.weight(record, collection) for record in self._sample),
            crowded=self._crowded(collection),
            correction=self._correction(collection),
            first_rate=grid.first,
            rates_at_first=tuple(model.at_first.round(6).tolist()),
            rates_later=tuple(model.later.round(6).tolist()),
            switching=model.switching,
        )
        price = self._price(sample.beliefs(model) @ grid.fresh, told)
        return replace(told, price=price * math.exp(told.correction))

    def _average_wait(self, collection: Collection) -> float:
        return max(collection.pages, 1) / self._policy.visits_per_second

    def _price(self, fresh: Matrix, told: Collection) -> float:
        """The price at which the sample's best fixed waits come to what the budget allows."""
        at_price_one = replace(told, price=1.0)
        prices = np.array([self._policy.price(record, at_price_one) for record in self._sample])
        waits = self._policy.grid.waits
        average = self._average_wait(told)
        longest = np.array([self._policy.longest(record, average) for record in self._sample])
        longest = np.clip(longest, self._policy.limits.minimum, self._policy.limits.maximum)
        low, high = math.log(1e-5 * average), math.log(100 * average)
        for _ in range(20):
            middle = (low + high) / 2
            earned = (fresh - (math.exp(middle) * prices)[:, None]) / waits
            best = earned.argmax(axis=1)
            worthwhile = earned[np.arange(len(best)), best] > 0
            chosen = np.where(worthwhile, np.minimum(waits[best], longest), longest)
            if (1 / chosen).mean() > 1 / average:
                low = middle
            else:
                high = middle
        return math.exp((low + high) / 2)

    def _correction(self, before: Collection) -> float:
        """What was spent since the last time, and what the refresh times ask for, move the price."""
        if before.learnt_at is None or before.price is None or self._now <= before.learnt_at:
            return before.correction
        elapsed = self._now - before.learnt_at
        average = self._average_wait(before)
        spent = (self._visits - before.visits) / self._pages * average / elapsed
        demand = self._demand / self._pages * average
        nobody_waits = self._late < (1 - IDLE) * self._pages
        if spent < IDLE and demand < OVERLOADED and nobody_waits:
            error = math.log(min(max(spent, 0.6), 1.0))
        else:
            error = math.log(min(max(demand, 1.0), 1 / 0.6))
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

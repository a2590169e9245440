"""Rules of other crawlers, and rules that know or guess every page's rate, to compare with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from incrawl.core.records import UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.simulation.optimum import best_frequencies, frequencies_at
from incrawl.core.simulation.pages import DAY

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Nutch:
    """Apache Nutch's adaptive schedule: × 1.4 where unchanged, × 0.8 where changed, 60 s to 365 d."""

    limits: Limits = Limits(DAY, 60.0, 365 * DAY)

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        if not record.history:
            return self.limits.current(record)
        return self.limits.clamp(self.limits.current(record) * (0.8 if visit.changed else 1.4))


@dataclass(frozen=True, slots=True)
class StormCrawler:
    """StormCrawler's adaptive scheduler: × 1.5 where unchanged, up to 14 d; changed: halfway to 1 h."""

    limits: Limits = Limits(DAY, HOUR, 14 * DAY)

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        if not record.history:
            return self.limits.current(record)
        current = self.limits.current(record)
        return self.limits.clamp((current + HOUR) / 2 if visit.changed else current * 1.5)


@dataclass(frozen=True, slots=True)
class Given:
    """Waits that were worked out beforehand, from rates that no crawler knows."""

    waits: Mapping[str, float]

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        return self.waits[record.url]


@dataclass(slots=True)
class MaximumLikelihood:
    """The rate under which a page's history is most likely, taken as if it were known (Lagrange).

    Half a visit with a change and half a one without, at the average wait, keep the rate finite. Pages that
    are not worth their visits are tried again after `LONGEST` average waits.
    """

    visits_per_second: float
    weights: Mapping[str, float]  # of average 1
    _rates: dict[str, float] = field(default_factory=dict)
    _price: float = 0.0

    LONGEST = 10.0

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        average = collection.pages / self.visits_per_second
        if not record.history:
            return average
        rate = self._rates[record.url] = likeliest_rate(record, average)
        if not self._price:
            return average
        weight = self.weights[record.url]
        frequency = float(frequencies_at(self._price, np.array([rate]), np.array([weight]))[0])
        return min(1 / frequency if frequency else math.inf, self.LONGEST * average)

    def learner(self, now: float) -> MaximumLikelihood:
        return self

    def add(self, record: UrlRecord) -> None:
        self._rates.setdefault(record.url, 0.0)

    def learnt(self, collection: Collection) -> Collection:
        known = [url for url, rate in self._rates.items() if rate]
        if known:
            rates = np.array([self._rates[url] for url in known])
            weights = np.array([self.weights[url] for url in known])
            share = len(known) / collection.pages
            self._price = best_frequencies(rates, weights, share * self.visits_per_second)[1]
        return collection


def likeliest_rate(record: UrlRecord, average: float) -> float:
    """Found by halving: the likelihood of a rate has one peak."""
    still = sum(seen.interval for seen in record.history if not seen.changed) + average / 2
    changed = [(seen.interval, 1.0) for seen in record.history if seen.changed] + [(average, 0.5)]
    low, high = math.log(1e-4 / average), math.log(1e4 / average)
    for _ in range(24):
        middle = (low + high) / 2
        rate = math.exp(middle)
        slope = sum(count * length / math.expm1(min(rate * length, 700.0)) for length, count in changed)
        low, high = (middle, high) if slope > still else (low, middle)
    return math.exp((low + high) / 2)

"""Pages whose changes are known: drawn at random, or read from a trace of real ones."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

DAY = 86400.0
SLOWEST, FASTEST = 1 / 365, 24.0  # changes per day of the pages drawn at random

Vector = NDArray[np.float64]


class Changes(Protocol):
    def after(self, page: int, time: float) -> float:
        """When the page changes first after `time`; infinite where it does not."""

    def latest(self, page: int, first: float, time: float) -> float:
        """When it changed last before `time`, given that it changed `first` since it was looked at."""


@dataclass(frozen=True, slots=True)
class Pages:
    """A world to crawl. A page is known, and fresh, from `known[page]` on: before 0, it was crawled in the
    round before the start."""

    rates: Vector  # changes per second, on average
    weights: Vector  # importance; they sum to 1
    known: Vector
    span: float  # the end of the run

    def __len__(self) -> int:
        return len(self.rates)


@dataclass(slots=True)
class PoissonChanges:
    """Each page changes at its own rate, without memory."""

    rates: Vector
    seed: int
    _draws: Iterator[float] = field(default_factory=lambda: iter(()))
    _random: np.random.Generator | None = None

    def after(self, page: int, time: float) -> float:
        return time + self._draw() / float(self.rates[page])

    def latest(self, page: int, first: float, time: float) -> float:
        return max(first, time - self._draw() / float(self.rates[page]))

    def _draw(self) -> float:
        draw = next(self._draws, None)
        return self._refill() if draw is None else draw

    def _refill(self) -> float:
        if self._random is None:
            self._random = np.random.default_rng([self.seed, 1])
        self._draws = iter(self._random.exponential(size=65536).tolist())
        return next(self._draws)


@dataclass(frozen=True, slots=True)
class TracedChanges:
    """Each page changes when the trace says so."""

    times: Sequence[Sequence[float]]

    def after(self, page: int, time: float) -> float:
        changes = self.times[page]
        place = bisect_right(changes, time)
        return changes[place] if place < len(changes) else math.inf

    def latest(self, page: int, first: float, time: float) -> float:
        return self.times[page][bisect_right(self.times[page], time) - 1]


def poisson_pages(count: int, per_day: float, visits: float, weights: str, seed: int) -> Pages:
    """`count` pages with rates spread evenly over the orders of magnitude, and a run in which each has
    `visits` visits on average, at `per_day` visits per page and day."""
    random = np.random.default_rng([seed, 0])
    rates = np.exp(random.uniform(math.log(SLOWEST), math.log(FASTEST), count)) / DAY
    turn = DAY / per_day
    known = -turn * (random.permutation(count) + 0.5) / count
    return Pages(rates, weights_of(count, weights, seed), known, visits * turn)


def weights_of(count: int, kind: str, seed: int) -> Vector:
    """`uniform`, or `zipf`: the n-th most important page has 1/n of the first one's weight."""
    if kind == "uniform":
        return np.full(count, 1 / count)
    weights = 1 / np.arange(1, count + 1)
    np.random.default_rng([seed, 2]).shuffle(weights)
    return np.asarray(weights / weights.sum())

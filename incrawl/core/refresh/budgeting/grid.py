"""Rates of change and waits, each on a logarithmic grid, and what a wait gives at each rate.

Rates are whole powers of one number, e^0.4 per second: a belief over rates that was stored under other
limits keeps its meaning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from incrawl.core.refresh.policy import Limits

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

RATE_STEP = 0.4
WAIT_STEP = 0.3
SLOWEST = 30.0  # longest waits that a page of the slowest rate goes without a change, on average
FASTEST = 3.0  # changes of a page of the fastest rate within the shortest wait


@dataclass(frozen=True, slots=True)
class Grid:
    """`fresh[k, j]`: seconds that a page of rate k stays fresh within wait j, on average;
    `still[k, j]`: the odds that it does not change at all within it."""

    first: int  # exponent of the slowest rate
    rates: Vector
    waits: Vector
    fresh: Matrix
    still: Matrix
    fresh_share: Matrix  # of each wait

    @classmethod
    def of(cls, limits: Limits) -> Grid:
        first = math.floor(-math.log(SLOWEST * limits.maximum) / RATE_STEP)
        last = math.ceil(math.log(FASTEST / limits.minimum) / RATE_STEP)
        rates = np.exp(RATE_STEP * np.arange(first, last + 1))
        steps = max(2, math.ceil(math.log(limits.maximum / limits.minimum) / WAIT_STEP) + 1)
        waits = np.geomspace(limits.minimum, limits.maximum, steps)
        changes = np.outer(rates, waits)
        fresh = -np.expm1(-changes) / rates[:, None]
        return cls(first, rates, waits, fresh, np.exp(-changes), fresh / waits)

    def spread(self, first: int, shares: tuple[float, ...]) -> Vector:
        """Shares of rates as they were stored, `first` being the exponent of the first, on this grid.
        Without any, all rates are as likely as one another."""
        found = np.full(len(self.rates), 1e-6)
        for number, share in enumerate(shares, first - self.first):
            found[min(max(number, 0), len(found) - 1)] += share
        return np.asarray(found / found.sum())


@lru_cache(32)
def grid_of(limits: Limits) -> Grid:
    return Grid.of(limits)

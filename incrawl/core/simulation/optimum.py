"""The best that visits at fixed waits can do where every page's rate is known (Lagrange).

A page of rate λ visited f times per second is fresh for the share F = f/λ · (1 − e^(−λ/f)) of the time. At
the optimum one more visit earns the same on every page that is visited at all: w · dF/df = μ.
"""

from __future__ import annotations

import math

import numpy as np

from incrawl.core.simulation.pages import Vector

# x = λ/f and what it makes of dF/df · λ: 1 − e^(−x) (1 + x), tabulated once.
_CHANGES = np.exp(np.linspace(-16.0, 5.0, 6000))
_GAINS = np.where(
    _CHANGES < 1e-3,
    _CHANGES**2 / 2 - _CHANGES**3 / 3,
    -np.expm1(-_CHANGES) - _CHANGES * np.exp(-_CHANGES),
)
_LOG_CHANGES, _LOG_GAINS = np.log(_CHANGES), np.log(_GAINS)


def frequencies_at(price: float, rates: Vector, weights: Vector) -> Vector:
    """Visits per second of each page where a visit must earn `price`; 0 where it never does."""
    gains = np.log(price * rates / weights)
    changes = np.exp(np.interp(gains, _LOG_GAINS, _LOG_CHANGES))
    return np.where(gains < _LOG_GAINS[-1], rates / changes, 0.0)


def best_frequencies(rates: Vector, weights: Vector, visits_per_second: float) -> tuple[Vector, float]:
    """The visits per second of each page that keep them freshest, and the price of a visit."""
    low, high = -120.0, 120.0
    for _ in range(100):
        middle = (low + high) / 2
        if frequencies_at(math.exp(middle), rates, weights).sum() > visits_per_second:
            low = middle
        else:
            high = middle
    return frequencies_at(math.exp(high), rates, weights), math.exp(high)


def freshness(rates: Vector, weights: Vector, frequencies: Vector) -> float:
    """Share of the time that the pages are fresh, weighed; a page that is never visited is not."""
    visited = frequencies > 0
    changes = rates[visited] / frequencies[visited]
    return float((weights[visited] * -np.expm1(-changes) / changes).sum() / weights.sum())

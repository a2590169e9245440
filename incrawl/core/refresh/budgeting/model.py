"""How pages change: at a rate that is the page's own, but may become another with a change.

Real pages change in bursts, go to sleep, and wake up. So a page has a rate for a while, and each time that
it is found changed, its rate is drawn anew with odds `switching`. With odds of zero this is the Poisson
model. Which rates there are, and how often they switch, is learnt from the whole collection (`learning`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrawl.core.records import Evidence, Observation
from incrawl.core.refresh.budgeting.grid import Grid, Matrix, Vector

LEAST = 1e-12  # a likelihood of nought would make a mistake of the model final


@dataclass(frozen=True, slots=True)
class Model:
    """Shares of rates: of pages when they are first seen, and of the rates drawn anew."""

    at_first: Vector
    later: Vector
    switching: float


def belief(grid: Grid, model: Model, history: Sequence[Observation], older: Evidence | None) -> Vector:
    """How likely each rate is now, for a page that was seen to behave like this."""
    now = model.at_first * (1.0 if older is None else likelihood_of(grid, (older,))[0])
    likelihoods = up_to_changes(grid, history)
    stay, anew = 1 - model.switching, model.switching * model.later
    # In place: this is the loop that every visit of a crawl goes through.
    for likelihood in likelihoods[:-1]:
        now *= likelihood
        now *= stay / now.sum()
        now += anew
    now *= likelihoods[-1]
    now /= now.sum()
    return np.asarray(now)


def up_to_changes(grid: Grid, history: Sequence[Observation]) -> Matrix:
    """How likely each rate makes what was seen up to and with each change, and after the last one.

    Between two changes only the time counts that passed, so that there is one row per change, not per visit.
    """
    still, intervals = [0.0], []
    for seen in history:
        if seen.changed:
            still.append(0.0)
            intervals.append(seen.interval)
        else:
            still[-1] += seen.interval
    found = np.exp(np.multiply.outer(still, -grid.rates))
    if intervals:
        found[:-1] *= -np.expm1(np.multiply.outer(intervals, -grid.rates))
    return np.maximum(found, LEAST)


def likelihood_of(grid: Grid, older: Sequence[Evidence]) -> Matrix:
    """How likely each rate makes what visits before the histories found, up to a factor; a row for each."""
    unchanged, changes, interval = np.array(
        [(each.unchanged, each.changes, each.interval) for each in older]
    ).T[:, :, None]
    differs = np.maximum(-np.expm1(-grid.rates * interval), LEAST)
    logarithm = changes * np.log(differs) - grid.rates * unchanged
    return np.asarray(np.maximum(np.exp(logarithm - logarithm.max(axis=1, keepdims=True)), LEAST))

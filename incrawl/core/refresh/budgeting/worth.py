"""How long to wait for the next visit, given what is believed of a page and what a visit costs.

A visit pays by the time that the page stays fresh after it, and by what it tells: found changed or not, the
page's worth is known better, and later visits are spent better. So pages of which little is known are
visited at gaps that tell most, and pages that change faster than they can be followed are left alone.
"""

from __future__ import annotations

import math

import numpy as np

from incrawl.core.refresh.budgeting.grid import Grid, Matrix, Vector
from incrawl.core.refresh.budgeting.model import Model


def best_wait(grid: Grid, model: Model, now: Vector, price: float, horizon: float) -> float:
    """The wait after which a visit is worth most.

    `now` is the belief after the latest visit, `price` the seconds of freshness that a visit must earn,
    `horizon` the time over which what it tells is put to use.
    """
    worth = fresh_time(grid, now) - price + (horizon - grid.waits) * rate_after(grid, model, now, price)
    return float(peak(grid.waits, worth))


def fresh_time(grid: Grid, now: Vector) -> Vector:
    """Seconds that the page is fresh within each wait, on average."""
    return np.asarray(now @ grid.fresh)


def rate_after(grid: Grid, model: Model, now: Vector, price: float) -> Vector:
    """The page's net worth per second from the next visit on, for each wait until then.

    The visit finds the page unchanged or changed; what is then believed decides what later visits earn.
    Beliefs are left unscaled by the odds of each outcome, so that the sum is the expected worth.
    """
    unchanged = now[:, None] * grid.still
    odds = unchanged.sum(axis=0)
    fresh_unchanged = unchanged.T @ grid.fresh_share
    fresh_changed = (1 - model.switching) * ((now @ grid.fresh_share) - fresh_unchanged)
    fresh_changed += np.outer(model.switching * (1 - odds), model.later @ grid.fresh_share)
    cost = price / grid.waits
    return earned(fresh_unchanged, odds, cost) + earned(fresh_changed, 1 - odds, cost)


def earned(fresh: Matrix, odds: Vector, cost: Vector) -> Vector:
    """Of each row, what visits at the best fixed wait earn per second above their cost; never visiting
    earns nothing and costs nothing."""
    return np.asarray(np.maximum((fresh - np.outer(odds, cost)).max(axis=1), 0.0))


def peak(waits: Vector, worth: Vector) -> float:
    """Where `worth` is greatest: between two waits, the top of the parabola through their neighbours."""
    best = int(worth.argmax())
    if not 0 < best < len(waits) - 1:
        return float(waits[best])
    before, top, after = worth[best - 1 : best + 2]
    bend = before - 2 * top + after
    shift = 0.5 * (before - after) / bend if bend < 0 else 0.0
    return float(waits[best] * math.exp(shift * math.log(waits[1] / waits[0])))

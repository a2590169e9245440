"""Learns from a sample of pages which rates there are, and how often they switch (Baum and Welch)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrawl.core.records import Evidence, UrlRecord
from incrawl.core.refresh.budgeting.grid import Grid, Matrix, Vector
from incrawl.core.refresh.budgeting.model import LEAST, Model, likelihood_of

SMOOTHING = np.array([0.05, 0.2, 0.5, 0.2, 0.05])
SWITCHES, STAYS = 1.0, 39.0  # changes seen beforehand, as it were, with and without a new rate
LATER_BEFOREHAND = 2.0
MOST_SWITCHING = 0.9


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen of some pages, as arrays: page × observation (× rate), the newest last."""

    older: Matrix
    likelihood: NDArray[np.float64]
    changed: NDArray[np.bool_]

    @classmethod
    def of(cls, grid: Grid, records: Sequence[UrlRecord]) -> Sample:
        """Shorter histories are filled up with observations that say nothing, at the front."""
        older = likelihood_of(grid, [record.older or Evidence() for record in records])
        intervals = np.zeros((len(records), max((len(record.history) for record in records), default=0)))
        changed = np.zeros(intervals.shape, dtype=bool)
        for number, record in enumerate(records):
            if record.history:
                intervals[number, -len(record.history) :] = [seen.interval for seen in record.history]
                changed[number, -len(record.history) :] = [seen.changed for seen in record.history]
        still = np.exp(-intervals[:, :, None] * grid.rates)
        likelihood = np.maximum(np.where(changed[:, :, None], 1 - still, still), LEAST)
        return cls(older, likelihood, changed)

    def beliefs(self, model: Model) -> Matrix:
        """What `belief` says of each page."""
        return self._forward(model)[-1]

    def _forward(self, model: Model) -> list[Matrix]:
        """What is believed before each observation, and after all of them."""
        now = normal(self.older * model.at_first)
        found = [now]
        for step in range(self.changed.shape[1]):
            now = normal(now * self.likelihood[:, step])
            mixed = (1 - model.switching) * now + model.switching * model.later
            now = np.where(self.changed[:, step, None], mixed, now)
            found.append(now)
        return found

    def refined(self, model: Model) -> Model:
        """One round: a model under which this sample is at least as likely as under `model`."""
        before = self._forward(model)
        after = np.ones_like(self.older)  # how likely each rate makes all that was seen later
        drawn, stays = np.zeros_like(model.later), 0.0
        newest = self.changed.shape[1] - 1
        for step in range(newest, -1, -1):
            seen = normal(before[step] * self.likelihood[:, step])
            anew = model.switching * model.later * after
            same = (1 - model.switching) * (seen * after).sum(axis=1)
            whole = anew.sum(axis=1) + same
            told = self.changed[:, step] & (step < newest)  # what came of the newest change is not seen yet
            drawn += (anew[told] / whole[told, None]).sum(axis=0)
            stays += float((same[told] / whole[told]).sum())
            mixed = (1 - model.switching) * after + anew.sum(axis=1)[:, None]
            after = normal(self.likelihood[:, step] * np.where(self.changed[:, step, None], mixed, after))
        at_first = smooth(normal(self.older * model.at_first * after).sum(axis=0) + 1 / len(model.later))
        switching = (drawn.sum() + SWITCHES) / (drawn.sum() + stays + SWITCHES + STAYS)
        later = smooth(drawn + LATER_BEFOREHAND * at_first)
        return Model(at_first, later, min(float(switching), MOST_SWITCHING))


def learn(sample: Sample, model: Model, rounds: int) -> Model:
    for _ in range(rounds):
        model = sample.refined(model)
    return model


def normal(rows: Matrix) -> Matrix:
    """Each row scaled to sum to 1."""
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def smooth(shares: Vector) -> Vector:
    """Neighbouring rates lend each other weight: a few hundred pages do not tell them apart."""
    spread = np.convolve(np.pad(shares, 2, mode="edge"), SMOOTHING, "valid")
    return np.asarray(spread / spread.sum())

"""The 20 % and the 80 % collection of paper 002, over arrays: the same split as `core.refresh.hybrid`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrawl.core.refresh.hybrid import BEST_SHARE, UNKNOWN_AGE

Ages = NDArray[np.int64]
Scores = NDArray[np.float64]


def ages_in_hours(modified: NDArray[np.float64], now: float) -> Ages:
    """Whole hours since Last-Modified; NaN is an unknown date."""
    spans = np.nan_to_num(np.maximum(now - modified, 0.0) / 3600.0, nan=UNKNOWN_AGE)
    return np.floor(spans).astype(np.int64)


def scores_of(ranks: NDArray[np.float64], ages: Ages) -> Scores:
    """PageRank / age, and the PageRank itself at age 0."""
    return np.where(ages == 0, ranks, ranks / np.maximum(ages, 1))


@dataclass(frozen=True, slots=True)
class Cut:
    """Where the 20 % collection ends: all pages of a higher score are in it, and `places` of those whose
    score is just `score`: of equal pages, those whose URL comes last in the alphabet."""

    score: float
    places: int

    @classmethod
    def of(cls, scores: Scores) -> Cut | None:
        """None where there is no page."""
        if not len(scores):
            return None
        count = max(1, int(BEST_SHARE * len(scores)))
        least = float(np.partition(scores, len(scores) - count)[len(scores) - count])
        return cls(least, count - int((scores > least).sum()))

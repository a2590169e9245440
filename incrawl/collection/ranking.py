"""All that is computed of the collection from one survey, as arrays by page number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrawl.collection.lists import Lists, cut_lists
from incrawl.collection.numbers import Numbers
from incrawl.collection.pareto import Ages, Cut, Scores, ages_in_hours, scores_of
from incrawl.collection.survey import Survey
from incrawl.core.ranking.pagerank import on_scale

DECIMALS = 3
"""Ranks are kept no finer than this, so that a ranking rewrites the records that moved, not all."""


@dataclass(frozen=True, slots=True)
class Ranking:
    survey: Survey
    now: float
    ranks: NDArray[np.float64]  # PageRank, 0…10
    spread: float  # how many times the greatest PageRank is the least
    back: Numbers
    pvalues: Numbers
    lists: Lists
    ages: Ages  # hours
    scores: Scores
    cut: Cut | None  # over pages that have a document

    @classmethod
    def of(cls, survey: Survey, now: float) -> Ranking:
        graph = survey.graph
        plain = graph.pagerank()
        ranks = np.round(on_scale(plain), DECIMALS)
        pvalues = graph.pvalues()
        ages = ages_in_hours(survey.modified, now)
        scores = scores_of(ranks, ages)
        return cls(
            survey=survey,
            now=now,
            ranks=ranks,
            spread=float(plain.max() / plain.min()) if len(plain) else 1.0,
            back=graph.back(),
            pvalues=pvalues,
            lists=cut_lists(pvalues, survey.partitions),
            ages=ages,
            scores=scores,
            cut=Cut.of(scores[survey.stored]),
        )

    @property
    def pages(self) -> int:
        return len(self.survey.pages)

    @property
    def documents(self) -> int:
        return int(self.survey.stored.sum())

    def is_above_cut(self) -> NDArray[np.bool_]:
        if self.cut is None:
            return np.zeros(self.pages, dtype=bool)
        return np.asarray(self.survey.stored & (self.scores > self.cut.score))

    def is_at_cut(self) -> NDArray[np.bool_]:
        if self.cut is None:
            return np.zeros(self.pages, dtype=bool)
        return np.asarray(self.survey.stored & (self.scores == self.cut.score))

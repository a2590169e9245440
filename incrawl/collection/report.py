"""A ranking as `scrapy rank` tells it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from incrawl.collection.job import Ranked, first
from incrawl.collection.passes import PassEntry
from incrawl.core.refresh.hybrid import age_in_hours, score

LISTS = 3


def report(ranked: Ranked, log: list[PassEntry], *, shown: int, by: str) -> dict[str, Any]:
    ranking, collection = ranked.ranking, ranked.snapshot.collection
    sizes = np.bincount(ranking.lists, minlength=LISTS) if ranking.pages else np.zeros(LISTS, dtype=int)
    best = int(ranked.best.sum())
    entry = collection.hybrid_entry
    return {
        "pages": ranking.pages,
        "documents": ranking.documents,
        "links": ranking.survey.graph.links,
        "lists": [int(size) for size in sizes],
        "best": best,
        "rest": ranking.documents - best,
        "entry_score": entry[0] if entry else None,
        "entry_url": entry[1] if entry else None,
        "entered": int(ranked.exchange.enters.sum()) if ranked.exchange else None,
        "left": int(ranked.exchange.leaves.sum()) if ranked.exchange else None,
        "amended": ranked.written.amended.done,
        "busy": ranked.written.amended.busy,
        "number": ranked.snapshot.number,
        "time": ranking.now,
        "by": by,
        "top": [row(ranked, number) for number in first(ranking, by, shown) if number in ranked.records()],
        "passes": [pass_row(each) for each in log],
    }


def row(ranked: Ranked, number: int) -> dict[str, Any]:
    """One page. `list` counts from 1, as the paper does; without a document there is no score."""
    ranking, record = ranked.ranking, ranked.records()[number]
    stored = bool(ranking.survey.stored[number])
    return {
        "url": record.url,
        "rank": float(ranking.ranks[number]),
        "last_rank": record.rank or 0.0,
        "forward": int(ranking.survey.graph.forward[number]),
        "back": int(ranking.back[number]),
        "pvalue": int(ranking.pvalues[number]),
        "list": int(ranking.lists[number]) + 1,
        "age": int(ranking.ages[number]) if stored else None,
        "score": float(ranking.scores[number]) if stored else None,
        "last_score": last_score(ranked, number),
        "collection": ("20%" if ranked.best[number] else "80%") if stored else None,
        "interest": record.interest,
    }


def last_score(ranked: Ranked, number: int) -> float:
    """The page's score by its rank and its age at the ranking before; 0 at first."""
    rank, time = ranked.records()[number].rank, ranked.before.time
    if rank is None or time is None:
        return 0.0
    modified = float(ranked.ranking.survey.modified[number])
    return score(rank, age_in_hours(None if math.isnan(modified) else modified, time))


def pass_row(entry: PassEntry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "time": entry.time,
        "pages": entry.pages,
        "best": entry.best,
        "entry_score": entry.entry,
        "first": entry.top[0].url if entry.top else None,
    }

"""The batch job: a survey of all pages, their ranking, and what of it the scheduling needs.

survey       records and sidecars are read; links and dates become arrays
ranking      PageRank, Pvalue with its three lists, scores with the 20 and the 80 % collection
write back   list and rank go to the records that moved, unless a worker has them
snapshot     what policies know of the whole goes to where all workers load it
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrawl.collection import passes, snapshot
from incrawl.collection.amending import PATIENCE
from incrawl.collection.bound import Exchange, Members
from incrawl.collection.passes import PassEntry, Scored
from incrawl.collection.ranking import Ranking
from incrawl.collection.snapshot import Snapshot
from incrawl.collection.survey import take_survey
from incrawl.collection.write_back import Written, write_back
from incrawl.core.records import UrlRecord
from incrawl.core.refresh.policy import Learner, LearnsFromAll, RefreshPolicy
from incrawl.frontier import bounded
from incrawl.frontier.frontier import Frontier
from incrawl.repository import Repository

LOGGED_PAGES = 20  # of the 20 % collection, in the log of passes


@dataclass(frozen=True, slots=True)
class Ranked:
    """The outcome of the job."""

    ranking: Ranking
    before: Snapshot  # of the ranking before
    snapshot: Snapshot
    best: NDArray[np.bool_]  # pages of the 20 % collection
    exchange: Exchange | None  # of a bounded collection
    written: Written

    def records(self) -> dict[int, UrlRecord]:
        """The records that were asked for, by page number."""
        return self.written.records


class RankingJob:
    """Runs over one namespace. With `write=False` it only looks."""

    def __init__(
        self,
        frontier: Frontier,
        repository: Repository,
        policy: RefreshPolicy | None = None,
        *,
        size: int | None = None,
        write: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        self._frontier = frontier
        self._repository = repository
        self._policy = policy
        self._size = size  # of the collection; None: not bounded
        self._write = write
        self._patience = patience  # seconds, for pages that a worker has just now

    async def run(self, *, shown: int = 0, by: str = "rank") -> Ranked:
        """`shown` pages, first by `by` (rank, pvalue or score), come with their records."""
        survey = await take_survey(self._frontier, self._repository)
        ranking = await asyncio.to_thread(Ranking.of, survey, self._frontier.now())
        wanted = set(first(ranking, by, shown)) | set(first(ranking, "score", LOGGED_PAGES))
        exchange = await self._exchange(ranking)
        learner = self._learner(ranking.now)
        written = await write_back(
            self._frontier,
            ranking,
            exchange,
            wanted=wanted,
            learner=learner,
            write=self._write,
            patience=self._patience,
        )
        best = ranking.is_above_cut()
        best[[number for _, number in written.at_cut.heap]] = True
        before = await snapshot.load(self._frontier)
        # Learning may take a while: not in the thread in which a crawl may be going on.
        after = await asyncio.to_thread(self._snapshot, ranking, written, before, learner)
        ranked = Ranked(ranking, before, after, best, exchange, written)
        if self._write:
            await self._publish(ranked)
        return ranked

    async def _exchange(self, ranking: Ranking) -> Exchange | None:
        if self._size is None:
            return None
        survey = ranking.survey
        members = await Members.of(self._frontier, survey.pages)
        members.engaged[survey.listings & members.waiting] = True
        return Exchange.of(ranking.ranks, members, survey.may_enter, self._size)

    def _learner(self, now: float) -> Learner | None:
        return self._policy.learner(now) if isinstance(self._policy, LearnsFromAll) else None

    def _snapshot(
        self, ranking: Ranking, written: Written, before: Snapshot, learner: Learner | None
    ) -> Snapshot:
        cut = ranking.cut
        entry = None if cut is None else (cut.score, written.at_cut.least[0])
        collection = replace(
            before.collection,
            pages=ranking.documents,
            hybrid_entry=entry,
            rank_spread=ranking.spread,
        )
        if learner is not None:
            collection = learner.learnt(collection)
        return Snapshot(collection, ranking.now, before.number + 1)

    async def _publish(self, ranked: Ranked) -> None:
        best, survey = ranked.best, ranked.ranking.survey
        ids = {
            int(partition): survey.pages.ids[best & (survey.partitions == partition)]
            for partition in np.unique(survey.partitions[best])
        }
        if ranked.exchange is not None:
            await bounded.set_places(self._frontier, ranked.exchange.size)
        await passes.begin_pass(self._frontier, ids)
        await snapshot.save(self._frontier, ranked.snapshot)
        if ranked.ranking.documents:
            await asyncio.to_thread(passes.append_to_log, self._repository, self._log_entry(ranked))

    def _log_entry(self, ranked: Ranked) -> PassEntry:
        ranking, entry = ranked.ranking, ranked.snapshot.collection.hybrid_entry
        top = [number for number in first(ranking, "score", LOGGED_PAGES) if ranked.best[number]]
        records = ranked.records()
        return PassEntry(
            namespace=self._frontier.namespace,
            number=ranked.snapshot.number,
            time=ranking.now,
            pages=ranking.documents,
            best=int(ranked.best.sum()),
            entry=entry[0] if entry else 0.0,
            top=tuple(scored(ranking, number, records[number]) for number in top if number in records),
        )


def first(ranking: Ranking, by: str, count: int) -> list[int]:
    """The numbers of the pages that come first, by falling value; of `score`, only pages with a document."""
    values = {"rank": ranking.ranks, "pvalue": ranking.pvalues, "score": ranking.scores}[by]
    numbers = np.flatnonzero(ranking.survey.stored) if by == "score" else np.arange(ranking.pages)
    best_first = numbers[np.argsort(-values[numbers], kind="stable")]
    return [int(number) for number in best_first[:count]]


def scored(ranking: Ranking, number: int, record: UrlRecord) -> Scored:
    return Scored(
        record.url,
        float(ranking.ranks[number]),
        int(ranking.ages[number]),
        float(ranking.scores[number]),
    )

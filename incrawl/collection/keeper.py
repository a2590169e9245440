"""A worker's view of the collection as a whole: loaded at the start and again when it has changed; and the
decision when it is time for another ranking."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from incrawl.collection import passes, snapshot
from incrawl.collection.job import Ranked, RankingJob
from incrawl.collection.learning import learn
from incrawl.collection.snapshot import Snapshot
from incrawl.config import Config
from incrawl.core.refresh.hybrid import Hybrid
from incrawl.core.refresh.policy import Collection, LearnsFromAll, RefreshPolicy
from incrawl.errors import IncrawlError
from incrawl.frontier import bounded, shared
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.places import UrlPlace
from incrawl.repository import Repository

logger = logging.getLogger(__name__)

LOOK = 60.0  # seconds between two looks for a newer snapshot, at most
CLOSING = 5.0  # seconds that a look which is under way gets to end
CLAIM, RENEWAL = 180.0, 60.0  # seconds that a job is claimed for, and after which that is renewed
LONGEST_PASS = 2.0  # refresh times of the 20 % collection: pages that nobody visits any more end no pass


class Keeper:
    """One per worker. `load` it before its `collection` is read."""

    def __init__(
        self, frontier: Frontier, repository: Repository, config: Config, policy: RefreshPolicy
    ) -> None:
        self._frontier = frontier
        self._repository = repository
        self._config = config
        self._policy = policy
        self._hybrid = policy if isinstance(policy, Hybrid) else None
        self._opened = frontier.now()
        self._latest_visit: float | None = None
        self._closing = False
        self._task: asyncio.Task[None] | None = None
        self.snapshot = Snapshot()

    @property
    def collection(self) -> Collection:
        return self.snapshot.collection

    async def open(self) -> None:
        await self.load()
        if self._config.collection_size is not None and not await bounded.are_places_counted(self._frontier):
            await bounded.set_places(self._frontier, await bounded.count_members(self._frontier))
        self._task = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """Ends the looking; a ranking that is under way is given up."""
        self._closing = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSING)

    async def load(self) -> None:
        self.snapshot = await snapshot.load(self._frontier)

    async def note_visit(self, place: UrlPlace) -> None:
        """A page was visited: it may be one that the pass over the 20 % collection waits for."""
        self._latest_visit = self._frontier.now()
        if self._hybrid is not None and self.collection.hybrid_entry is not None:
            await passes.note_visit(self._frontier, place)

    async def conclude(self) -> None:
        """A run has come to its end: ranks the collection if that is due."""
        await self._look(at_end=True)

    async def rank(self) -> None:
        """Ranks the collection, or only has the policy learn from it, unless another worker is at it."""
        async with self._claimed() as is_ours:
            if not is_ours:
                return
            if isinstance(self._policy, LearnsFromAll) and not self._needs_ranks():
                self.snapshot = await learn(self._frontier, self._policy)
                logger.info("The policy has learnt from %d pages", self.collection.pages)
            else:
                ranked = await self._job().run()
                self.snapshot = ranked.snapshot
                self._tell(ranked)

    def _job(self) -> RankingJob:
        size = self._config.collection_size
        return RankingJob(self._frontier, self._repository, self._policy, size=size)

    async def _keep(self) -> None:
        while not self._closing:  # a client that is just reconnecting may swallow the cancellation
            await asyncio.sleep(min(LOOK, self._config.rank_interval / 4))
            await self._look(at_end=False)

    async def _look(self, *, at_end: bool) -> None:
        """Loads the latest snapshot, and ranks if it is time; a crawl does not fail because of that."""
        try:
            await self.load()
            if (self._config.continuous or at_end) and await self._is_due(at_end=at_end):
                await self.rank()
        except IncrawlError as error:
            logger.error("The collection could not be ranked: %s", error)
        except Exception:
            logger.exception("The collection could not be ranked")

    async def _is_due(self, *, at_end: bool) -> bool:
        mode = self._config.rank
        if mode == "never" or (mode == "auto" and not self._is_needed()):
            return False
        ranked_at, now = self.snapshot.time, self._frontier.now()
        if self._latest_visit is None or (ranked_at is not None and ranked_at > self._latest_visit):
            return False  # another worker has ranked what we have found
        if ranked_at is None or self.collection.pages == 0:
            return at_end or now - self._opened >= self._config.rank_interval
        if mode == "auto" and self._hybrid is not None and await self._pass_is_over(ranked_at, now):
            return True
        needs_more = mode == "always" or self._hybrid is None or self._config.collection_size is not None
        return needs_more and (at_end or now - ranked_at >= self._config.rank_interval)

    def _needs_ranks(self) -> bool:
        """Whether the links of all pages have to be read, which takes much longer than their records."""
        bounded_size = self._config.collection_size is not None
        by_policy = self._hybrid is not None or getattr(self._policy, "importance", "rank") == "rank"
        return self._config.rank == "always" or bounded_size or by_policy

    def _is_needed(self) -> bool:
        by_policy = self._hybrid is not None or isinstance(self._policy, LearnsFromAll)
        return by_policy or self._config.collection_size is not None

    async def _pass_is_over(self, began: float, now: float) -> bool:
        assert self._hybrid is not None
        if now - began >= LONGEST_PASS * self._hybrid.span(best=True):
            return True
        return await passes.pages_left(self._frontier) == 0

    def _tell(self, ranked: Ranked) -> None:
        ranking, amended = ranked.ranking, ranked.written.amended
        logger.info(
            "Ranking %d: %d pages, %d links; %d records amended, %d left for later",
            ranked.snapshot.number, ranking.pages, ranking.survey.graph.links, amended.done, amended.busy,
        )  # fmt: skip
        if ranked.exchange is not None:
            entered, left = int(ranked.exchange.enters.sum()), int(ranked.exchange.leaves.sum())
            logger.info("%d pages have left the collection, %d have entered it", left, entered)
        entry = self.collection.hybrid_entry
        if self._hybrid is not None and entry is not None:
            logger.info(
                "Pass %d over the 20 %% collection begins: %d of %d pages, scores from %.5f up",
                ranked.snapshot.number, int(ranked.best.sum()), ranking.documents, entry[0],
            )  # fmt: skip

    @asynccontextmanager
    async def _claimed(self) -> AsyncIterator[bool]:
        """Whether the job is ours, which it stays while we are at it."""
        token = os.urandom(8)

        async def renew() -> None:
            while True:
                await asyncio.sleep(RENEWAL)
                await shared.claim(self._frontier, "rank", token, CLAIM)

        if not await shared.claim(self._frontier, "rank", token, CLAIM):
            yield False
            return
        renewal = asyncio.create_task(renew())
        try:
            yield True
        finally:
            renewal.cancel()
            await shared.claim(self._frontier, "rank", token, 0)

"""What is left of a budget is lost: where it would be, pages are visited ahead of their time.

A crawl that goes on looks every now and then at what it could still send, and makes up to that many of the
pages due that would be due next. A run does so once, at its start, for the time since the run before.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable

from incrawl.core.records import UrlRecord
from incrawl.core.refresh.policy import Limits
from incrawl.core.values import Rate
from incrawl.frontier import operations, shared
from incrawl.frontier.coming import coming, hasten, records_of
from incrawl.frontier.frontier import Frontier

logger = logging.getLogger(__name__)

LOOKS = 100  # within the time that the budget is for
LEAST_LOOK = 1.0  # seconds
EAGERNESS = 10.0  # what is left would be used up within this part of the budget's time
MOST = 1000  # pages at a time
CLOSING = 5.0  # seconds that a look which is under way gets to end
CLAIM_AT_START = 60.0  # seconds in which no other worker begins to hasten, too


class Hastener:
    """One per worker whose policy spends all of its budget; of several workers, one acts at a time."""

    def __init__(self, frontier: Frontier, budget: Rate, limits: Limits, count: Callable[..., None]) -> None:
        self._frontier = frontier
        self._budget = budget
        self._limits = limits
        self._count = count
        self._token = os.urandom(8)
        self._closing = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Goes on until it is closed, beside a crawl that goes on."""
        self._task = asyncio.create_task(self._keep_looking())

    async def close(self) -> None:
        self._closing = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSING)

    async def at_start(self, since: float | None) -> None:
        """A run begins; the one before ended `since` (None: there was none, nothing was left unused)."""
        if since is not None and await self._is_ours(CLAIM_AT_START):
            await self._hasten(self._budget.per_second * (self._frontier.now() - since))

    async def _keep_looking(self) -> None:
        look = max(LEAST_LOOK, self._budget.span / LOOKS)
        while not self._closing:  # a client that is just reconnecting may swallow the cancellation
            await asyncio.sleep(look)
            try:
                if await self._is_ours(look):
                    await self._hasten(EAGERNESS * await self._left() * look / self._budget.span)
            except Exception:
                logger.exception("No pages could be visited ahead of their time; trying again")

    async def _is_ours(self, seconds: float) -> bool:
        return await shared.claim(self._frontier, "hasten", self._token, seconds)

    async def _left(self) -> int:
        return (await shared.spend(self._frontier, self._budget, 0)).left

    async def _hasten(self, allowed: float) -> None:
        counts = await operations.counts(self._frontier)
        spare = min(int(allowed), await self._left(), MOST + counts.due) - counts.due - counts.leased
        if spare < 1:
            return
        records = await records_of(self._frontier, await coming(self._frontier, spare))
        ready = [page for page, record in sorted(records.items()) if self._may_be_visited(record)]
        moved = sum([await hasten(self._frontier, page) for page in ready])
        self._count("incrawl/budget/hastened", moved)

    def _may_be_visited(self, record: UrlRecord) -> bool:
        """Not so soon after its last visit, and not where a failure is being waited out."""
        if record.document is None or record.failures or record.last_crawl is None:
            return False
        return self._frontier.now() - record.last_crawl >= self._limits.minimum

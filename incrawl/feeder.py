"""Fetches leases ahead of the scheduler, and knows when a run is at its end.

A background task asks the partitions in turn, never more often than one of them said was worth
while. Suspects, pages that a worker may have died of, are taken alone: nothing else is leased
until this worker is empty, and nothing until the suspect has ended.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from incrawl.frontier.frontier import Grant, Lease

if TYPE_CHECKING:
    from incrawl.worker import Worker

logger = logging.getLogger(__name__)

IDLE_LOOK = 1.0  # seconds between looks at a partition that has nothing for us, or more:
LOOKS_PER_SECOND = 64  # in vain, over all partitions; beyond it many workers would keep servers busy
BATCH = 16
CLOSING = 5.0  # seconds that an answer may take when the crawl ends


class Feeder:
    """Keeps up to `capacity` pages with this worker while the frontier has any that are due."""

    def __init__(
        self,
        worker: Worker,
        capacity: int,
        deliver: Callable[[list[Lease]], None],
        notify: Callable[[], None],
    ) -> None:
        self._frontier = worker.frontier
        self._ledger = worker.ledger
        self._purse = worker.purse
        self._is_short = False  # the budget has no room for more pages than are here
        self._config = worker.config
        self._count = worker.count
        self._capacity = capacity
        self._deliver = deliver
        self._notify = notify  # called when the run may have come to its end
        partitions = range(worker.frontier.partitions)
        self._idle_look = max(IDLE_LOOK, len(partitions) / LOOKS_PER_SECOND)
        self._next_look = dict.fromkeys(partitions, 0.0)  # monotonic
        self._news = dict.fromkeys(partitions, 0)  # tells an answer that news has overtaken
        self._asked = dict.fromkeys(partitions, 0.0)  # monotonic; when each was looked at last
        self._grants: dict[int, Grant] = {}  # latest answer of each partition
        self._alone = False  # a suspect is being worked on
        self._suspect_look = 0.0  # monotonic: when to see again whether one still waits for us
        self._others_since: float | None = None  # since when only other workers have pages
        self._turn = 0
        self._wake = asyncio.Event()
        self._closing = False
        self._failed = False  # nobody asks for leases any more
        self._task = asyncio.create_task(self._run())
        self.finished = False  # nothing of this run is left, here or with others

    def look_at(self, partitions: Iterable[int]) -> None:
        """Something may have become due there: a page was discovered, a visit has ended."""
        for partition in partitions:
            self._next_look[partition] = 0.0
            self._news[partition] += 1
        self.finished = self._failed
        self._wake.set()

    async def close(self) -> None:
        """Ends the looking. Pages that are just being leased are awaited, and given back at once."""
        self._closing = True
        self._wake.set()
        await asyncio.wait([self._task], timeout=CLOSING)
        self._task.cancel()

    async def _run(self) -> None:
        try:
            while not self._closing:
                self._wake.clear()
                await self._feed()
                await self._pause()
        except asyncio.CancelledError:
            raise
        except Exception:
            self._count("incrawl/lease/failed")
            logger.exception("Leasing has failed; the run ends")
            self.finished = self._failed = True
            self._notify()

    async def _feed(self) -> None:
        if self._must_get_empty():
            await self._look_at_suspects()
            return
        self._alone = False
        await self._ledger.keep()
        affordable = await self._affordable()
        self._is_short = affordable <= 0
        if self._is_short:
            return
        if self._suspects():
            await self._take_suspect()
            return
        room = min(self._capacity - len(self._ledger), affordable)
        now = time.monotonic()
        asked = [p for p in self._in_turn() if self._next_look[p] <= now]
        while asked and room > 0:
            count = min(BATCH, room)
            batch, asked = asked[:count], asked[count:]
            share = max(1, room // len(batch))
            grants = await asyncio.gather(*(self._ask(partition, share) for partition in batch))
            room -= sum(len(grant.leases) for grant in grants)

    async def _affordable(self) -> int:
        """Pages that the budget has room for besides those here that are still to be sent."""
        if self._purse is None:
            return self._capacity
        return await self._purse.left() - self._ledger.unpaid

    def _in_turn(self) -> list[int]:
        """The partitions, starting after the one that was asked first last time."""
        count = len(self._next_look)
        self._turn = (self._turn + 1) % count
        return [(self._turn + offset) % count for offset in range(count)]

    async def _ask(self, partition: int, count: int, *, alone: bool = False) -> Grant:
        news, self._asked[partition] = self._news[partition], time.monotonic()
        grant = await self._frontier.lease(partition, count, alone=alone, wait=self._config.max_wait)
        self._grants[partition] = grant
        if news == self._news[partition]:
            wait = 0.0 if grant.leases else min(grant.wait or self._idle_look, self._idle_look)
            self._next_look[partition] = time.monotonic() + wait
        if self._closing:
            for lease in grant.leases:
                self._ledger.release(self._ledger.open(lease))
        elif grant.leases:
            self._deliver(grant.leases)
        return grant

    async def _take_suspect(self) -> None:
        for partition in self._suspects():
            grant = await self._ask(partition, 1, alone=True)
            if grant.leases:
                self._alone = True
                return

    async def _look_at_suspects(self) -> None:
        """While this worker gets empty for a suspect, another one may have taken it."""
        now = time.monotonic()
        if not self._alone and now >= self._suspect_look:
            self._suspect_look = now + IDLE_LOOK
            for partition in self._suspects():
                self._grants[partition] = await self._frontier.lease(partition, 0, wait=self._config.max_wait)

    def _must_get_empty(self) -> bool:
        """A suspect is here, or one waits for a worker that has nothing else."""
        return bool(len(self._ledger) and (self._alone or self._suspects()))

    def _suspects(self) -> list[int]:
        return [partition for partition, grant in self._grants.items() if grant.suspects]

    async def _pause(self) -> None:
        """Sleeps until a look is worth while, or until woken."""
        self.finished = not self._frontier.continuous and self._at_end()
        if self.finished:
            self._notify()
        wait: float | None
        if self._alone or len(self._ledger) >= self._capacity:
            wait = None  # the end of a visit wakes us
        elif self._must_get_empty():
            wait = IDLE_LOOK
        elif self._purse is not None and self._is_short:
            wait = min(self._purse.wait or IDLE_LOOK, IDLE_LOOK)
        else:
            wait = max(0.001, min(self._next_look.values()) - time.monotonic())
        try:
            await asyncio.wait_for(self._wake.wait(), wait)
        except TimeoutError:
            return

    def _at_end(self) -> bool:
        """Nothing here, nothing in sight, and other workers' pages awaited one lease long."""
        if self._purse is not None and self._purse.is_spent_for_long and not len(self._ledger):
            if not self.finished:
                logger.info("The budget is spent: what is still due is left to a later run")
            return True
        grants = self._grants.values()
        some_left = any(grant.leases or grant.suspects or grant.wait is not None for grant in grants)
        looked_at_all = len(self._grants) == len(self._next_look) and min(self._next_look.values()) > 0
        if some_left or not looked_at_all or len(self._ledger):
            self._others_since = None
            return False
        if not any(grant.leased for grant in grants):
            return True
        # Other workers may die, and their pages come back to us; or they may find new ones. Those that
        # were dead already have given back all they had once we look again after one lease's time.
        self._others_since = self._others_since or time.monotonic()
        latest_looks = (self._asked[partition] for partition, grant in self._grants.items() if grant.leased)
        return min(latest_looks) - self._others_since > self._config.lease_time

"""Work on the disk for many visits at once.

Each hand-over to a thread and each wait for the disk costs more CPU than the work itself. So what comes
while a batch is under way is the next batch: the busier the crawl, the less a page costs. Where much
waits, as on a slow disk, a few batches are under way at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

Item = TypeVar("Item")
Result = TypeVar("Result")

BATCH = 32
PLENTY = 8  # items that wait while others are under way: enough for another thread
THREADS = 4


class Together(Generic[Item, Result]):
    """`work` is called in a thread, with one or more items; it returns one result or exception for each."""

    def __init__(self, work: Callable[[Sequence[Item]], Sequence[Result | Exception]]) -> None:
        self._work = work
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._batches: set[asyncio.Task[None]] = set()

    async def do(self, item: Item) -> Result:
        done: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if not self._batches or (len(self._waiting) >= PLENTY and len(self._batches) < THREADS):
            self._batches.add(asyncio.create_task(self._work_on()))
        return await done

    async def _work_on(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                results = await self._results([item for item, _ in batch])
                for (_, done), result in zip(batch, results, strict=True):
                    if done.done():
                        continue  # whoever asked has gone
                    if isinstance(result, Exception):
                        done.set_exception(result)
                    else:
                        done.set_result(result)
        finally:
            self._batches.discard(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _results(self, items: list[Item]) -> Sequence[Result | Exception]:
        try:
            return await asyncio.to_thread(self._work, items)
        except Exception as error:
            return [error] * len(items)

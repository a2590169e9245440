"""Work on the disk for many visits at once: who waits gets its own result, and nobody another's failure."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from incrawl.together import BATCH, PLENTY, THREADS, Together


def test_what_comes_meanwhile_is_the_next_batch() -> None:
    batches: list[list[int]] = []

    def double(items: Sequence[int]) -> list[int]:
        batches.append([*items])
        return [item * 2 for item in items]

    async def run() -> list[int]:
        together = Together(double)
        first = asyncio.create_task(together.do(0))
        await asyncio.sleep(0)
        return [*await asyncio.gather(*map(together.do, range(1, PLENTY))), await first]

    assert asyncio.run(run()) == [*range(2, 2 * PLENTY, 2), 0]
    assert sorted(item for batch in batches for item in batch) == [*range(PLENTY)]
    assert len(batches) < PLENTY


def test_a_slow_disk_gets_a_few_batches_at_the_same_time_and_no_more() -> None:
    go_on, under_way, most = threading.Event(), [0], [0]

    def wait(items: Sequence[int]) -> list[int]:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        go_on.wait(10)
        under_way[0] -= 1
        assert len(items) <= BATCH
        return [*items]

    async def run() -> list[int]:
        together = Together(wait)
        waiting = []
        for item in range(200):
            waiting.append(asyncio.create_task(together.do(item)))
            await asyncio.sleep(0)
        await asyncio.sleep(0.1)
        assert under_way[0] == THREADS
        go_on.set()
        return await asyncio.gather(*waiting)

    assert asyncio.run(run()) == [*range(200)]
    assert most[0] == THREADS


def test_each_gets_its_own_failure_and_a_broken_batch_is_everybodys() -> None:
    def refuse_odd(items: Sequence[int]) -> list[int | Exception]:
        if 99 in items:
            raise OSError("no disk")
        return [ValueError(item) if item % 2 else item for item in items]

    async def run() -> list[object]:
        together: Together[int, int] = Together(refuse_odd)
        results: list[object] = await asyncio.gather(*map(together.do, (2, 3, 4)), return_exceptions=True)
        with pytest.raises(OSError, match="no disk"):
            await together.do(99)
        return [*results, await together.do(6)]  # and it goes on

    assert [str(result) for result in asyncio.run(run())] == ["2", "3", "4", "6"]


def test_one_who_has_gone_is_in_nobodys_way() -> None:
    async def run() -> int:
        together = Together(lambda items: [*items])
        gone = asyncio.create_task(together.do(1))
        await asyncio.sleep(0)
        gone.cancel()
        return await together.do(2)

    assert asyncio.run(run()) == 2

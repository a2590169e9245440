"""The budget of requests: how it is written, and that no window of time holds more, whoever asks."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import AsyncExitStack
from typing import Any

import pytest
from frontiers import Bench, advance, in_loop

from incrawl.core.values import Rate, parse_rate
from incrawl.frontier import shared
from incrawl.frontier.frontier import Frontier
from incrawl.purse import Purse

SLICES = 100


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("20000/day", Rate(20000, 86400)),
        ("500/h", Rate(500, 3600)),
        ("1 / week", Rate(1, 604800)),
        ("60/Minute", Rate(60, 60)),
        ("30/10s", Rate(30, 10)),
        ("7/1.5h", Rate(7, 5400)),
    ],
)
def test_rates_as_people_write_them(text: str, rate: Rate) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("20000", "a whole number and a unit"),
        ("/day", "a whole number and a unit"),
        ("many/day", "a whole number and a unit"),
        ("-5/day", "a whole number and a unit"),
        ("1.5/day", "a whole number and a unit"),
        ("0/day", "zero"),
        ("20000/", "no unit of time"),
        ("20000/fortnight", "no unit of time"),
        ("20000/0s", "no unit of time"),
    ],
)
def test_a_rate_that_is_none_is_told(text: str, hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        parse_rate(text)


def most_in_a_window(times: list[float], span: float) -> int:
    return max(sum(start <= other < start + span for other in times) for start in times)


@in_loop
async def test_no_day_sees_more_than_the_budget_of_a_day(bench: Bench) -> None:
    """Three days in no time, with busy hours and idle ones."""
    budget, hour, chance = Rate(40, 86400.0), 3600.0, random.Random(1)
    sent: list[float] = []
    async with bench.open() as worker:
        for busy in chance.choices([0, 1, 3, 30], k=3 * 24):
            granted = (await shared.spend(worker, budget, busy)).granted
            sent += [await worker.run("clock", 0) / 1000] * granted
            await advance(worker, hour * chance.random() * 2)
    assert most_in_a_window(sent, budget.span) <= budget.count
    assert len(sent) >= 0.98 * budget.count * int((sent[-1] - sent[0]) / budget.span)


@in_loop
async def test_many_workers_keep_to_one_budget_in_every_window(bench: Bench) -> None:
    budget = Rate(20, 1.0)

    async def insist(worker: Frontier, until: float) -> list[float]:
        sent = []
        while time.monotonic() < until:
            asked = await shared.spend(worker, budget, 1)
            if asked.granted:
                await asyncio.sleep(0.02)  # on its way
                sent.append(time.monotonic())
                await shared.spend(worker, budget, 1, asked.stamp)
            else:
                await asyncio.sleep(min(asked.wait, 0.05))
        return sent

    async with AsyncExitStack() as stack:
        workers = [await stack.enter_async_context(bench.open()) for _ in range(4)]
        until = time.monotonic() + 2.5
        sent = await asyncio.gather(*(insist(worker, until) for worker in workers * 3))
    times = sorted(moment for each in sent for moment in each)
    assert most_in_a_window(times, budget.span) <= budget.count
    assert len(times) >= 2 * budget.count  # and it is used


@in_loop
async def test_asking_costs_nothing_and_tells_what_is_left(bench: Bench) -> None:
    budget = Rate(5, 3600)
    async with bench.open() as worker:
        first = await shared.spend(worker, budget, 0)
        assert (first.granted, first.left, first.wait) == (0, 5, 0)
        assert (await shared.spend(worker, budget, 3)).granted == 3
        rest = await shared.spend(worker, budget, 7)
        assert (rest.granted, rest.left) == (2, 0)
        # The slice in which they were counted has to leave the window.
        assert 3600 < rest.wait <= 3600 + 3600 / SLICES + 1
        await advance(worker, rest.wait + 1)
        assert (await shared.spend(worker, budget, 0)).left == 5


@in_loop
async def test_a_request_counts_from_the_time_when_its_answer_came(bench: Bench) -> None:
    budget = Rate(1, 3600)
    async with bench.open() as worker:
        asked = await shared.spend(worker, budget, 1)
        await advance(worker, 1800)
        await shared.spend(worker, budget, 1, asked.stamp)
        await advance(worker, 2700)  # more than an hour since it was sent
        assert (await shared.spend(worker, budget, 1)).granted == 0
        await advance(worker, 1000)
        assert (await shared.spend(worker, budget, 1)).granted == 1


@in_loop
async def test_what_was_not_sent_is_given_back(bench: Bench) -> None:
    budget = Rate(1, 3600)
    async with bench.open() as worker:
        asked = await shared.spend(worker, budget, 1)
        assert (await shared.spend(worker, budget, 1)).granted == 0
        back = await shared.spend(worker, budget, 0, asked.stamp)
        assert (back.left, back.wait) == (1, 0)
        assert (await shared.spend(worker, budget, 1)).granted == 1


@in_loop
async def test_what_is_asked_again_for_a_lost_answer_counts_once(bench: Bench) -> None:
    async with bench.open() as worker:

        async def spend(wanted: int, stamp: bytes) -> list[Any]:
            answer: list[Any] = await worker.run("spend", shared.home(worker), 5, 3_600_000, wanted, stamp)
            return answer

        async def left() -> int:
            return (await shared.spend(worker, Rate(5, 3600), 0)).left

        others = await shared.spend(worker, Rate(5, 3600), 2)  # counted in the same slice
        assert (first := await spend(1, b":one")) == await spend(1, b":one")
        assert await left() == 2
        assert first[1] == others.stamp
        assert await spend(1, first[1] + b":two") == await spend(1, first[1] + b":two")  # answered
        assert await left() == 2
        assert await spend(0, first[1] + b":three") == await spend(0, first[1] + b":three")  # not sent
        assert await left() == 3
        assert (await spend(1, b":four"))[0] == 1  # another call is another request
        assert await left() == 2


@in_loop
async def test_a_purse_counts_a_request_once_however_often_its_calls_arrive(bench: Bench) -> None:
    async with bench.open() as worker:
        once = worker.run

        async def twice(verb: str, *args: Any) -> Any:
            await once(verb, *args)
            return await once(verb, *args)

        worker.run = twice  # type: ignore[method-assign]  # as if each first answer had been lost
        purse = Purse(worker, Rate(5, 3600), 1.0, lambda _: None)
        first, second = await purse.spend(lambda: True), await purse.spend(lambda: True)
        assert await purse.left() == 3
        await purse.settle(first, sent=True)
        assert await purse.left() == 3
        await purse.settle(second, sent=False)
        assert await purse.left() == 4


@in_loop
async def test_a_smaller_budget_holds_at_once(bench: Bench) -> None:
    async with bench.open() as worker:
        assert (await shared.spend(worker, Rate(10, 3600), 8)).granted == 8
        less = await shared.spend(worker, Rate(5, 3600), 1)
        assert (less.granted, less.left) == (0, 0)
        assert less.wait > 3500


@in_loop
async def test_one_worker_at_a_time_has_a_claim(bench: Bench) -> None:
    async with bench.open() as one, bench.open() as two:
        assert await shared.claim(one, "rank", b"one", 60)
        assert not await shared.claim(two, "rank", b"two", 60)
        assert not await shared.claim(two, "rank", b"two", 0)
        assert await shared.claim(one, "rank", b"one", 60)  # kept
        assert await shared.claim(one, "rank", b"one", 0)
        assert await shared.claim(two, "rank", b"two", 0.001)
        await asyncio.sleep(0.02)
        assert await shared.claim(one, "rank", b"one", 60)  # a claim runs out by itself

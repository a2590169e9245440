"""Politeness: a host is asked by one worker at a time, with its gap in between, whoever crawls."""

from __future__ import annotations

import os

import pytest
from frontiers import LEASE, Bench, advance, discover, finish, in_loop, take, urls

from incrawl.frontier import operations

A, B = "http://a.test/", "http://b.test/"


@in_loop
async def test_a_lease_locks_its_host_and_its_end_starts_the_gap(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, f"{A}1", f"{A}2")
        [lease] = await take(frontier)
        await advance(frontier, 30)
        assert await take(frontier) == []
        await finish(frontier, lease)
        await advance(frontier, 9)
        assert await take(frontier) == []
        await advance(frontier, 1.1)
        assert len(await take(frontier)) == 1


@in_loop
async def test_the_gap_counts_from_the_end_of_the_response(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, f"{A}1", f"{A}2")
        [lease] = await take(frontier)
        await frontier.complete(lease, lease.record, delay=1000, since_response=8)
        await advance(frontier, 2.1)
        assert len(await take(frontier)) == 1


@in_loop
async def test_without_a_request_there_is_no_gap(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, f"{A}1", f"{A}2")
        [lease] = await take(frontier)
        assert await frontier.release(lease)
        assert len(await take(frontier)) == 1


@in_loop
async def test_a_gap_of_zero_gives_several_pages_of_a_host_at_once(bench: Bench) -> None:
    async with bench.open(gap=0) as frontier:
        await discover(frontier, *(f"{A}{n}" for n in range(20)))
        assert len(await take(frontier, 20)) == 20


@in_loop
async def test_a_hosts_own_gap_wins_over_the_default(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await frontier.set_gap("a.test", 0)
        await frontier.set_gap("b.test", 100)
        await discover(frontier, *(f"{A}{n}" for n in range(3)), *(f"{B}{n}" for n in range(3)))
        leases = await take(frontier)
        assert sorted(lease.place.host.name for lease in leases) == ["a.test"] * 3 + ["b.test"]
        for lease in leases:
            await finish(frontier, lease)
        await advance(frontier, 99)
        assert await take(frontier) == []
        await frontier.set_gap("b.test", None)
        await advance(frontier, 2)
        [lease] = await take(frontier)
        await finish(frontier, lease)
        await advance(frontier, 10.1)
        assert len(await take(frontier)) == 1


@in_loop
async def test_a_host_whose_worker_died_is_left_in_peace_for_its_gap_however_long(
    bench: Bench,
) -> None:
    gap = 5 * LEASE
    async with bench.open(gap=gap) as frontier:
        await discover(frontier, f"{A}1", f"{A}2")
        assert len(await take(frontier)) == 1  # and it may be asked for until the lease ends
        await advance(frontier, LEASE + 1)
        assert await take(frontier) == []
        assert await take(frontier, alone=True) == []
        await advance(frontier, gap - 10)
        assert await take(frontier) == []
        assert await frontier.reserve_host(frontier.place_host("a.test"), os.urandom(8)) > 0
        await advance(frontier, 11)
        assert len(await take(frontier, alone=True)) == 1


@in_loop
async def test_a_renewed_lease_keeps_its_host_locked(bench: Bench) -> None:
    async with bench.open(gap=1) as frontier:
        await discover(frontier, f"{A}1", f"{A}2")
        [lease] = await take(frontier)
        for _ in range(4):
            await advance(frontier, LEASE * 0.8)
            assert await frontier.renew([lease]) == []
            await advance(frontier, 2)
            assert await take(frontier) == []


# reservations


@in_loop
async def test_a_reservation_holds_a_host_against_everybody_else(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        host = frontier.place_host("a.test")
        mine, theirs = os.urandom(8), os.urandom(8)
        assert await frontier.reserve_host(host, mine) == 0
        assert await frontier.reserve_host(host, mine) == 0
        assert 0 < await frontier.reserve_host(host, theirs) <= 1
        await discover(frontier, A)
        assert await take(frontier) == []
        await frontier.free_host(host, theirs, None)
        assert await frontier.reserve_host(host, theirs) > 0
        await frontier.free_host(host, mine, 0.0)
        assert await frontier.reserve_host(host, theirs) == pytest.approx(10, abs=2)
        await advance(frontier, 10.1)
        assert await frontier.reserve_host(host, theirs) == 0


@in_loop
async def test_a_host_that_was_reserved_and_not_asked_is_ready_at_once(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        host, token = frontier.place_host("a.test"), os.urandom(8)
        assert await frontier.reserve_host(host, token) == 0
        await discover(frontier, A)
        assert await take(frontier) == []
        await frontier.free_host(host, token, None)
        assert urls(await take(frontier)) == [A]


@in_loop
async def test_a_leased_host_cannot_be_reserved_by_others(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        assert await frontier.reserve_host(lease.place.host, os.urandom(8)) > 0
        assert await frontier.reserve_host(lease.place.host, lease.token) == 0


@in_loop
async def test_a_reservation_runs_out_and_the_gap_follows(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        host = frontier.place_host("a.test")
        await discover(frontier, A)
        assert await frontier.reserve_host(host, os.urandom(8)) == 0
        await advance(frontier, LEASE + 5)
        assert await take(frontier) == []
        await advance(frontier, 6)
        assert len(await take(frontier)) == 1


@in_loop
async def test_with_a_gap_of_zero_a_reservation_is_always_granted(bench: Bench) -> None:
    async with bench.open(gap=0) as frontier:
        host = frontier.place_host("a.test")
        assert [await frontier.reserve_host(host, os.urandom(8)) for _ in range(3)] == [0, 0, 0]
        await frontier.block_host("a.test", 60, "Retry-After")
        assert await frontier.reserve_host(host, os.urandom(8)) > 0


# blocks


@in_loop
async def test_a_blocked_host_is_visited_by_nobody_until_the_block_ends_or_is_lifted(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A, B)
        await frontier.block_host("a.test", 100, "Retry-After")
        await frontier.block_host("a.test", 50, "a shorter one changes nothing")
        assert urls(await take(frontier)) == [B]
        await advance(frontier, 99)
        assert await take(frontier) == []
        await advance(frontier, 2)
        assert urls(await take(frontier)) == [A]
        await discover(frontier, f"{A}2")
        await frontier.block_host("a.test", 1000, "")
        assert await take(frontier) == []
        await frontier.block_host("a.test", 0, "")
        assert urls(await take(frontier)) == [f"{A}2"]


@in_loop
async def test_a_block_outlasts_the_end_of_a_visit_under_way(bench: Bench) -> None:
    async with bench.open(gap=1) as frontier:
        await discover(frontier, f"{A}1", f"{A}2")
        [lease] = await take(frontier)
        await frontier.block_host("a.test", 100, "Retry-After")
        await finish(frontier, lease)
        await advance(frontier, 90)
        assert await take(frontier) == []
        await advance(frontier, 11)
        assert len(await take(frontier)) == 1


@in_loop
async def test_pace_and_blocks_are_shared_by_namespaces(bench: Bench) -> None:
    async with bench.open("one/spider", gap=10) as one, bench.open("two/spider", gap=10) as two:
        await discover(one, f"{A}1")
        await discover(two, f"{A}2")
        [lease] = await take(one)
        assert await take(two) == []
        await finish(one, lease)
        assert await take(two) == []
        await advance(two, 11)
        [lease] = await take(two)
        await finish(two, lease)
        await discover(one, f"{A}3")
        await two.block_host("a.test", 86400, "hold")
        await advance(one, 30)
        assert await take(one) == []
        await two.block_host("a.test", 0, "")
        await advance(one, 31)  # another namespace's release is noticed within half a minute
        assert urls(await take(one)) == [f"{A}3"]


@in_loop
async def test_a_page_found_while_another_namespace_blocks_its_host_is_not_forgotten(bench: Bench) -> None:
    async with bench.open("one/spider") as one, bench.open("two/spider") as two:
        await two.block_host("a.test", 86400, "hold")
        await discover(one, A)
        await two.block_host("a.test", 0, "")
        await advance(one, 31)
        assert urls(await take(one)) == [A]


@in_loop
async def test_forgetting_a_leased_page_does_not_open_its_host_early(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, f"{A}1", f"{A}2")
        [lease] = await take(frontier)
        await operations.forget(frontier, lease.record.url)
        await advance(frontier, LEASE / 2)
        assert await take(frontier) == []
        await advance(frontier, LEASE / 2 + 11)
        assert len(await take(frontier)) == 1


@in_loop
async def test_what_workers_share_about_a_host(bench: Bench) -> None:
    async with bench.open() as frontier:
        assert await frontier.cache_get("a.test", "robots") is None
        await frontier.cache_set("a.test", "robots", b"User-agent: *", 60)
        assert await frontier.cache_get("a.test", "robots") == b"User-agent: *"
        assert await frontier.cache_get("b.test", "robots") is None

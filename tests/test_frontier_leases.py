"""Leases: who has a page, what happens when its worker dies, and what late or lost answers do."""

from __future__ import annotations

import os

import msgpack
import pytest
from frontiers import LEASE, Bench, advance, discover, finish, in_loop, known, take, urls

from incrawl.core.records import UrlRecord
from incrawl.frontier import keys, operations
from incrawl.frontier.frontier import Find, Frontier, Lease
from incrawl.frontier.inheritance import inherit

A, B = "http://a.test/", "http://b.test/"


async def die(frontier: Frontier) -> None:
    """All workers fall silent for longer than a lease."""
    await advance(frontier, LEASE + 1)


async def die_alone(frontier: Frontier) -> None:
    [lease] = await take(frontier, alone=True)
    assert lease.suspect
    await die(frontier)
    await take(frontier, 0)


async def make_suspect(frontier: Frontier, *pages: str) -> None:
    await discover(frontier, *pages)
    await take(frontier)
    await die(frontier)
    assert await take(frontier) == []


@in_loop
async def test_a_page_belongs_to_one_worker_at_a_time(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        assert len(await take(frontier)) == 1
        assert await take(frontier) == []


@in_loop
async def test_a_renewed_lease_lasts(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        for _ in range(5):
            await advance(frontier, LEASE * 0.7)
            assert await frontier.renew([lease]) == []
            assert await take(frontier) == []
        assert await finish(frontier, lease)


@in_loop
async def test_a_lease_that_was_lost_is_told_when_it_is_renewed(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A, B)
        first, second = await take(frontier)
        await operations.forget(frontier, first.record.url)
        assert await frontier.renew([first, second]) == [first]


@in_loop
async def test_the_page_of_a_dead_worker_comes_back_alone_and_is_done(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        assert (await known(frontier, A)).state == "suspect"
        await discover(frontier, B)
        grant = await frontier.lease(0, 10)
        assert urls(grant.leases) == [B]
        assert grant.suspects == 1
        [lease] = await take(frontier, alone=True)
        assert lease.suspect
        assert lease.record.url == A
        assert await finish(frontier, lease)
        done = await known(frontier, A)
        assert (done.state, done.deaths, done.record.visits) == ("queued", 0, 1)


@in_loop
async def test_three_deaths_alone_quarantine_a_page_until_it_is_released(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        for deaths in (1, 2):
            await die_alone(frontier)
            now = await known(frontier, A)
            assert (now.state, now.deaths) == ("suspect", deaths)
        await die_alone(frontier)
        assert (await known(frontier, A)).state == "quarantined"
        assert await take(frontier) == []
        assert await take(frontier, alone=True) == []
        assert (await operations.counts(frontier)).quarantined == 1
        assert await operations.reschedule(frontier, A, 0.0) == "moved"
        [lease] = await take(frontier)
        assert not lease.suspect
        assert (await known(frontier, A)).deaths == 0
        assert (await operations.counts(frontier)).quarantined == 0


@in_loop
async def test_deaths_in_company_quarantine_nothing(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        for _ in range(5):
            [lease] = await take(frontier, alone=True)
            assert await frontier.release(lease, delay=0.0)
            await take(frontier)
            await die(frontier)
            await take(frontier, 0)
        now = await known(frontier, A)
        assert (now.state, now.deaths) == ("suspect", 0)


@in_loop
async def test_a_success_forgives_earlier_deaths(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        await die_alone(frontier)
        await die_alone(frontier)
        [lease] = await take(frontier, alone=True)
        await finish(frontier, lease, delay=0.0)
        assert (await known(frontier, A)).deaths == 0


@in_loop
async def test_a_suspect_given_back_unsent_stays_suspect(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        [lease] = await take(frontier, alone=True)
        assert await frontier.release(lease)
        assert (await known(frontier, A)).state == "suspect"
        assert await take(frontier) == []
        assert urls(await take(frontier, alone=True)) == [A]


@in_loop
async def test_a_suspect_of_a_held_host_is_in_nobodys_way(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        await frontier.block_host("a.test", 86400, "Retry-After")
        grant = await frontier.lease(0, 1, wait=120)
        assert (grant.suspects, grant.wait) == (0, None)
        assert await take(frontier, alone=True) == []
        await frontier.block_host("a.test", 0, "")
        await advance(frontier, 31)
        assert urls(await take(frontier, alone=True)) == [A]


@in_loop
async def test_a_suspect_whose_host_is_free_soon_is_waited_for(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await make_suspect(frontier, A)
        grant = await frontier.lease(0, 1, wait=120)
        assert grant.suspects == 0  # its worker may have asked the host just before it died
        assert grant.wait is not None
        assert 0 < grant.wait <= 10
        await advance(frontier, 11)
        assert (await frontier.lease(0, 1)).suspects == 1


@in_loop
async def test_other_pages_of_a_host_do_not_keep_a_suspect_waiting(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await make_suspect(frontier, A)
        await discover(frontier, *(f"{A}{n}" for n in range(20)))
        for _ in range(3):
            await advance(frontier, 11)
            assert await take(frontier) == []
        [lease] = await take(frontier, alone=True)
        assert await finish(frontier, lease)
        await advance(frontier, 11)
        assert len(await take(frontier)) == 1


@in_loop
async def test_held_suspects_hide_no_free_one(bench: Bench) -> None:
    async with bench.open() as frontier:
        hosts = [f"h{n}.test" for n in range(30)]
        await make_suspect(frontier, *(f"http://{host}/" for host in hosts))
        for host in hosts[1:]:
            await frontier.block_host(host, 3600, "")
        found: list[str] = []
        for _ in range(4):
            found += urls(await take(frontier, alone=True))
        assert found == [f"http://{hosts[0]}/"]


@in_loop
async def test_an_expired_lease_is_taken_back_without_those_that_end_later(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        await take(frontier)
        await advance(frontier, LEASE - 20)
        await discover(frontier, B)
        assert urls(await take(frontier)) == [B]
        for _ in range(8):
            await advance(frontier, 4)
            await take(frontier)
        assert [(await known(frontier, url)).state for url in (A, B)] == ["suspect", "leased"]


@in_loop
async def test_no_suspect_is_given_out_before_its_time(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        [lease] = await take(frontier, alone=True)
        assert await frontier.release(lease, delay=20)
        assert await take(frontier, alone=True) == []
        await advance(frontier, 15)
        assert await take(frontier, alone=True) == []
        await advance(frontier, 6)
        assert urls(await take(frontier, alone=True)) == [A]


@in_loop
async def test_a_quarantined_page_that_takes_over_a_record_has_no_deaths_any_more(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        for _ in range(3):
            await die_alone(frontier)
        assert (await known(frontier, A)).state == "quarantined"
        assert await inherit(frontier, UrlRecord(A, visits=1), 0.0)
        found = await known(frontier, A)
        assert (found.state, found.deaths, found.record.visits) == ("queued", 0, 1)


@in_loop
async def test_hundreds_of_expired_leases_all_come_back(bench: Bench) -> None:
    async with bench.open() as frontier:
        everything = [f"{A}{n}" for n in range(230)]
        await discover(frontier, *everything)
        assert [len(await take(frontier)) for _ in range(3)] == [100, 100, 30]
        await die(frontier)
        back: list[str] = []
        while leases := await take(frontier, alone=True):
            back += urls(leases)
            await finish(frontier, leases[0])
        assert sorted(back) == sorted(everything)


@in_loop
async def test_a_forgotten_page_is_gone_whatever_state_it_was_in(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        assert await operations.forget(frontier, A)
        assert await take(frontier, alone=True) == []
        await make_suspect(frontier, A)
        for _ in range(3):
            await die_alone(frontier)
        assert (await known(frontier, A)).state == "quarantined"
        assert await operations.forget(frontier, A)
        assert (await operations.counts(frontier)).quarantined == 0
        await discover(frontier, A)
        assert await operations.forget(frontier, A)
        assert await take(frontier) == []
        counts = await operations.counts(frontier)
        assert (counts.known, counts.due, counts.leased, counts.suspects) == (0, 0, 0, 0)


# late and lost


@in_loop
async def test_a_late_result_is_refused_and_changes_nothing(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, A)
        [late] = await take(frontier)
        await die(frontier)
        await take(frontier)
        await advance(frontier, 11)
        [lease] = await take(frontier, alone=True)
        assert not await finish(frontier, late, document="20260101T000000Z-aaaa")
        assert not await frontier.release(late)
        assert await frontier.renew([late]) == [late]
        assert await finish(frontier, lease, document="20260101T000000Z-bbbb")
        assert not await finish(frontier, late, document="20260101T000000Z-aaaa")
        assert (await known(frontier, A)).record.document == "20260101T000000Z-bbbb"
        assert (await known(frontier, A)).record.visits == 1


@in_loop
async def test_a_result_after_the_lease_but_before_anyone_noticed_counts(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        await die(frontier)
        assert await finish(frontier, lease)


@in_loop
async def test_complete_sent_twice_counts_once(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        record = lease.record._replace(visits=1, last_crawl=frontier.now(), document="20260101T000000Z-aaaa")
        for _ in range(2):  # the answer to the first was lost
            assert await frontier.complete(lease, record, delay=100, since_response=None)
        due = (await known(frontier, A)).time
        assert due == pytest.approx(frontier.now() + 100, abs=5)


@in_loop
async def test_a_lost_answer_is_recognised_although_the_record_was_amended_since(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        record = lease.record._replace(visits=1, last_crawl=frontier.now(), document="20260101T000000Z-aaaa")
        assert await frontier.complete(lease, record, delay=100, since_response=None)
        await discover(frontier, A, level=3)
        assert await operations.amend(frontier, (await known(frontier, A)).record, rank=2.0)
        assert await frontier.complete(lease, record, delay=100, since_response=None)


@in_loop
async def test_a_lease_whose_answer_was_lost_gives_the_same_pages_again(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, *(f"{A}{n}" for n in range(10)))
        token = os.urandom(8)
        arguments = (token, 4, int(LEASE * 1000), 0, 0, 0, 0)
        lost = await frontier.run("lease", 0, *arguments)
        again = await frontier.run("lease", 0, *arguments)
        assert lost[4:] == again[4:]
        assert (await operations.counts(frontier)).leased == 4
        gone = Lease(frontier.place(A), (await known(frontier, f"{A}0")).record, token, 0.0, False)
        assert await frontier.renew([gone]) == [gone]


@in_loop
async def test_a_page_given_back_is_due_as_before_or_later(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        before = (await known(frontier, A)).time
        [lease] = await take(frontier)
        assert await frontier.release(lease)
        assert (await known(frontier, A)).time == before
        [lease] = await take(frontier)
        assert await frontier.release(lease, delay=30)
        assert await take(frontier) == []
        assert not await frontier.release(lease)


@in_loop
async def test_a_page_whose_list_changed_while_it_was_suspect_is_still_found(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        assert await operations.amend(frontier, (await known(frontier, A)).record, list=2)
        [lease] = await take(frontier, alone=True)
        assert await frontier.release(lease, delay=0.0)
        [lease] = await take(frontier, alone=True)
        assert await finish(frontier, lease, delay=0.0)
        await frontier.begin()
        assert urls(await take(frontier)) == [A]


# time


@in_loop
async def test_workers_can_renew_after_the_server_was_away_for_long(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        # The server stops now, and comes back two leases later.
        clock, leases = keys.clock(0), keys.leases(keys.namespace_prefix(0, frontier.namespace))
        away = 2 * LEASE * 1000
        await frontier.client.set(clock, round(float(await frontier.client.get(clock)) - away))
        await frontier.client.zincrby(leases, -away, lease.place.id)
        assert (await known(frontier, A)).time < frontier.now()
        assert await take(frontier) == []
        await advance(frontier, 0.4 * LEASE)  # half of a lease is what they get
        assert await take(frontier) == []
        assert (await known(frontier, A)).state == "leased"
        assert await frontier.renew([lease]) == []
        await advance(frontier, LEASE / 2)
        assert await take(frontier) == []
        assert await finish(frontier, lease)


@in_loop
async def test_nobody_renewing_after_the_server_was_away_means_they_died(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)


@in_loop
async def test_dead_workers_pages_come_back_where_nobody_calls_for_long(bench: Bench) -> None:
    """Calls come ten seconds apart, and each looks like the first one after the server was away."""
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        clock, leases = keys.clock(0), keys.leases(keys.namespace_prefix(0, frontier.namespace))
        now = await frontier.run("clock", 0)
        await frontier.client.zadd(leases, {lease.place.id: now - 5_000})  # the worker died long ago
        await frontier.client.set(clock, now - 10_000)
        assert await take(frontier) == []
        assert (await known(frontier, A)).state == "leased"  # nobody has called since it expired
        await frontier.client.set(clock, await frontier.run("clock", 0) - 10_000)
        await frontier.client.zadd(leases, {lease.place.id: now - 15_000})
        assert await take(frontier) == []
        assert (await known(frontier, A)).state == "suspect"


@in_loop
async def test_a_server_that_was_away_while_its_clock_is_behind_gives_time_to_renew(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        clock, leases = keys.clock(0), keys.leases(keys.namespace_prefix(0, frontier.namespace))
        now = await frontier.run("clock", 0)
        hour, away = 3_600_000, 2 * LEASE * 1000
        # Set back by an hour, the server goes away, and comes back two leases later.
        await frontier.client.set(clock, f"{now + hour - away:.1f}:{now - away:.0f}")
        await frontier.client.zadd(leases, {lease.place.id: now + hour - away / 2})
        assert await take(frontier) == []
        assert (await known(frontier, A)).state == "leased"
        assert await frontier.renew([lease]) == []


@in_loop
async def test_a_suspect_put_back_for_a_while_stays_one(bench: Bench) -> None:
    async with bench.open() as frontier:
        await make_suspect(frontier, A)
        [lease] = await take(frontier, alone=True)
        assert await frontier.release(lease, delay=100.0)
        assert (await known(frontier, A)).state == "suspect"
        assert await take(frontier) == await take(frontier, alone=True) == []
        await advance(frontier, 101.0)
        assert urls(await take(frontier, alone=True)) == [A]


@in_loop
async def test_a_suspect_put_back_for_long_does_not_keep_its_hosts_other_pages(bench: Bench) -> None:
    async with bench.open(gap=1) as frontier:
        await make_suspect(frontier, A)
        await advance(frontier, 2.0)
        [lease] = await take(frontier, alone=True)
        assert await frontier.release(lease, delay=5000.0)
        await discover(frontier, f"{A}2")
        await frontier.begin()
        assert urls(await take(frontier)) == [f"{A}2"]


@in_loop
async def test_a_server_clock_set_back_ends_no_lease_early_and_stops_nothing(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, A, f"{A}2")
        hour = 3600.0
        await advance(frontier, hour)  # as if the server's clock had been an hour fast until now
        before = await frontier.run("clock", 0)
        [lease] = await take(frontier)
        assert await finish(frontier, lease)
        assert await take(frontier) == []
        # Eleven seconds of the server's clock pass; the partition's, still ahead, moves by most of them.
        ours, server = (await frontier.client.get(keys.clock(0))).split(b":")
        await frontier.client.set(keys.clock(0), b"%s:%d" % (ours, int(server) - 12_000))
        assert await frontier.run("clock", 0) - before >= 10_000
        assert len(await take(frontier)) == 1
        assert await frontier.run("clock", 0) - before < 60_000


@in_loop
async def test_the_clock_never_runs_back(bench: Bench) -> None:
    async with bench.open() as frontier:
        await frontier.begin()
        await advance(frontier, 100)
        seen = []
        for _ in range(50):
            await frontier.begin()
            seen.append(await frontier.run("clock", 0))
        assert seen == sorted(seen)


@in_loop
async def test_a_record_that_makes_no_sense_costs_no_other_page(bench: Bench) -> None:
    async with bench.open() as frontier:
        for url in (7, "http://[::1"):
            damaged = b"\x00\x00" + msgpack.packb([1, url])
            await frontier.discover([Find(A, frontier.place(f"{A}{url!r}"), damaged)])
        await discover(frontier, A)
        assert urls(await take(frontier)) == [A]


@in_loop
async def test_a_late_failure_is_refused_although_another_worker_has_failed_alike(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [late] = await take(frontier)
        await die(frontier)
        await take(frontier, 0)
        [again] = await take(frontier, alone=True)
        failed = late.record._replace(visits=1, failures=1)
        assert await frontier.complete(again, failed, delay=5.0, since_response=0.0)
        assert not await frontier.complete(late, failed, delay=5.0, since_response=0.0)

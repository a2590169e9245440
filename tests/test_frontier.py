"""The frontier's verbs, one by one, on a single server and on a cluster."""

from __future__ import annotations

from collections import Counter

import pytest
from frontiers import (
    LEASE,
    Bench,
    advance,
    discover,
    finish,
    in_loop,
    known,
    take,
    urls,
)

from incrawl.core.records import UrlRecord
from incrawl.frontier import keys, operations

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def pages(site: str, count: int) -> list[str]:
    return [f"{site}{number}" for number in range(count)]


# discover


@in_loop
async def test_a_new_url_is_due_at_once_and_a_known_one_is_left_alone(bench: Bench) -> None:
    async with bench.open() as frontier:
        assert await discover(frontier, A, B) == 2
        assert await discover(frontier, A, C) == 1
        assert sorted(urls(await take(frontier))) == [A, B, C]


@in_loop
async def test_all_spellings_of_a_url_are_one_and_the_first_one_is_fetched(bench: Bench) -> None:
    async with bench.open() as frontier:
        assert await discover(frontier, "http://A.test:80/?b=1&a=2#top", "http://a.test/?a=2&b=1") == 1
        assert urls(await take(frontier)) == ["http://A.test:80/?b=1&a=2#top"]


@in_loop
async def test_a_visited_page_that_is_found_again_stays_as_it_is(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A, level=1)
        [lease] = await take(frontier)
        await finish(frontier, lease)
        assert await discover(frontier, A, level=1) == 0
        assert (await known(frontier, A)).record.visits == 1
        assert await take(frontier) == []


@in_loop
async def test_a_page_found_closer_to_a_seed_rises_and_becomes_due(bench: Bench) -> None:
    async with bench.open() as frontier:
        await frontier.begin()
        await discover(frontier, A, level=1)
        [lease] = await take(frontier)
        await finish(frontier, lease)
        assert await discover(frontier, A, level=3) == 0
        [lease] = await take(frontier)
        assert (lease.record.level, lease.record.visits) == (3, 1)
        await finish(frontier, lease)
        await discover(frontier, A, level=2)
        assert (await known(frontier, A)).record.level == 3
        assert await take(frontier) == []


@in_loop
async def test_a_page_that_rises_during_its_visit_is_visited_again_in_the_same_run(bench: Bench) -> None:
    async with bench.open() as frontier:
        await frontier.begin()
        await discover(frontier, A, level=1)
        [lease] = await take(frontier)
        await discover(frontier, A, level=3)
        assert await finish(frontier, lease)
        [lease] = await take(frontier)
        assert (lease.record.level, lease.record.visits) == (3, 1)
        await finish(frontier, lease)
        assert await take(frontier) == []


@in_loop
async def test_pages_nearer_to_the_seeds_come_first(bench: Bench) -> None:
    async with bench.open() as frontier:
        await frontier.begin()
        for level in (0, 2, 1):
            await discover(frontier, f"{A}{level}", level=level)
        assert urls(await take(frontier)) == [f"{A}2", f"{A}1", f"{A}0"]


@in_loop
async def test_buckets_split_and_keep_every_record(bench: Bench) -> None:
    async with bench.open(partitions=2) as frontier:
        everything = [f"http://host{n % 7}.test/{n}" for n in range(3000)]
        assert await discover(frontier, *everything) == 3000
        assert await discover(frontier, *everything) == 0
        listed = [record.url async for record in operations.records(frontier)]
        assert sorted(listed) == sorted(everything)
        for partition in range(2):
            prefix = keys.namespace_prefix(partition, frontier.namespace)
            number, count = await frontier.client.hmget(keys.meta(prefix), b"buckets", b"urls")
            assert 8 <= int(count) / int(number) <= 16


@in_loop
async def test_buckets_that_are_too_full_are_split_little_by_little(bench: Bench) -> None:
    async with bench.open(partitions=1) as frontier:
        prefix = keys.namespace_prefix(0, frontier.namespace)
        old = [frontier.find(UrlRecord(url)) for url in pages(A, 400)]
        await frontier.client.hset(keys.bucket(prefix, 0), mapping={f.place.id: f.packed for f in old})
        await frontier.client.hset(keys.meta(prefix), mapping={"buckets": 1, "urls": 400})
        assert await discover(frontier, *pages(B, 10)) == 10
        assert int(await frontier.client.hget(keys.meta(prefix), b"buckets")) == 11
        assert await discover(frontier, *pages(A, 400)) == 0


@in_loop
async def test_a_bucket_that_somebody_has_filled_on_purpose_is_split_like_others(bench: Bench) -> None:
    async with bench.open(partitions=1) as frontier:
        prefix = keys.namespace_prefix(0, frontier.namespace)
        # Ids that differ only where buckets do not look, but for every other one.
        ids = [(n % 2).to_bytes(4) + n.to_bytes(8) for n in range(12_000)]
        packed = frontier.find(UrlRecord(A)).packed
        await frontier.client.hset(keys.bucket(prefix, 0), mapping=dict.fromkeys(ids, packed))
        await frontier.client.hset(keys.meta(prefix), mapping={"buckets": 1, "urls": 12_000})
        assert await discover(frontier, *pages(B, 3)) == 3
        sizes = [await frontier.client.hlen(keys.bucket(prefix, number)) for number in range(4)]
        assert sum(sizes) == 12_003 and min(sizes[:2]) >= 6_000
        assert await discover(frontier, *pages(B, 3)) == 0


@in_loop
async def test_listing_while_buckets_split_misses_none_that_was_known_and_tells_none_twice(
    bench: Bench,
) -> None:
    async with bench.open() as frontier:
        before = pages(A, 500)
        await discover(frontier, *before)
        listed, added = [], 0
        async for record in operations.records(frontier):
            listed.append(record.url)
            if added < 2000 and len(listed) % 5 == 0:
                await discover(frontier, *pages(f"{B}{added}/", 50))
                added += 50
        assert added == 2000
        assert set(listed) >= set(before)
        assert len(listed) == len(set(listed))


@in_loop
async def test_a_page_is_given_when_it_is_due_whatever_its_level(bench: Bench) -> None:
    """Its score lies a little below its due time: nobody who looks in between may put it off."""
    async with bench.open(continuous=True) as frontier:
        for level in (0, 1, 5, 255):
            url = f"{A}{level}"
            await discover(frontier, url, level=level)
            [lease] = await take(frontier)
            assert await finish(frontier, lease, delay=0.03)
            due = (await known(frontier, url)).time
            while not await take(frontier):
                pass
            assert due is not None and due <= frontier.now() < due + 0.5


@in_loop
async def test_namespaces_have_their_own_records(bench: Bench) -> None:
    async with bench.open("one/spider") as one, bench.open("two/spider") as two:
        await discover(one, A)
        assert await take(two) == []
        assert await discover(two, A) == 1
        assert await operations.forget(one, A)
        assert urls(await take(two)) == [A]


# runs


@in_loop
async def test_a_run_takes_what_was_due_when_it_began_and_what_it_finds(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        await frontier.begin()
        [lease] = await take(frontier)
        await finish(frontier, lease, delay=10)
        await advance(frontier, 20)
        await discover(frontier, B)
        assert urls(await take(frontier)) == [B]
        await frontier.begin()
        await advance(frontier, 2)
        assert urls(await take(frontier)) == [A]


@in_loop
async def test_a_continuous_run_takes_what_becomes_due(bench: Bench) -> None:
    async with bench.open(continuous=True) as frontier:
        await discover(frontier, A)
        await frontier.begin()
        [lease] = await take(frontier)
        await finish(frontier, lease, delay=10)
        grant = await frontier.lease(0, 1, wait=60)
        assert grant.leases == []
        assert grant.wait is not None
        assert 0 < grant.wait <= 10
        await advance(frontier, 11)
        assert urls(await take(frontier)) == [A]


@in_loop
async def test_the_end_of_a_run_is_told_apart_from_a_host_that_is_held(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, f"{A}1", f"{A}2")
        await frontier.begin()
        [lease] = await take(frontier)
        await finish(frontier, lease)
        held = await frontier.lease(0, 1, wait=120)
        assert held.leases == []
        assert held.wait is not None
        assert 0 < held.wait <= 10
        assert (await frontier.lease(0, 1, wait=5)).wait is None
        await advance(frontier, 11)
        [lease] = await take(frontier)
        await finish(frontier, lease)
        assert (await frontier.lease(0, 1, wait=120)).wait is None


@in_loop
async def test_a_host_blocked_for_long_does_not_keep_a_run_going(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        await frontier.block_host("a.test", 86400, "Retry-After")
        assert (await frontier.lease(0, 1, wait=120)).wait is None
        await advance(frontier, 60)
        assert (await frontier.lease(0, 1, wait=120)).wait is None


# order


@in_loop
async def test_the_three_lists_take_turns_4_2_1(bench: Bench) -> None:
    async with bench.open() as frontier:
        for list_ in range(3):
            await discover(frontier, *(f"http://{list_}.test/{n}" for n in range(40)), list=list_)
        order = [lease.record.list for lease in await take(frontier, 70)]
        assert Counter(order) == {0: 40, 1: 20, 2: 10}
        assert Counter(order[:7]) == {0: 4, 1: 2, 2: 1}


@in_loop
async def test_the_wheel_goes_on_from_call_to_call(bench: Bench) -> None:
    async with bench.open() as frontier:
        for list_ in range(3):
            await discover(frontier, *(f"http://{list_}.test/{n}" for n in range(40)), list=list_)
        order = [(await take(frontier, 1))[0].record.list for _ in range(70)]
        assert Counter(order) == {0: 40, 1: 20, 2: 10}


@in_loop
async def test_an_empty_list_gives_its_turns_to_the_others(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, *pages(A, 10), list=2)
        assert len(await take(frontier, 10)) == 10


@pytest.mark.parametrize("gap", [0.0, 10.0])
@in_loop
async def test_hosts_take_turns(bench: Bench, gap: float) -> None:
    async with bench.open(gap=gap) as frontier:
        sites = [f"http://h{n:02}.test/" for n in range(12)]
        for site in sites:
            await discover(frontier, *pages(site, 5))
        seen: list[str] = []
        while len(seen) < 60:
            leases = await take(frontier, 4)
            for lease in leases:
                seen.append(lease.place.host.name)
                await finish(frontier, lease)
            if not leases:
                await advance(frontier, gap)
        for start in range(0, 60, 12):
            assert len(set(seen[start : start + 12])) == 12


@in_loop
async def test_a_ready_host_keeps_its_turn_when_more_of_its_pages_are_found(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, *pages(A, 5), *pages(B, 5))
        first = await take(frontier, 1)
        await discover(frontier, *pages(f"{first[0].record.url}/", 5), level=9)
        second = await take(frontier, 1)
        assert first[0].place.host != second[0].place.host


@in_loop
async def test_the_page_that_is_due_longest_comes_first(bench: Bench) -> None:
    async with bench.open(continuous=True) as frontier:
        await discover(frontier, *pages(A, 3))
        for lease, delay in zip(await take(frontier), (30, 10, 20), strict=True):
            await finish(frontier, lease, delay=delay)
        by_due = [(await known(frontier, url)).time for url in pages(A, 3)]
        await advance(frontier, 40)
        assert [lease.due for lease in await take(frontier)] == sorted(by_due)


@in_loop
async def test_a_host_with_thousands_of_pages_hides_no_other(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        await discover(frontier, *pages(A, 5000))
        await discover(frontier, B)
        assert {lease.place.host.name for lease in await take(frontier)} == {"a.test", "b.test"}


@in_loop
async def test_many_held_hosts_hide_no_free_one(bench: Bench) -> None:
    async with bench.open(gap=10) as frontier:
        held = [f"h{n}.test" for n in range(300)]
        await discover(frontier, *(f"http://{host}/" for host in held))
        for host in held:
            await frontier.block_host(host, 3600, "")
        await discover(frontier, A)
        found: list[str] = []
        for _ in range(10):
            found += urls(await take(frontier, 10))
        assert found == [A]


# records


@in_loop
async def test_what_is_known_of_a_url(bench: Bench) -> None:
    async with bench.open() as frontier:
        assert await operations.look(frontier, A) is None
        await discover(frontier, A)
        queued = await known(frontier, A)
        assert (queued.state, queued.record, queued.deaths) == ("queued", UrlRecord(A), 0)
        [lease] = await take(frontier)
        leased = await known(frontier, A)
        assert leased.state == "leased"
        assert leased.time == pytest.approx(frontier.now() + LEASE, abs=5)
        await finish(frontier, lease, delay=None)
        assert (await known(frontier, A)).state == "retired"


@in_loop
async def test_reschedule_moves_the_next_visit(bench: Bench) -> None:
    async with bench.open() as frontier:
        assert await operations.reschedule(frontier, A, 0.0) == "unknown"
        await discover(frontier, A)
        assert await operations.reschedule(frontier, A, 3600) == "moved"
        assert await take(frontier) == []
        assert await operations.reschedule(frontier, A, None) == "moved"
        assert (await known(frontier, A)).state == "retired"
        assert await operations.reschedule(frontier, A, 0.0) == "moved"
        [lease] = await take(frontier)
        assert await operations.reschedule(frontier, A, 0.0) == "leased"
        assert await finish(frontier, lease)


@in_loop
async def test_a_page_asked_for_by_an_operator_is_taken_by_the_run_under_way(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        await frontier.begin()
        [lease] = await take(frontier)
        await finish(frontier, lease)
        await advance(frontier, 5)
        await operations.reschedule(frontier, A, 0.0)
        assert urls(await take(frontier)) == [A]


@in_loop
async def test_a_forgotten_page_is_gone_and_its_worker_is_refused(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A, B)
        leases = await take(frontier)
        assert await operations.forget(frontier, A)
        assert not await operations.forget(frontier, A)
        assert await operations.look(frontier, A) is None
        accepted = {lease.record.url: await finish(frontier, lease) for lease in leases}
        assert accepted == {A: False, B: True}
        assert [record.url async for record in operations.records(frontier)] == [B]
        assert (await operations.counts(frontier)).known == 1


@in_loop
async def test_amend_changes_fields_and_moves_between_lists(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        before = (await known(frontier, A)).record
        assert await operations.amend(frontier, before, list=2, rank=3.5)
        after = await known(frontier, A)
        assert (after.record.list, after.record.rank, after.state) == (2, 3.5, "queued")
        assert not await operations.amend(frontier, before, rank=1.0)
        assert urls(await take(frontier)) == [A]


@in_loop
async def test_amend_does_not_touch_what_a_worker_will_overwrite(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        assert not await operations.amend(frontier, lease.record, rank=1.0)
        await finish(frontier, lease)
        assert await operations.amend(frontier, (await known(frontier, A)).record, rank=1.0)
        assert (await known(frontier, A)).record.rank == 1.0


@in_loop
async def test_a_visited_record_with_history_can_be_amended(bench: Bench) -> None:
    from incrawl.core.records import Observation

    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        history = tuple(Observation(3600.0 * 1.37**n, n % 2 == 0) for n in range(20))
        await finish(frontier, lease, history=history, refresh_time=12345.678, type="text/html", size=999)
        assert await operations.amend(frontier, (await known(frontier, A)).record, interest=0.5)


@in_loop
async def test_counts_and_hosts_add_up(bench: Bench) -> None:
    async with bench.open(partitions=4) as frontier:
        await discover(frontier, *pages(A, 3), *pages(B, 2), C)
        await frontier.block_host("c.test", 60, "Retry-After")
        leases = await take(frontier, 2)
        await finish(frontier, leases[0])
        counts = await operations.counts(frontier)
        assert (counts.known, counts.leased, counts.quarantined) == (6, len(leases) - 1, 0)
        assert counts.due == 6 - len(leases)
        hosts = {host.name: host async for host in operations.hosts(frontier)}
        assert sum(host.queued for host in hosts.values()) == 6 - len(leases) + 1
        assert hosts["c.test"].reason == "Retry-After"
        due = [url async for url, _ in operations.due_urls(frontier, 100)]
        assert len(due) == counts.due

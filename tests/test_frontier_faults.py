"""Answers that are lost, calls that are huge, looks in vain, keys that are gone: the frontier bears them."""

from __future__ import annotations

import asyncio

import pytest
from frontiers import LEASE, Bench, advance, discover, in_loop, known, take, urls
from redis.asyncio import Redis, RedisCluster
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ResponseError

from incrawl.collection.survey import batches
from incrawl.frontier import keys, operations
from incrawl.frontier.adoption import Adopted
from incrawl.frontier.caller import is_away
from incrawl.frontier.frontier import Ending, Frontier
from incrawl.frontier.glance import look_many
from incrawl.frontier.packing import unpack
from incrawl.recovery.frontier_file import entries_of

# As redis-py gives them: of Redis 7 and later, and of 6.2, which tells them amid a sentence about the script.
SENTENCE = "Error running script (call to f_6b1bf): @user_script:51: @user_script: 51: "
AWAY = [
    "MISCONF Errors writing to the AOF file: No space left on device",
    f"{SENTENCE}-OOM command not allowed when used memory > 'maxmemory'.",
    f"{SENTENCE}-READONLY You can't write against a read only replica.",
    f"{SENTENCE}-NOREPLICAS Not enough good replicas to write.",
]
MISTAKES = [
    f"{SENTENCE}-WRONGTYPE Operation against a key holding the wrong kind of value",
    "Error running script: attempt to index a nil value (global 'OOM')",
    "NOPERM this user has no permissions to run the 'evalsha' command",
]

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


@pytest.mark.parametrize("told", AWAY)
def test_a_server_that_will_recover_is_waited_for_whatever_its_version(told: str) -> None:
    assert is_away(ResponseError(told))


@pytest.mark.parametrize("told", MISTAKES)
def test_a_mistake_is_not_waited_for(told: str) -> None:
    assert not is_away(ResponseError(told))


def idle_connections(client: Redis | RedisCluster) -> list[AbstractConnection]:
    if isinstance(client, RedisCluster):
        return [connection for node in client.get_nodes() for connection in node._free]
    return list(client.connection_pool._available_connections)


@in_loop
async def test_a_call_whose_connection_is_closed_at_any_moment_is_made_again(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)

        async def call_after(turns: int) -> int:
            for _ in range(turns):
                await asyncio.sleep(0)
            return int(await frontier.command("EXISTS", keys.meta(prefix)))

        prefix = keys.namespace_prefix(0, frontier.namespace)
        for turns in range(6):
            closing = [connection.disconnect() for connection in idle_connections(frontier.client)]
            assert closing
            *_, answer = await asyncio.gather(*closing, call_after(turns))
            assert answer == 1


@in_loop
async def test_a_version_whose_answer_was_lost_is_ours_although_another_worker_came_since(
    bench: Bench,
) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        record = lease.record._replace(visits=1, last_crawl=frontier.now(), document="20260101T000000Z-aaaa")
        assert await frontier.complete(lease, record, delay=0, since_response=None)
        await frontier.begin()
        [other] = await take(frontier)
        failed = other.record._replace(visits=2, failures=1)
        assert await frontier.complete(other, failed, delay=100, since_response=None)
        assert await frontier.complete(lease, record, delay=0, since_response=None)
        assert (await known(frontier, A)).record.visits == 2
        assert not await frontier.complete(other, failed._replace(visits=3), delay=0, since_response=None)


@in_loop
async def test_no_call_is_too_large_for_a_script(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, *(f"{A}{n}" for n in range(4500)))
        leases = []
        while found := (await frontier.lease(0, 10_000)).leases:
            leases += found
        assert len(leases) == 4500
        assert await frontier.renew(leases) == []
        endings = [Ending(lease, lease.record, 100.0, None) for lease in leases]
        assert all(await frontier.complete_all(endings))


@in_loop
async def test_looks_in_vain_leave_the_servers_disk_alone(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        [lease] = await take(frontier)
        await frontier.complete(lease, lease.record, delay=1000, since_response=None)
        before, started = await writes(frontier), await frontier.run("clock", 0)
        for _ in range(50):
            assert await take(frontier) == []
        seconds = (await frontier.run("clock", 0) - started) / 1000
        assert await writes(frontier) - before <= seconds + 1


async def writes(frontier: Frontier) -> int:
    """Changes that the partition's server has made to its data."""
    node = frontier.client
    if isinstance(node, RedisCluster):
        node = node.get_node_from_key(keys.tag(0).decode())
    facts = await node.execute_command("INFO", "persistence")
    return int(facts["rdb_changes_since_last_save"])


@in_loop
async def test_a_server_that_has_evicted_who_has_what_still_gives_out_pages(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        await take(frontier)
        await advance(frontier, LEASE + 1)
        assert await take(frontier) == []  # A is suspect now
        await discover(frontier, B)
        await take(frontier)
        await frontier.client.delete(keys.namespace_prefix(0, frontier.namespace) + b"owners")
        await advance(frontier, LEASE + 1)
        await discover(frontier, C)
        await frontier.begin()
        assert urls(await take(frontier)) == [C]
        assert await take(frontier, alone=True) == []
        counts = await operations.counts(frontier)
        assert (counts.known, counts.leased, counts.suspects) == (3, 1, 0)


@in_loop
async def test_one_record_that_cannot_be_read_stops_nobody_who_reads_all(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A, B)
        place, prefix = frontier.place(A), keys.namespace_prefix(0, frontier.namespace)
        await frontier.client.hset(keys.bucket(prefix, 0), place.id, b"\x00\x07\xc1")
        assert [record.url async for record in operations.records(frontier)] == [B]
        assert [entry.record.url async for batch in batches(frontier) for entry in batch] == [B]
        entries = [entry async for entry in entries_of(frontier)]
        assert [unpack(entry.packed).url for entry in entries if isinstance(entry, Adopted)] == [B]
        assert [url async for url, _ in operations.due_urls(frontier, 10)] == [B]
        assert [glance.record.url for glance in await look_many(frontier, [A, B])] == [B]
        assert urls(await take(frontier)) == [B]


@in_loop
async def test_a_record_of_a_list_that_is_none_is_leased_and_completed(bench: Bench) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        place, prefix = frontier.place(A), keys.namespace_prefix(0, frontier.namespace)
        packed = await frontier.client.hget(keys.bucket(prefix, 0), place.id)
        await frontier.client.hset(keys.bucket(prefix, 0), place.id, packed[:1] + b"\x07" + packed[2:])
        [lease] = await take(frontier)
        assert lease.record.list == 1
        assert await frontier.complete(lease, lease.record, delay=10.0, since_response=None)
        assert (await known(frontier, A)).state == "queued"

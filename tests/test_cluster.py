"""A cluster that loses a primary: what was known stays known, and the crawl goes on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from crawls import until
from drills import LONG, crawl_in
from frontiers import Bench, Server, discover, finish, in_loop, running_cluster, running_server, take
from redis.exceptions import NoPermissionError
from scrapy.settings import Settings
from swarm import Forker, Swarm, fetched, site_of, tree

from incrawl.config import Config
from incrawl.frontier import keys, operations
from incrawl.frontier.connection import connect
from incrawl.frontier.frontier import Frontier

PARTITIONS = 16


@pytest.fixture(scope="module")
def cluster() -> Iterator[list[Server]]:
    """A cluster of this module's own: its last tests break it."""
    with running_cluster() as servers:
        yield servers


def bench_of(cluster: list[Server]) -> Bench:
    return Bench(cluster[1].url, clustered=True)


async def known_urls(frontier: Frontier) -> set[str]:
    return {record.url async for record in operations.records(frontier)}


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [message for message in caplog.messages if "No replica has acknowledged" in message]


@in_loop
async def test_new_links_wait_for_a_replica_but_not_for_ever(
    cluster: list[Server], caplog: pytest.LogCaptureFixture
) -> None:
    async with bench_of(cluster).open(partitions=PARTITIONS) as frontier:
        url = "http://a.test/"
        prefix = keys.namespace_prefix(frontier.place(url).host.partition, frontier.namespace)
        owner = frontier.client.get_node_from_key(prefix.decode()).port
        [number] = [at for at, server in enumerate(cluster) if server.port == owner]
        await discover(frontier, url)
        with cluster[number + 3].client() as replica:
            replica.execute_command("READONLY")
            assert replica.hget(keys.meta(prefix), b"urls") == b"1"
        assert told(caplog) == []
        cluster[number + 3].signal(signal.SIGSTOP)
        assert await discover(frontier, f"{url}2") == 1
        assert len(told(caplog)) == 1
        assert await discover(frontier, f"{url}3") == 1  # not waited for again so soon
        assert len(told(caplog)) == 1
        cluster[number + 3].signal(signal.SIGCONT)


@in_loop
async def test_every_primary_is_looked_at_for_what_it_lacks(
    cluster: list[Server], state_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings({"REDIS_URL": cluster[1].url, "INCRAWL_STATE_DIR": str(state_dir)})
    with cluster[2].client() as client:
        client.config_set("maxmemory", "100mb")
        client.config_set("maxmemory-policy", "allkeys-lru")
        await (await connect(settings, Config.from_settings(settings))).aclose()
        client.config_set("maxmemory", "0")
        client.config_set("maxmemory-policy", "noeviction")
    [message] = [message for message in caplog.messages if "evicts" in message]
    assert message.startswith(f"127.0.0.1:{cluster[2].port}: ")


@in_loop
async def test_new_links_wait_for_the_replica_of_a_single_server(caplog: pytest.LogCaptureFixture) -> None:
    at_once = ("--repl-diskless-sync-delay", "0")
    with (
        running_server(*at_once) as primary,
        running_server("--replicaof", f"127.0.0.1 {primary.port}") as replica,
    ):
        with primary.client() as client:
            until(lambda: client.info("replication").get("slave0", {}).get("state") == "online")
        async with Bench(primary.url).open() as frontier:
            await discover(frontier, "http://a.test/")
            assert told(caplog) == []
            replica.signal(signal.SIGSTOP)
            await discover(frontier, "http://a.test/2")
            assert len(told(caplog)) == 1


@in_loop
async def test_a_user_that_may_not_wait_for_replicas_is_told_so() -> None:
    at_once = ("--repl-diskless-sync-delay", "0")
    with running_server(*at_once) as primary, running_server("--replicaof", f"127.0.0.1 {primary.port}"):
        with primary.client() as client:
            until(lambda: client.info("replication").get("slave0", {}).get("state") == "online")
            client.acl_setuser("default", enabled=True, nopass=True, commands=["-wait"])
        async with Bench(primary.url).open() as frontier:
            with pytest.raises(NoPermissionError, match="wait"):
                await discover(frontier, "http://a.test/")


async def find_pages(frontier: Frontier, finder: int, acknowledged: set[str], stop: asyncio.Event) -> None:
    """Discovers pages of many hosts, ten at a time, and notes which ones count as known."""
    batch = 0
    while not stop.is_set():
        found = [f"http://h{finder}-{batch % 50}.test/{batch}/{n}" for n in range(10)]
        await discover(frontier, *found)
        acknowledged.update(found)
        batch += 1


async def visit_pages(frontier: Frontier, stop: asyncio.Event) -> None:
    while not stop.is_set():
        for lease in await take(frontier, 5):
            await finish(frontier, lease)


async def fail_over(cluster: list[Server], number: int) -> None:
    """Kills a primary and waits until its replica has taken over."""
    await asyncio.to_thread(cluster[number].kill)
    replica = cluster[number + 3].client()

    def has_taken_over() -> bool:
        facts = replica.execute_command("CLUSTER INFO")
        return replica.info("replication")["role"] == "master" and facts["cluster_state"] == "ok"

    await asyncio.to_thread(until, has_taken_over)
    replica.close()


@in_loop
async def test_no_known_url_is_lost_in_a_failover(cluster: list[Server]) -> None:
    acknowledged: set[str] = set()
    async with bench_of(cluster).open(partitions=PARTITIONS) as frontier:
        stop = asyncio.Event()
        tasks = [asyncio.create_task(find_pages(frontier, n, acknowledged, stop)) for n in range(4)]
        tasks.append(asyncio.create_task(visit_pages(frontier, stop)))
        await asyncio.to_thread(until, lambda: len(acknowledged) > 500)
        await fail_over(cluster, 0)
        before = len(acknowledged)
        await asyncio.to_thread(until, lambda: len(acknowledged) > before + 500)
        stop.set()
        await asyncio.gather(*tasks)
        lost = acknowledged - await known_urls(frontier)
        print(f"\nfailover: {len(acknowledged)} URLs acknowledged, {len(lost)} lost")
        assert not lost


@in_loop
async def test_links_that_only_a_dying_primary_had_are_made_known_again(
    cluster: list[Server], state_dir: Path
) -> None:
    """Its replica hears of the write no more: the call that made it must not count it as kept."""
    primary, replica = cluster[1], cluster[4]
    async with Bench(cluster[2].url, clustered=True).open("other/spider", partitions=PARTITIONS) as frontier:

        def goes_to_primary(url: str) -> bool:
            prefix = keys.namespace_prefix(frontier.place(url).host.partition, frontier.namespace)
            return bool(frontier.client.get_node_from_key(prefix.decode()).port == primary.port)

        first, second, *_ = filter(goes_to_primary, (f"http://h{number}.test/" for number in range(200)))
        await discover(frontier, first)  # from now on it is known that there is a replica
        replica.signal(signal.SIGSTOP)
        with primary.client() as client:
            client.execute_command("CLIENT KILL TYPE replica")
        late = asyncio.create_task(discover(frontier, second))
        await asyncio.sleep(0.3)
        assert not late.done()
        await asyncio.to_thread(primary.kill)
        # A worker that starts now, while nobody has taken over, starts all the same.
        settings = Settings({"REDIS_URL": cluster[2].url, "INCRAWL_STATE_DIR": str(state_dir)})
        await (await connect(settings, Config.from_settings(settings))).aclose()
        replica.signal(signal.SIGCONT)
        await late
        assert {first, second} <= await known_urls(frontier)


@pytest.mark.soak
def test_a_crawl_goes_on_after_a_failover(forker: Forker, state_dir: Path) -> None:
    with running_cluster() as cluster, site_of(tree(1000)) as site:
        crawl = crawl_in(state_dir, 5, REDIS_URL=cluster[1].url)
        with Swarm(forker, crawl, f"{site.url('/')} 9") as swarm:
            workers = [swarm.start() for _ in range(3)]
            for number in (0, 2):
                until(fetched(site, 200 * (number + 1)), LONG)
                asyncio.run(fail_over(cluster, number))
            for worker in workers:
                worker.wait(LONG)
                assert "CROSSSLOT" not in worker.log
            records = swarm.records()
        assert {site.url(path) for path in site.pages} == records.keys()
        assert all(record.visits >= 1 for record in records.values())
        again = len(site.fetches) - len(site.pages)
        print(f"\ncrawl over two failovers: {len(records)} pages, none lost, {again} fetched again")

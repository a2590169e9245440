"""A server that refuses writes, its memory full or its replicas gone: all wait, nothing is lost."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from crawls import until
from drills import LONG, Figures, assert_whole, crawl_in, show
from frontiers import Bench, discover, finish, in_loop, known, running_server, take
from swarm import Forker, Swarm, fetched, site_of, tree

from incrawl.frontier import operations

A, B = "http://a.test/", "http://b.test/"
REFUSALS = [("maxmemory", "1"), ("min-replicas-to-write", "1")]


@pytest.mark.parametrize(("setting", "value"), REFUSALS)
@in_loop
async def test_calls_wait_until_the_server_takes_writes_again(setting: str, value: str) -> None:
    with running_server("--maxmemory-policy", "noeviction") as server, server.client() as admin:
        async with Bench(server.url).open(gap=10) as frontier:
            await discover(frontier, A)
            [lease] = await take(frontier)
            admin.config_set(setting, value)
            calls = [
                asyncio.create_task(finish(frontier, lease)),
                asyncio.create_task(discover(frontier, B)),
                asyncio.create_task(frontier.renew([lease])),
            ]
            done, _ = await asyncio.wait(calls, timeout=0.3)
            assert not done
            # Reading still works, and shows that no call was carried out by half.
            assert (await known(frontier, A)).state == "leased"
            assert await operations.look(frontier, B) is None
            assert (await operations.counts(frontier)).known == 1
            admin.config_set(setting, "0")
            accepted, new, _ = await asyncio.gather(*calls)
            assert (accepted, new) == (True, 1)
            assert (await known(frontier, A)).record.visits == 1


def fill_memory(forker: Forker, state_dir: Path, *, pages: int, times: int, lease: float) -> Figures:
    """Again and again the server's memory is full while workers crawl."""
    with (
        running_server("--appendonly", "yes") as server,
        server.client() as admin,
        site_of(tree(pages)) as site,
        Swarm(forker, crawl_in(state_dir, lease, REDIS_URL=server.url), f"{site.url('/')} 9") as swarm,
    ):
        worker = swarm.start()
        for time in range(times):
            until(fetched(site, 30 + time * pages // (2 * times)), LONG)
            admin.config_set("maxmemory", 1)
            until(lambda: worker.log.count("memory is full") == time + 1)  # noqa: B023
            assert worker.running
            late = swarm.start()  # one that starts while memory is full waits as well
            until(lambda: "memory is full" in late.log)  # noqa: B023
            assert '"known"' in swarm.ask("status", "--json")  # operators can look all the same
            admin.config_set("maxmemory", 0)
            until(lambda: worker.log.count("The server is back") == time + 1)  # noqa: B023
        for each in swarm.workers:
            each.wait(LONG)
        assert worker.log.count("memory is full") == times
        return {
            "times full": times,
            "workers": len(swarm.workers),
            **assert_whole(swarm, site),
            "messages in a worker's log": worker.log.count("memory is full"),
        }


def test_a_crawl_pauses_while_memory_is_full_and_goes_on(forker: Forker, state_dir: Path) -> None:
    show("memory full", fill_memory(forker, state_dir, pages=120, times=1, lease=1))


@pytest.mark.soak
def test_a_crawl_pauses_whenever_memory_is_full(forker: Forker, state_dir: Path) -> None:
    show("memory full five times", fill_memory(forker, state_dir, pages=600, times=5, lease=10))


def test_a_crawl_is_warned_of_a_server_that_forgets(forker: Forker, state_dir: Path) -> None:
    options = ("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
    with running_server(*options) as server, site_of(tree(1)) as site:
        crawl = crawl_in(state_dir, 10, REDIS_URL=server.url)
        with Swarm(forker, crawl, site.url("/")) as swarm:
            worker = swarm.start()
            worker.wait(LONG)
            assert "maxmemory-policy noeviction" in worker.log
            assert "appendonly yes" in worker.log


def test_a_worker_that_may_not_lease_any_more_ends_and_another_goes_on(
    forker: Forker, state_dir: Path
) -> None:
    """Pages that end after the leasing has failed must not keep it waiting for more."""
    answer = threading.Event()

    async def keep_waiting(path: str, worker: int) -> None:
        if path == "/p/1":
            await asyncio.to_thread(answer.wait, LONG)

    with (
        running_server("--appendonly", "yes") as server,
        server.client() as admin,
        site_of(tree(40)) as site,
        Swarm(forker, crawl_in(state_dir, 2, REDIS_URL=server.url), f"{site.url('/')} 9") as swarm,
    ):
        site.hook = keep_waiting
        worker = swarm.start()
        until(lambda: "/p/1" in site.fetchers())
        admin.execute_command("ACL", "SETUSER", "default", "-eval", "-evalsha")
        until(lambda: "Leasing has failed" in worker.log)
        answer.set()
        worker.wait()
        admin.execute_command("ACL", "SETUSER", "default", "+eval", "+evalsha")
        site.hook = None
        swarm.start().wait(LONG)
        assert {record.visits for record in swarm.records().values()} == {1}
        assert len(swarm.records()) == len(site.pages)

"""Workers that are cut off, that have wrong clocks, or that a page kills."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from pathlib import Path

from crawls import until
from drills import assert_whole, crawl_in
from swarm import Forker, Swarm, site_of, tree


def test_a_worker_cut_off_for_longer_than_its_lease_is_refused(forker: Forker, state_dir: Path) -> None:
    held, answer = threading.Event(), threading.Event()

    async def keep_the_first_waiting(path: str, worker: int) -> None:
        if path == "/p/1" and worker == 0:
            held.set()
            await asyncio.to_thread(answer.wait)

    with site_of(tree(3)) as site, Swarm(forker, crawl_in(state_dir, 1), f"{site.url('/')} 2") as swarm:
        site.hook = keep_the_first_waiting
        cut_off = swarm.start()
        until(held.is_set)
        until(lambda: len(site.fetches) == 4)
        cut_off.signal(signal.SIGSTOP)
        other = swarm.start()
        other.wait()
        assert swarm.crawl.one(site.url("/p/1")).record.visits == 1
        answer.set()
        cut_off.signal(signal.SIGCONT)
        cut_off.wait()
        stats = swarm.stats(cut_off)
        assert stats.get("incrawl/lease/lost", 0) + stats.get("incrawl/lease/refused", 0) >= 1
        assert site.fetchers()["/p/1"] == [0, 1]
        assert_whole(swarm, site)
        assert swarm.crawl.staged_rests() == []


def test_wrong_clocks_end_no_lease_and_shrink_no_gap(forker: Forker, state_dir: Path) -> None:
    gap, lease, hour = 0.3, 1.0, 3600.0
    slow = "/p/2"

    async def be_slow(path: str, worker: int) -> None:
        if path == slow:
            await asyncio.sleep(2 * lease)

    crawl = crawl_in(state_dir, lease, INCRAWL_HOST_INTERVAL=f"{gap}s")
    with site_of(tree(6)) as site, Swarm(forker, crawl, f"{site.url('/')} 2") as swarm:
        site.hook = be_slow
        workers = [swarm.start(clock=off) for off in (hour, -hour, 0.0)]
        for worker in workers:
            worker.wait()
        assert_whole(swarm, site)
        assert {path: len(by) for path, by in site.fetchers().items()} == dict.fromkeys(site.pages, 1)
        pauses = [fetch.time - ended for fetch, ended in zip(site.fetches[1:], site.ended[1:], strict=False)]
        assert min(pauses) >= gap
        now = time.time()
        assert all(abs((record.last_crawl or 0) - now) < 60 for record in swarm.records().values())


def test_a_page_that_kills_its_workers_is_quarantined_and_can_be_released(
    forker: Forker, state_dir: Path
) -> None:
    poison = "/p/2"
    with (
        site_of(tree(12)) as site,
        Swarm(forker, crawl_in(state_dir, 1), f"{site.url('/')} 3") as swarm,
    ):

        async def kill_who_asks(path: str, worker: int) -> None:
            if path == poison:
                swarm.workers[worker].signal(signal.SIGKILL)

        site.hook = kill_who_asks
        died = True
        while died:
            worker = swarm.start()
            worker.wait()
            died = worker.number in site.fetchers()[poison]
        assert len(site.fetchers()[poison]) == 1 + 3  # once among others, three times alone
        assert swarm.crawl.counts().quarantined == 1
        assert json.loads(swarm.ask("status", "--json"))["quarantined"] == 1
        assert_whole(swarm, site, but=frozenset({poison}))
        assert json.loads(swarm.ask("recrawl", "--quarantined", "--json"))["due_now"] == 1
        site.hook = None
        swarm.start().wait()
        assert_whole(swarm, site)

"""Drills: workers that are cut off, that have wrong clocks, or that a page kills. Each returns figures."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from pathlib import Path

from crawls import until
from drills import LONG, Figures, assert_whole, crawl_in
from swarm import Forker, Swarm, site_of, tree

HOUR = 3600.0


def cut_off(forker: Forker, state_dir: Path, *, pages: int, held: int, lease: float) -> Figures:
    """A worker stands still for longer than its leases while it waits for `held` answers, then goes on."""
    slow = {f"/p/{number}" for number in range(1, held + 1)}
    answer = threading.Event()

    async def keep_the_first_waiting(path: str, worker: int) -> None:
        if worker == 0 and path in slow:
            await asyncio.to_thread(answer.wait)

    # Pages below the slow ones would not be known while their worker stands still.
    with (
        site_of(tree(pages, fan=pages)) as site,
        Swarm(forker, crawl_in(state_dir, lease), f"{site.url('/')} 2") as swarm,
    ):
        site.hook = keep_the_first_waiting
        late = swarm.start()
        until(lambda: len(site.fetches) == len(site.pages), LONG)
        late.signal(signal.SIGSTOP)
        other = swarm.start()
        other.wait(LONG)
        assert all(swarm.crawl.one(site.url(path)).record.visits == 1 for path in slow)
        answer.set()
        late.signal(signal.SIGCONT)
        late.wait(LONG)
        stats = swarm.stats(late)
        refused = stats.get("incrawl/lease/lost", 0) + stats.get("incrawl/lease/refused", 0)
        assert refused >= held
        assert all(site.fetchers()[path] == [0, 1] for path in slow)
        assert_whole(swarm, site)
        assert swarm.crawl.staged_rests() == []
        versions = sum(1 for _ in swarm.crawl.repository().changes())
        return {
            "pages": len(site.pages),
            "late results": held,
            "refused": refused,
            "second versions": versions - len(site.pages),
        }


def wrong_clocks(forker: Forker, state_dir: Path, *, pages: int, workers: int, slow: int) -> Figures:
    """Workers whose clocks are an hour ahead, an hour behind and right share a host with a pause."""
    gap, lease = 0.3, 1.0
    slow_pages = {f"/p/{number}" for number in range(2, 2 + slow)}

    async def be_slow(path: str, worker: int) -> None:
        if path in slow_pages:
            await asyncio.sleep(2 * lease)

    crawl = crawl_in(state_dir, lease, INCRAWL_HOST_INTERVAL=f"{gap}s")
    with site_of(tree(pages)) as site, Swarm(forker, crawl, f"{site.url('/')} 9") as swarm:
        site.hook = be_slow
        crew = [swarm.start(clock=(HOUR, -HOUR, 0.0)[number % 3]) for number in range(workers)]
        for worker in crew:
            worker.wait(LONG)
        assert_whole(swarm, site)
        twice = sum(len(by) - 1 for by in site.fetchers().values())
        pauses = [fetch.time - ended for fetch, ended in zip(site.fetches[1:], site.ended[1:], strict=False)]
        now = time.time()
        assert twice == 0
        assert min(pauses) >= gap
        assert all(abs((record.last_crawl or 0) - now) < 600 for record in swarm.records().values())
        return {
            "workers": workers,
            "pages": len(site.pages),
            "slower than a lease": slow,
            "leases ended early": twice,
            "gap s": gap,
            "shortest pause s": round(min(pauses), 3),
        }


def poison(forker: Forker, state_dir: Path, *, pages: int, deadly: int) -> Figures:
    """Some pages kill every worker that asks for them; in the end they are set free and do no more harm."""
    poisons = frozenset(f"/p/{number}" for number in range(2, 2 + deadly))
    with (
        site_of(tree(pages)) as site,
        Swarm(forker, crawl_in(state_dir, 1), f"{site.url('/')} 9") as swarm,
    ):

        async def kill_who_asks(path: str, worker: int) -> None:
            if path in poisons:
                swarm.workers[worker].signal(signal.SIGKILL)

        site.hook = kill_who_asks
        died = True
        while died:
            worker = swarm.start()
            worker.wait(LONG)
            died = any(worker.number in site.fetchers()[path] for path in poisons)
        # Three times alone, and before that perhaps once among others.
        deaths = [len(site.fetchers()[path]) for path in poisons]
        assert set(deaths) <= {3, 4}
        below = frozenset(link for path in poisons for link in site.pages[path])
        assert json.loads(swarm.ask("status", "--json"))["quarantined"] == deadly
        assert_whole(swarm, site, but=poisons, unknown=below)
        assert json.loads(swarm.ask("recrawl", "--quarantined", "--json"))["due_now"] == deadly
        site.hook = None
        swarm.start().wait(LONG)
        assert_whole(swarm, site)
        return {
            "pages": len(site.pages),
            "deadly": deadly,
            "deaths for each": f"{min(deaths)} to {max(deaths)}",
            "quarantined": deadly,
            "left after their release": swarm.crawl.counts().quarantined,
        }

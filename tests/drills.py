"""Drills: what can befall a crawl, at any size, and what must be true afterwards. Each returns figures."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from crawls import Crawl, until
from frontiers import Server
from swarm import FastSite, Forker, Swarm, Worker, fetched, page_of, site_of, tree

from incrawl.frontier import keys
from incrawl.frontier.embedded import server_info
from incrawl.frontier.server_dir import ServerDir

Figures = dict[str, Any]
LONG = 600.0  # seconds that a drill of any size may take to come to its end on a busy machine


def show(title: str, figures: Figures) -> None:
    print(f"\n{title}: " + ", ".join(f"{name} {value}" for name, value in figures.items()))


def crawl_in(state_dir: Path, lease: float, **settings: str) -> Crawl:
    return Crawl(state_dir, INCRAWL_LEASE_TIME=f"{lease}s", LOG_LEVEL="INFO", **settings)


def assert_whole(
    swarm: Swarm, site: FastSite, but: frozenset[str] = frozenset(), unknown: frozenset[str] = frozenset()
) -> Figures:
    """Every page is known, was acknowledged once, and has one version that is what the site served.

    `but` are quarantined, and the pages below them are therefore `unknown`.
    """
    paths = sorted(site.pages.keys() - but - unknown)
    urls = {site.url(path) for path in paths}
    records = swarm.records()
    lost = urls - records.keys()
    assert not lost, f"{len(lost)} URLs are lost, such as {min(lost)}"
    visits = Counter(records[url].visits for url in urls)
    assert visits == {1: len(urls)}, f"visits → pages: {visits}"
    repository = swarm.crawl.repository()
    told = Counter(change.url for change in repository.changes())
    assert set(told.values()) == {1}, "a page has a second version"
    assert told.keys() == urls
    for path in random.sample(paths, min(20, len(paths))):
        document = repository.document(site.url(path), records[site.url(path)].document or "")
        assert document == page_of(path, site.pages[path])
    counts = swarm.crawl.counts()
    assert (counts.leased, counts.suspects, counts.quarantined) == (0, 0, len(but))
    return {
        "pages": len(urls),
        "lost": len(lost),
        "never visited": visits[0],
        "visits acknowledged twice": sum(count for times, count in visits.items() if times > 1),
        "quarantined": counts.quarantined,
    }


@dataclass
class Snapshot:
    """Who had which page when a worker was killed."""

    time: float
    leases: dict[bytes, tuple[float, bytes]]  # expiry, owner


class LeaseWatch:
    """Tells how long the pages of a killed worker stay with it."""

    def __init__(self, url: str, partitions: int = 16, namespace: str = "incrawl/incremental") -> None:
        self._client = redis.Redis.from_url(url)
        self._prefixes = [keys.namespace_prefix(p, namespace) for p in range(partitions)]
        self._open: list[Snapshot] = []
        self.recoveries: list[float] = []

    def snap(self) -> None:
        self._open.append(Snapshot(time.monotonic(), self._leases()))

    def look(self) -> None:
        """A page has left its worker when another has it, nobody has it, or its worker lives and renews."""
        if not self._open:
            return
        now, leases = time.monotonic(), self._leases()
        for snapshot in list(self._open):
            for url_id, (expiry, owner) in list(snapshot.leases.items()):
                current = leases.get(url_id)
                if current is None or current[1] != owner or current[0] > expiry:
                    del snapshot.leases[url_id]
            if not snapshot.leases:
                self._open.remove(snapshot)
                self.recoveries.append(now - snapshot.time)

    def finish(self) -> list[float]:
        until(lambda: self.look() or not self._open)
        self._client.close()
        return self.recoveries

    def _leases(self) -> dict[bytes, tuple[float, bytes]]:
        read = self._client.pipeline(transaction=False)
        for prefix in self._prefixes:
            read.zrange(keys.leases(prefix), 0, -1, withscores=True).hgetall(prefix + b"owners")
        replies = read.execute()
        found = {}
        for leases, owners in zip(replies[0::2], replies[1::2], strict=True):
            found.update({url_id: (score, owners.get(url_id, b"")) for url_id, score in leases})
        return found


def kill_workers(
    forker: Forker, state_dir: Path, *, workers: int, pages: int, kills: int, lease: float
) -> Figures:
    """Workers are killed at random, one after the other, and replaced; the crawl comes to its end."""
    with (
        site_of(tree(pages)) as site,
        Swarm(forker, crawl_in(state_dir, lease), f"{site.url('/')} 9") as swarm,
    ):
        for _ in range(workers):
            swarm.start()
        until(fetched(site, 1))
        watch = LeaseWatch(ServerDir(state_dir).url())
        for number in range(kills):
            share = 1 + pages * 0.9 * number / kills
            until(lambda: watch.look() or len(site.fetches) >= share or not swarm.running())  # noqa: B023
            victim = random.choice(working(swarm, site))
            watch.snap()
            victim.kill()
            swarm.start()
        started = time.monotonic()
        extra = crawl_on(swarm, site, watch)
        recoveries = watch.finish()
        whole = assert_whole(swarm, site)
        again, idle = fetched_again(swarm, site)
        assert not idle, f"fetched again although nobody had died of them: {idle}"
        return {
            "kills": len(swarm.killed()),
            **whole,
            "fetched again": again,
            "of them not in flight at a kill": len(idle),
            "recovery, median s": round(statistics.median(recoveries), 2),
            "recovery, longest s": round(max(recoveries), 2),
            "lease s": lease,
            "after the last kill s": round(time.monotonic() - started, 1),
            "runs started afterwards": extra,
        }


def working(swarm: Swarm, site: FastSite) -> list[Worker]:
    """Workers that have begun to fetch; waits for one."""
    assert swarm.running(), swarm.workers[-1].log[-3000:]
    return until(lambda: [w for w in swarm.running() if any(f.worker == w.number for f in site.fetches)])


def crawl_on(swarm: Swarm, site: FastSite, watch: LeaseWatch | None = None) -> int:
    """Waits for the workers' own end; while pages are missing new runs are started, as cron would."""
    extra = 0
    while True:
        until(lambda: (watch and watch.look()) or not swarm.running(), patience=LONG)
        if all(record.visits for record in swarm.records().values()):
            return extra
        extra += 1
        assert extra < 10, "runs end before the work is done"
        swarm.start()


def fetched_again(swarm: Swarm, site: FastSite) -> tuple[int, list[str]]:
    """Fetches beyond each page's first, and pages that were fetched again after a worker that lived on.

    A page is acknowledged once, so what a killed worker fetched and another one again was in flight.
    """
    fetchers = site.fetchers()
    again = sum(len(workers) - 1 for workers in fetchers.values())
    return again, [path for path, workers in fetchers.items() if not set(workers[:-1]) <= swarm.killed()]


def kill_at_hubs(forker: Forker, state_dir: Path, *, rounds: int, links: int, lease: float) -> Figures:
    """A worker is killed while it works on a page full of links; another finishes: no link is lost.

    By turns amid the links, when the last of them is known, and at some time after the page was asked for.
    """
    known_at_kill: list[int] = []
    lost = 0
    pages: dict[str, list[str]] = {
        f"/hub/{n}": [f"/{n}/{link}" for link in range(links)] for n in range(rounds)
    }
    with site_of(pages) as site:
        for number in range(rounds):
            hub, namespace = f"/hub/{number}", f"hub/{number}"
            crawl = crawl_in(state_dir, lease, INCRAWL_NAMESPACE=namespace, INCRAWL_HOST_INTERVAL="0.2s")
            with Swarm(forker, crawl, f"{site.url(hub)} 1") as swarm:
                victim = swarm.start()
                until(lambda: any(f.path == hub for f in site.fetches) or not victim.running)  # noqa: B023
                known = KnownCount(ServerDir(state_dir).url(), namespace)
                amid = random.randrange(1, links // 4)  # the rest follows within milliseconds
                goal = (amid, amid, links, None)[number % 4]
                if goal is None:
                    time.sleep(0.5 * random.random())
                else:
                    until(lambda: known() > goal or not victim.running)  # noqa: B023
                victim.kill()
                known_at_kill.append(known())
                heir = swarm.start()
                until(lambda: crawl.one(site.url(hub)).record.visits or not heir.running)  # noqa: B023
                lost += links + 1 - known()
                assert not lost, heir.log[-3000:]
                assert crawl.counts().quarantined == 0
    return {
        "rounds": rounds,
        "links each": links,
        "lost": lost,
        "killed before the first link was known": sum(known <= 1 for known in known_at_kill),
        "killed amid the links": sum(1 < known <= links for known in known_at_kill),
        "killed after the last link": sum(known > links for known in known_at_kill),
    }


class KnownCount:
    """How many URLs a namespace knows, asked without delay."""

    def __init__(self, url: str, namespace: str) -> None:
        self._client = redis.Redis.from_url(url)
        self._metas = [keys.meta(keys.namespace_prefix(p, namespace)) for p in range(16)]

    def __call__(self) -> int:
        read = self._client.pipeline(transaction=False)
        for meta in self._metas:
            read.hget(meta, b"urls")
        return sum(int(count or 0) for count in read.execute())


def kill_server(
    forker: Forker,
    crawl: Crawl,
    kill: Callable[[], float],
    *,
    workers: int,
    pages: int,
    kills: int,
) -> Figures:
    """The server is killed under load; its workers wait and go on. `kill` returns how long that took."""
    resumed: list[float] = []
    with site_of(tree(pages)) as site, Swarm(forker, crawl, f"{site.url('/')} 9") as swarm:
        all_at_work = threading.Event()

        async def answer_when_all_are_at_work(path: str, worker: int) -> None:
            await asyncio.to_thread(all_at_work.wait, LONG)

        site.hook = answer_when_all_are_at_work
        for _ in range(workers):
            swarm.start()
        # A server that is away when a worker starts is a mistake in its settings, and ends it.
        until(lambda: all("Spider opened" in worker.log for worker in swarm.workers), LONG)
        site.hook = None
        all_at_work.set()
        for number in range(kills):
            share = 1 + pages * 0.9 * number / kills
            until(lambda: len(site.fetches) >= share or not swarm.running(), LONG)  # noqa: B023
            assert len(swarm.running()) == workers, swarm.workers[0].log[-3000:]
            resumed.append(kill())
        for worker in swarm.workers:
            worker.wait(LONG)
        whole = assert_whole(swarm, site)
        failed = [w.number for w in swarm.workers if swarm.code(w) or "Traceback" in w.log]
        assert not failed, swarm.workers[failed[0]].log[-4000:]
        return {
            "server kills": kills,
            **whole,
            "fetched again": sum(len(fetchers) - 1 for fetchers in site.fetchers().values()),
            "workers that failed": len(failed),
            "return to first script call, longest s": round(max(resumed), 2),
        }


def kill_outside(server: Server, away: float) -> float:
    """Kills an outside server and starts it again after a while; seconds until workers use it."""
    server.kill()
    time.sleep(away)
    server.start()
    returned = time.monotonic()
    with server.client() as client:
        until(lambda: scripts_called(client.info("all")))
    return time.monotonic() - returned


def scripts_called(facts: dict[str, Any]) -> int:
    return int(facts.get("cmdstat_evalsha", facts.get("cmdstat_eval", {})).get("calls", 0))


def restart_time(state_dir: Path) -> float:
    """Kills the embedded server; seconds until workers have brought it back and use it again."""
    info = server_info(state_dir)
    assert info is not None
    os.kill(info.pid, signal.SIGKILL)
    killed = time.monotonic()
    client = redis.Redis(unix_socket_path=str(ServerDir(state_dir).socket()))

    def is_used() -> bool:
        try:
            facts = client.info("all")
        except redis.RedisError:
            return False
        return facts["process_id"] != info.pid and scripts_called(facts) > 0

    until(is_used)
    client.close()
    return time.monotonic() - killed

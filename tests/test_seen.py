"""The local memory of known links: it saves calls, and never hides what the frontier ought to hear."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from crawls import until
from drills import LONG, assert_whole, crawl_in
from frontiers import running_server
from swarm import Forker, Swarm, site_of

from incrawl.frontier.connections import CONNECTIONS
from incrawl.seen import SeenLinks

A = "http://a.test/"


def test_a_link_found_closer_to_a_seed_is_not_covered() -> None:
    seen = SeenLinks()
    assert not seen.covers(A, 0)
    seen.add([(A, 2)], CONNECTIONS.made)
    assert [seen.covers(A, level) for level in (0, 2, 3)] == [True, True, False]
    seen.add([(A, 1)], CONNECTIONS.made)
    assert seen.covers(A, 2), "what was known at a higher level stays so"


def test_it_is_bounded_and_keeps_the_latest() -> None:
    seen = SeenLinks(size=100)
    for number in range(1000):
        seen.add([(f"{A}{number}", 0)], CONNECTIONS.made)
    covered = [seen.covers(f"{A}{number}", 0) for number in range(1000)]
    assert 100 <= sum(covered) <= 201
    assert all(covered[-100:])


def test_it_forgets_by_itself_so_that_forgotten_urls_can_come_back() -> None:
    seen = SeenLinks(lifetime=-1.0)  # at every look a generation's time is over
    seen.add([(A, 0)], CONNECTIONS.made)
    assert seen.covers(A, 0), "the older one of two generations still counts"
    assert not seen.covers(A, 0)


def test_it_forgets_what_another_connection_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server may have been away, and may have lost its last moments."""
    seen, before = SeenLinks(), CONNECTIONS.made
    seen.add([(A, 0)], before)
    assert seen.covers(A, 0)
    monkeypatch.setattr(CONNECTIONS, "made", before + 1)
    assert not seen.covers(A, 0)
    seen.add([(A, 0)], before)
    assert not seen.covers(A, 0), "this answer came over the old connection"
    seen.add([(A, 0)], before + 1)
    assert seen.covers(A, 0)


def test_links_that_the_server_has_lost_are_found_again(forker: Forker, state_dir: Path) -> None:
    """A server without a log is killed after a hub: it comes back as it was before the hub was visited."""
    hub, below = "/hub", [f"/hub/{number}" for number in range(8)]
    pages: dict[str, Sequence[str]] = {"/": [hub], hub: below, **dict.fromkeys(below, ())}
    held = {hub, below[0]}

    async def hold(path: str, worker: int) -> None:
        while path in held:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    with running_server("--appendonly", "no") as server, server.client() as admin, site_of(pages) as site:
        site.hook = hold
        crawl = crawl_in(state_dir, 2, REDIS_URL=server.url, CONCURRENT_REQUESTS="1")
        with Swarm(forker, crawl, f"{site.url('/')} 9") as swarm:
            worker = swarm.start()
            until(lambda: hub in site.fetchers())
            admin.save()
            held.discard(hub)
            until(lambda: below[0] in site.fetchers())
            server.kill()
            server.start()
            held.clear()
            until(lambda: not worker.running, LONG)
            visited = {url for url, record in swarm.records().items() if record.visits}
            assert len(site.fetchers()[hub]) == 2, "the server had not lost the visit of the hub"
    assert visited == {site.url(path) for path in pages}


def test_known_links_cost_no_call(forker: Forker, state_dir: Path) -> None:
    """Forty pages that all link to each other, one at a time: only the first one's links are looked up."""
    paths = ["/", *(f"/p/{number}" for number in range(1, 40))]
    with site_of(dict.fromkeys(paths, paths)) as site:
        crawl = crawl_in(state_dir, 10, CONCURRENT_REQUESTS="1", INCRAWL_PARTITIONS="1")
        with Swarm(forker, crawl, f"{site.url('/')} 3") as swarm:
            worker = swarm.start()
            until(lambda: not worker.running)
            told = re.search(r"'incrawl/links/looked_up': (\d+)", worker.log)
            assert_whole(swarm, site)
    assert told is not None
    looks = int(told[1])
    # Three levels: the links of the first page, and of the first one below it, where they may rank lower.
    assert looks < 3 * len(paths), f"{looks} of {len(paths) ** 2} links were looked up"
    print(f"\nknown links: {len(paths) ** 2} found, {looks} looked up")

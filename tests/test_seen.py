"""The local memory of known links: it saves calls, and never hides what the frontier ought to hear."""

from __future__ import annotations

from pathlib import Path

import redis
from crawls import until
from drills import assert_whole, crawl_in
from swarm import Forker, Swarm, site_of

from incrawl.frontier.server_dir import ServerDir
from incrawl.seen import SeenLinks

A = "http://a.test/"


def test_a_link_found_closer_to_a_seed_is_not_covered() -> None:
    seen = SeenLinks()
    assert not seen.covers(A, 0)
    seen.add([(A, 2)])
    assert [seen.covers(A, level) for level in (0, 2, 3)] == [True, True, False]
    seen.add([(A, 1)])
    assert seen.covers(A, 2), "what was known at a higher level stays so"


def test_it_is_bounded_and_keeps_the_latest() -> None:
    seen = SeenLinks(size=100)
    for number in range(1000):
        seen.add([(f"{A}{number}", 0)])
    covered = [seen.covers(f"{A}{number}", 0) for number in range(1000)]
    assert 100 <= sum(covered) <= 201
    assert all(covered[-100:])


def test_it_forgets_so_that_forgotten_urls_can_come_back() -> None:
    seen = SeenLinks(lifetime=-1.0)  # every addition finds that a generation's time is over
    seen.add([(A, 0)])
    seen.add([(f"{A}1", 0)])
    assert seen.covers(A, 0)
    seen.add([(f"{A}2", 0)])
    assert not seen.covers(A, 0)


def test_known_links_cost_no_call(forker: Forker, state_dir: Path) -> None:
    """Forty pages that all link to each other, one at a time: only the first one's links are looked up."""
    paths = ["/", *(f"/p/{number}" for number in range(1, 40))]
    with site_of(dict.fromkeys(paths, paths)) as site:
        crawl = crawl_in(state_dir, 10, CONCURRENT_REQUESTS="1", INCRAWL_PARTITIONS="1")
        with Swarm(forker, crawl, f"{site.url('/')} 3") as swarm:
            worker = swarm.start()
            until(lambda: not worker.running)
            with redis.Redis.from_url(ServerDir(state_dir).url()) as client:
                looks = client.info("commandstats")["cmdstat_hsetnx"]["calls"]
            assert_whole(swarm, site)
    # Three levels: the links of the first page, and of the first one below it, where they may rank lower.
    assert looks < 3 * len(paths), f"{looks} of {len(paths) ** 2} links were looked up"
    print(f"\nknown links: {len(paths) ** 2} found, {looks} looked up")

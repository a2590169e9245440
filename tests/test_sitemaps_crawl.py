"""Sitemaps and feeds in real crawls: what they name enters, and their dates bring visits forward."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from crawls import Crawl, Done, short_dir
from hostile import HostileServer, fixed

from incrawl.core.lastmod import Claims

SCHEMA = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def sitemap(*entries: tuple[str, float | None]) -> str:
    lines = "".join(
        f"<url><loc>{url}</loc>{f'<lastmod>{iso(date)}</lastmod>' if date else ''}</url>"
        for url, date in entries
    )
    return f"<urlset {SCHEMA}>{lines}</urlset>"


def iso(date: float) -> str:
    return datetime.fromtimestamp(date, UTC).isoformat()


@dataclass
class Told:
    server: HostileServer
    crawl: Crawl
    runs: list[Done]
    asked: list[list[str]]  # paths asked for in each run


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    """Two runs; in between the sitemap is told that two pages have changed, of which one has."""
    with short_dir() as state_dir, HostileServer() as server:
        base = server.url("")
        index = f"<sitemapindex {SCHEMA}><sitemap><loc>{base}/map.xml.gz</loc></sitemap></sitemapindex>"
        server.pages |= {
            "/robots.txt": fixed(
                f"Sitemap: {base}/index.xml\nUser-agent: *\nDisallow: /secret", kind="text/plain"
            ),
            "/index.xml": fixed(index, kind="application/xml"),
            "/front": fixed("<link rel=alternate type='application/rss+xml' href=/feed><p>front</p>"),
            "/feed": fixed(
                f"<rss><channel><item><link>{base}/good/from-feed</link></item></channel></rss>",
                kind="application/rss+xml",
            ),
            "/changes": fixed("<p>before</p>"),
            "/pretends": fixed("<p>always the same</p>"),
        }
        paths = ["/changes", "/pretends", "/good/quiet", "/secret/1", "/picture.png"]
        entries = [(base + path, None) for path in paths] + [("http://other.test/x", None)]
        server.pages["/map.xml.gz"] = fixed(
            gzip.compress(sitemap(*entries).encode()), kind="application/gzip"
        )
        crawl = Crawl(state_dir, INCRAWL_AVERAGE_REFRESH_TIME="1d", INCRAWL_MIN_REFRESH_TIME="0.1s")
        told = Told(server, crawl, [], [])
        run(told, urls=f"{server.url('/front')} level=2")
        time.sleep(1.1)
        now = time.time()
        dated = sitemap(
            (f"{base}/changes", now), (f"{base}/pretends", now), (f"{base}/good/quiet", now - 86400)
        )
        server.pages["/map.xml.gz"] = fixed(gzip.compress(dated.encode()), kind="application/gzip")
        server.pages["/changes"] = fixed("<p>after</p>")
        time.sleep(0.1)
        crawl.ask(lambda frontier: reschedule(frontier, f"{base}/map.xml.gz"))
        run(told)
        yield told


def run(told: Told, **arguments: str) -> None:
    before = len(told.server.log)
    told.runs.append(told.crawl.run("incremental", **arguments))
    told.asked.append(told.server.paths()[before:])


async def reschedule(frontier: object, url: str) -> None:
    from incrawl.frontier import operations

    await operations.reschedule(frontier, url, 0.0)  # type: ignore[arg-type]


def test_what_is_named_enters(told: Told) -> None:
    first, asked = told.runs[0], told.asked[0]
    assert first.code == 0, first.log
    files = ["/robots.txt", "/index.xml", "/map.xml.gz", "/feed"]
    pages = ["/front", "/good/from-feed", "/changes", "/pretends", "/good/quiet"]
    assert sorted(asked) == sorted([*files, *pages])
    assert first.stats["incrawl/sitemaps/read"] == 3
    assert first.stats["incrawl/robots/links"] == 1
    assert first.stats["incrawl/content/links"] == 1


def test_dates_bring_visits_forward(told: Told) -> None:
    second, asked = told.runs[1], told.asked[1]
    assert second.code == 0, second.log
    assert sorted(asked) == ["/changes", "/map.xml.gz", "/pretends"]
    assert second.visits() == {"changed": 2, "unchanged": 1}
    assert second.stats["incrawl/sitemaps/brought_forward"] == 2


def test_claims_are_put_to_the_test(told: Told) -> None:
    host = f"127.0.0.1:{told.server.port}"
    found = Claims.unpack(told.crawl.ask(lambda frontier: frontier.cache_get(host, "lastmod")))
    assert (round(found.right), round(found.wrong)) == (1, 1)
    liar = Claims(wrong=10)
    told.crawl.ask(lambda frontier: frontier.cache_set(host, "lastmod", liar.pack(), 60.0))
    base, now = told.server.url(""), time.time()
    told.server.pages["/map.xml.gz"] = fixed(sitemap((f"{base}/changes", now)), kind="application/xml")
    told.crawl.ask(lambda frontier: reschedule(frontier, f"{base}/map.xml.gz"))
    run(told)
    assert told.asked[-1] == ["/map.xml.gz"]
    assert told.runs[-1].stats["incrawl/sitemaps/disbelieved"] == 1


def test_a_sitemap_that_unfolds_needs_little_memory(state_dir: Path) -> None:
    bomb = gzip.compress(b"<urlset>" * (30 * 2**20 // 8), 1)
    with HostileServer({"/map": fixed(bomb, kind="application/gzip")}) as server:
        server.pages["/robots.txt"] = fixed(f"Sitemap: {server.url('/map')}", kind="text/plain")
        done = Crawl(state_dir).run(urls=f"{server.url('/good')} level=2")
        assert done.code == 0, done.log
        assert done.stats["incrawl/sitemaps/read"] == 1
        assert done.stats["peak_memory"] < 384 * 2**20

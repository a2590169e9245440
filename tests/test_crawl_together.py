"""Several runs at once, on an outside server: they share the work, and each host is left in peace."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from crawls import Crawl, Done, Hit, Reply, Site, html, short_dir, until

from incrawl.frontier.binary import find_binary

INTERVAL = 0.3
PAGES = 8


@dataclass
class Together:
    sites: list[Site]
    crawl: Crawl
    done: list[Done]


@pytest.fixture(scope="module")
def told() -> Iterator[Together]:
    """Two runs, the second started while the first one works, on a plain Valkey server on TCP."""
    with ExitStack() as stack:
        state_dir = stack.enter_context(short_dir())
        sites = [stack.enter_context(Site({}, host=f"127.0.0.{number}")) for number in (1, 2, 3)]
        fill(sites)
        crawl = Crawl(
            state_dir,
            REDIS_URL=stack.enter_context(valkey(state_dir)),
            INCRAWL_HOST_INTERVAL=f"{INTERVAL}s",
            INCRAWL_LEASE_TIME="2s",  # shorter than the slow page takes
            RETRY_TIMES="1",
        )
        # Visited first, the pages that lead away have every host wait for the next one, in a circle.
        urls = ",".join([site.url("/away") for site in sites] + [site.url("/") for site in sites])
        first = stack.enter_context(crawl.start(urls=urls))
        until(lambda: sites[0].paths() or not first.running)
        second = stack.enter_context(crawl.start(urls=urls))
        yield Together(sites, crawl, [first.wait(), second.wait()])


def fill(sites: list[Site]) -> None:
    """On each site plain pages, one that is slow, one that answers at the second time, two that lead away."""
    for site, other in zip(sites, sites[1:] + sites[:1], strict=True):
        plain = [f"/page/{number}" for number in range(PAGES)]
        away = {"/away": "/page/1", "/there": "/there/in/fact"}
        site.pages |= {path: Reply(html(text=path)) for path in (*plain, "/there/in/fact")}
        site.pages["/"] = Reply(html(*plain, "/slow", "/late", *away))
        site.pages["/slow"] = Reply(html(text="slow"), delay=2.5)
        site.pages["/late"] = lambda earlier: Reply(html(), status=200 if earlier else 500)
        for path, target in away.items():
            target = site.url(target) if path == "/there" else other.url(target)
            site.pages[path] = Reply(status=302, headers={"Location": target})


class valkey:  # noqa: N801 - used like a function
    """A plain server on a free port of loopback, as an operator would run one; gives its URL."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = folder / "outside"

    def __enter__(self) -> str:
        self.folder.mkdir()
        words = [find_binary(), "--port", str(self.port), "--bind", "127.0.0.1", "--appendonly", "yes"]
        self.process = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.DEVNULL)
        until(lambda: socket.socket().connect_ex(("127.0.0.1", self.port)) == 0)
        return f"redis://127.0.0.1:{self.port}/0"

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def test_both_end_well_and_both_have_worked(told: Together) -> None:
    for done in told.done:
        assert done.code == 0, done.log
        assert sum(done.visits().values()) > 0
        assert "Traceback" not in done.log


def test_no_page_is_visited_twice_and_none_is_left_out(told: Together) -> None:
    pages = sum(len(site.pages) - 1 for site in told.sites)  # /there/in/fact is known by another name
    together = [done.visits() for done in told.done]
    assert sum(visits.get("new", 0) for visits in together) == pages
    assert sum(sum(visits.values()) for visits in together) == pages
    for site in told.sites:
        plain = [path for path in site.paths() if path.startswith("/page/")]
        assert sorted(plain) == sorted([*(f"/page/{number}" for number in range(PAGES)), "/page/1"])
        assert site.paths().count("/late") == 2


def gaps(hits: list[Hit]) -> list[float]:
    """From the end of each answer to the next request, as the server saw them."""
    ordered = sorted(hits, key=lambda hit: hit.began)
    return [after.began - before.ended for before, after in pairwise(ordered)]


def test_the_interval_holds_at_every_host_for_every_kind_of_request(told: Together) -> None:
    """Pages, robots.txt, redirects from here and from elsewhere, retries, of both processes."""
    for site in told.sites:
        assert any(hit.path == "/robots.txt" for hit in site.hits)
        # The site notes the end of an answer just after the client may have seen it.
        assert min(gaps(site.hits)) > INTERVAL - 0.05


def test_the_outside_server_takes_the_place_of_the_embedded_one(told: Together) -> None:
    assert not (told.crawl.state_dir / "server").exists()
    assert told.crawl.counts().known == sum(len(site.pages) - 1 for site in told.sites)

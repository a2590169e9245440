"""Eight workers on two hosts: between two requests of any kind to a host the interval is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pytest
from crawls import Crawl, Done, Hit, Reply, Site, html, short_dir

INTERVAL = 0.15
WORKERS = 8
PAGES = 10


@dataclass
class Told:
    sites: list[Site]
    done: list[Done]


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    with ExitStack() as stack:
        state_dir = stack.enter_context(short_dir())
        sites = [stack.enter_context(Site({}, host=f"127.0.0.{number}")) for number in (1, 2)]
        for site, other in zip(sites, reversed(sites), strict=True):
            fill(site, other)
        crawl = Crawl(state_dir, INCRAWL_HOST_INTERVAL=f"{INTERVAL}s", RETRY_TIMES="1")
        urls = ",".join(site.url("/") for site in sites)
        workers = [stack.enter_context(crawl.start(urls=urls)) for _ in range(WORKERS)]
        yield Told(sites, [worker.wait() for worker in workers])


def fill(site: Site, other: Site) -> None:
    """robots.txt, a sitemap, pages, redirects of all kinds, here and to the other host, and retries."""
    plain = [f"/page/{number}" for number in range(PAGES)]
    site.pages |= {path: Reply(html(text=f"{path} of {site.host}")) for path in plain}
    site.pages |= {
        "/robots.txt": Reply(f"User-agent: *\nSitemap: {site.url('/sitemap.xml')}"),
        "/sitemap.xml": Reply(
            f"<urlset><url><loc>{site.url('/only/here')}</loc></url></urlset>",
            headers={"Content-Type": "application/xml"},
        ),
        "/only/here": Reply(html(text=f"named by the sitemap of {site.host}")),
        "/here": Reply(status=302, headers={"Location": "/page/1"}),
        "/moved": Reply(status=301, headers={"Location": "/page/2"}),
        "/there": Reply(status=302, headers={"Location": other.url("/page/3")}),
        "/late": lambda earlier: Reply(html(text=f"late at {site.host}"), status=200 if earlier else 500),
        "/dropped": lambda earlier: Reply(html(text=f"second try of {site.host}"), drop=not earlier),
    }
    site.pages["/"] = Reply(html(*plain, "/here", "/moved", "/there", "/late", "/dropped"))


def gaps(hits: list[Hit]) -> list[float]:
    """From the arrival of each request to the next one's, as the server saw them."""
    began = sorted(hit.began for hit in hits)
    return [after - before for before, after in pairwise(began)]


def test_the_workers_share_the_work(told: Told) -> None:
    for done in told.done:
        assert done.code == 0 and "Traceback" not in done.log, done.log
    assert sum(bool(done.visits()) for done in told.done) > 1
    for site in told.sites:
        asked = [hit.path for hit in site.hits]
        assert set(site.pages) <= set(asked)
        assert (asked.count("/robots.txt"), asked.count("/late"), asked.count("/dropped")) == (1, 2, 2)


def test_no_two_requests_to_a_host_are_closer_than_the_interval(told: Told) -> None:
    for site in told.sites:
        assert len(site.hits) > PAGES + 10
        assert min(gaps(site.hits)) >= INTERVAL


def test_hosts_that_lead_to_each_other_hold_nobody_up(state_dir: Path) -> None:
    """Pages and robots.txt files that redirect in a circle, with a worker at either end."""
    with Site({}) as one, Site({}, host="127.0.0.2") as other:
        for site, next_ in ((one, other), (other, one)):
            away = {f"/away/{number}": f"/page/{number}" for number in range(4)}
            site.pages |= {
                path: Reply(status=302, headers={"Location": next_.url(to)}) for path, to in away.items()
            }
            site.pages |= {to: Reply(html(text=f"{to} at {site.host}")) for to in away.values()}
            site.pages["/robots.txt"] = Reply(status=302, headers={"Location": next_.url("/rules.txt")})
            site.pages["/rules.txt"] = Reply("", delay=0.2)
            site.pages["/"] = Reply(html(*away))
        crawl = Crawl(state_dir, INCRAWL_HOST_INTERVAL="0.05s")
        urls = ",".join(site.url(path) for path in ("/away/0", "/away/1", "/") for site in (one, other))
        with ExitStack() as stack:
            workers = [stack.enter_context(crawl.start(urls=urls)) for _ in range(4)]
            together = [worker.wait() for worker in workers]
        assert all(done.code == 0 for done in together)
        assert sum(done.visits().get("new", 0) for done in together) == 10


def test_a_slow_host_holds_up_nobody_and_a_host_that_agreed_is_asked_more_often(state_dir: Path) -> None:
    pages = {path: Reply(html(text=f"All about {path}")) for path in ["/a", "/b", "/c", "/d"]}
    slow = {path: replace(reply, delay=0.1) for path, reply in pages.items()}
    with Site({**slow, "/": Reply(html(*slow))}) as one, Site({**pages, "/": Reply(html(*pages))}) as other:
        crawl = Crawl(state_dir, INCRAWL_HOST_INTERVAL="0.25s", INCRAWL_HOST_INTERVALS=f"{other.host}=0.01s")
        done = crawl.run(urls=f"{one.url('/')},{other.url('/')}")
        assert done.visits() == {"new": 2 * len(one.pages)}
        assert min(gaps(one.hits)) >= 0.25
        assert min(gaps(other.hits)) < 0.25
        # All pages of the other are there before half of those of the one have been asked for.
        last = max(hit.ended for hit in other.hits)
        assert last < sorted(hit.began for hit in one.hits)[len(one.pages) // 2]

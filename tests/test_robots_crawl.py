"""robots.txt, robots tags, Retry-After and waves of errors in real crawls."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from email.utils import formatdate
from pathlib import Path

from crawls import DUE_NEXT_TIME, Crawl, Reply, Site, html

from incrawl.frontier import operations


def robots(*lines: str, status: int = 200, **headers: str) -> Reply:
    return Reply("\n".join(lines), status=status, headers={"Content-Type": "text/plain", **headers})


def held_for(crawl: Crawl) -> dict[str, float]:
    """Hosts with pages that wait, and the seconds until they may be asked."""

    async def ask(frontier: operations.Frontier) -> dict[str, float]:
        now = frontier.now()
        return {host.name: (host.next_allowed or now) - now async for host in operations.hosts(frontier)}

    found: dict[str, float] = crawl.ask(ask)
    return found


def held_hosts(crawl: Crawl) -> dict[str, str]:
    """Hosts with pages that wait, and why they are held."""

    async def ask(frontier: operations.Frontier) -> dict[str, str]:
        return {host.name: host.reason async for host in operations.hosts(frontier)}

    found: dict[str, str] = crawl.ask(ask)
    return found


@contextmanager
def many_sites(pages: Iterable[dict[str, Reply]]) -> Iterator[list[Site]]:
    """Several sites at once: starting a crawl costs more than crawling them."""
    with ExitStack() as stack:
        yield [stack.enter_context(Site(dict(each))) for each in pages]


def test_read_first_and_once_for_all_workers_and_runs(state_dir: Path) -> None:
    pages = {
        "/robots.txt": robots(
            "User-agent: *", "Disallow: /private", "User-agent: incrawl", "Disallow: /secret"
        ),
        "/": Reply(html("/a", "/secret/1", "/private/2", "/moved")),
        "/a": Reply(html()),
        "/private/2": Reply(html(text="only for others")),
        "/moved": Reply(status=302, headers={"Location": "/secret/3"}),
    }
    with Site(pages) as site:
        crawl = Crawl(state_dir)
        first = crawl.run(urls=site.url("/"))
        again = crawl.run(urls=site.url("/secret/4"))
        asked = [hit.path for hit in site.hits]
        assert asked[0] == "/robots.txt"
        assert asked.count("/robots.txt") == 1
        assert sorted(site.paths()) == ["/", "/a", "/moved", "/private/2"]
        assert first.stats["incrawl/robots/fetched"] == 1
        assert first.stats["incrawl/robots/links"] == 1
        assert first.stats["incrawl/robots/disallowed"] == 1  # where the redirect led
        assert again.stats["incrawl/robots/shared"] == 1
        assert again.stats["incrawl/robots/disallowed"] == 1
        # A link that is disallowed does not become known; a seed that is leaves the queue.
        assert crawl.known(site.url("/secret/1")) == [None]
        assert crawl.one(site.url("/secret/4")).state == "retired"


def test_a_file_that_cannot_be_had_holds_the_host(state_dir: Path) -> None:
    answers = [robots("busy", status=503), robots("slow", status=429), Reply(drop=True)]
    pages = {"/": Reply(html()), "/a": Reply(html())}
    with many_sites({"/robots.txt": answer, **pages} for answer in answers) as sites:
        crawl = Crawl(state_dir, INCRAWL_MAX_WAIT="0.1s")
        urls = [site.url(path) for site in sites for path in pages]
        done = crawl.run(urls=",".join(urls))
        assert done.code == 0, done.log
        assert done.stats["incrawl/robots/held"] == len(sites)
        reasons = held_hosts(crawl)
        for site in sites:
            assert site.paths() == []
            assert reasons[site.host].startswith("robots.txt: ")
        for known in crawl.known(*urls):
            assert known is not None and known.state == "queued"
            assert (known.record.visits, known.record.failures) == (0, 0)


def test_a_page_that_is_disallowed_later_leaves_the_queue_and_keeps_its_history(state_dir: Path) -> None:
    with Site({"/robots.txt": robots("User-agent: *", "Disallow: /no"), "/": Reply(html())}) as site:
        crawl = Crawl(state_dir, **DUE_NEXT_TIME)
        assert crawl.run(urls=site.url("/")).visits() == {"new": 1}
        before = crawl.one(site.url("/")).record
        site.pages["/robots.txt"] = robots("User-agent: *", "Disallow: /")
        crawl.ask(
            lambda frontier: frontier.cache_set(site.host, "robots http incrawl", b"", 60.0)
        )  # a day passes
        done = crawl.run(urls=site.url("/"))
        assert done.stats["incrawl/robots/disallowed"] == 1
        after = crawl.one(site.url("/"))
        assert (after.state, after.record.barred, site.paths()) == ("retired", "robots", ["/"])
        assert after.record.document == before.document is not None


def test_the_first_500_kib_of_a_long_file_hold(state_dir: Path) -> None:
    long = ["User-agent: *", "#" * 500 * 1024, "Disallow: /late"]
    just = ["User-agent: *", "#" * 499 * 1024, "Disallow: /late"]
    pages = {"/late": Reply(html())}
    with many_sites({"/robots.txt": robots(*lines), **pages} for lines in (long, just)) as sites:
        done = Crawl(state_dir).run(urls=",".join(site.url("/late") for site in sites))
        assert done.code == 0, done.log
        assert [site.paths() for site in sites] == [["/late"], []]


def test_a_file_that_is_not_there_allows_everything(state_dir: Path) -> None:
    answers = [robots("User-agent: *", "Disallow: /", status=status) for status in (401, 403, 404, 410)]
    with many_sites({"/robots.txt": answer, "/": Reply(html())} for answer in answers) as sites:
        assert Crawl(state_dir).run(urls=",".join(site.url("/") for site in sites)).visits() == {"new": 4}


def test_redirects_are_followed_five_deep(state_dir: Path) -> None:
    hops = {f"/r{n}": Reply(status=301, headers={"Location": f"/r{n + 1}"}) for n in range(1, 5)}
    forbidden = {"/r5": robots("User-agent: *", "Disallow: /"), "/": Reply(html())}
    start = {"/robots.txt": Reply(status=301, headers={"Location": "/r1"})}
    with Site({**start, **hops, **forbidden}) as site:
        done = Crawl(state_dir).run(urls=site.url("/"))
        assert done.stats["incrawl/robots/disallowed"] == 1
        assert site.paths() == ["/r1", "/r2", "/r3", "/r4", "/r5"]


def test_a_redirect_loop_allows_everything(state_dir: Path) -> None:
    loop = Reply(status=302, headers={"Location": "/robots.txt"})
    with Site({"/robots.txt": loop, "/": Reply(html())}) as site:
        assert Crawl(state_dir).run(urls=site.url("/")).visits() == {"new": 1}
        assert len([hit for hit in site.hits if hit.path == "/robots.txt"]) == 6


def test_a_crawl_delay_lengthens_the_interval(state_dir: Path) -> None:
    delay = robots("User-agent: *", "Crawl-delay: 0.5")
    with Site({"/robots.txt": delay, "/": Reply(html("/a")), "/a": Reply(html())}) as site:
        done = Crawl(state_dir, INCRAWL_HOST_INTERVAL="0.01s").run(urls=site.url("/"))
        assert done.visits() == {"new": 2}
        [_, front, below] = site.hits
        assert below.began - front.ended >= 0.45


def test_pages_may_ask_not_to_be_kept_or_followed(state_dir: Path) -> None:
    pages = {
        "/": Reply(html("/noindex", "/nofollow", "/header", "/other")),
        "/noindex": Reply("<meta name=robots content=noindex>" + html("/found")),
        "/found": Reply(html(text="found")),
        "/nofollow": Reply("<meta name=robots content='NoFollow'>" + html("/not-found")),
        "/header": Reply(html("/not-found"), headers={"X-Robots-Tag": "incrawl: noindex, nofollow"}),
        "/other": Reply(html(), headers={"X-Robots-Tag": "otherbot: noindex"}),
        "/not-found": Reply(html()),
    }
    with Site(pages) as site:
        crawl = Crawl(state_dir)
        done = crawl.run(urls=site.url("/"))
        assert done.visits() == {"new": 4, "refused": 2}
        assert "/found" in site.paths() and "/not-found" not in site.paths()
        kept = {
            path
            for path in pages
            if crawl.known(site.url(path))[0] and crawl.one(site.url(path)).record.document
        }
        assert kept == {"/", "/found", "/nofollow", "/other"}
        # Nor when the page is the same again, byte by byte.
        crawl.ask(lambda frontier: operations.reschedule(frontier, site.url("/nofollow"), 0.0))
        assert crawl.run(urls=site.url("/")).visits()["unchanged"] >= 1
        assert site.paths().count("/nofollow") == 2 and "/not-found" not in site.paths()


def test_429_and_503_hold_the_whole_host(state_dir: Path) -> None:
    in_an_hour = formatdate(time.time() + 3600, usegmt=True)
    asked = [(429, "120"), (503, ""), (429, in_an_hour)]
    pages = [
        {f"/{n}": Reply(html(), status=status, headers={"Retry-After": header}) for n in range(5)}
        for status, header in asked
    ]
    with many_sites({**below, "/": Reply(html(*below))} for below in pages) as sites:
        crawl = Crawl(state_dir, INCRAWL_HOST_INTERVAL="0.01s", INCRAWL_MAX_WAIT="0.1s")
        done = crawl.run(urls=",".join(site.url("/") for site in sites))
        assert done.code == 0, done.log
        assert [len(site.paths()) for site in sites] == [2, 2, 2]  # the front page and one of the five
        assert (done.stats["incrawl/slow_down/429"], done.stats["incrawl/slow_down/503"]) == (2, 1)
        reasons = held_hosts(crawl)
        assert [reasons[site.host] for site in sites] == ["429", "503", "429"]
        seconds, nothing, date = [held_for(crawl)[site.host] for site in sites]
        assert 60 < seconds <= 120 and 0 < nothing <= 60 and 3000 < date <= 3601


def test_a_wave_of_errors_pauses_the_host(state_dir: Path) -> None:
    pages: dict[str, Reply] = {f"/{n}": Reply(html(text=f"page {n}")) for n in range(30)}
    with Site({**pages, "/": Reply(html(*pages))}) as site:
        crawl = Crawl(state_dir, **DUE_NEXT_TIME, INCRAWL_HOST_INTERVAL="0.01s", INCRAWL_MAX_WAIT="2s")
        assert crawl.run(urls=site.url("/")).visits()["new"] == 31
        site.pages = {"/robots.txt": Reply(status=404)}  # one bad day: everything is gone
        before = len(site.paths())
        done = crawl.run()
        assert done.stats["incrawl/waves/held"] == 1
        assert len(site.paths()) - before == 10
        assert held_hosts(crawl)[site.host] == "10 errors in a row"
        assert crawl.counts().known == 31

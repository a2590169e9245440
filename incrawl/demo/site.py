"""The demo site: three small web servers on loopback that change under a crawler's feet, and remember it.

Inside `with DemoSite() as site`, crawl the front pages that `site.seeds()` lists, let the next round
come with `site.advance()`, and compare what a crawler says with `site.found_changes()`.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from typing import Any, Self

from incrawl.demo.html import page_html
from incrawl.demo.loopback import Answer, LoopbackServer, listen
from incrawl.demo.pages import PAGES, SITES, Change, DemoPage

TRUTH = "/truth.json"


@dataclass(frozen=True, slots=True)
class Hit:
    """One request for a page and what was answered."""

    url: str
    round: int
    status: int
    version: int  # the version that the client holds after this answer


class DemoSite:
    """A context manager that serves the demo site from threads of this process."""

    def __init__(self, seed: int = 1, pages: tuple[DemoPage, ...] = PAGES) -> None:
        self.seed = seed
        self.pages = pages
        self.round = 0
        self.hits: list[Hit] = []  # list.append is atomic, so the servers' threads share it
        self.other_requests: list[str] = []  # robots.txt, sitemaps, what is not there
        self.base: dict[str, str] = {}
        self._servers: list[LoopbackServer] = []
        self._noise = count(1)

    def __enter__(self) -> Self:
        for number, site in enumerate(SITES, start=1):
            server = listen(f"127.0.0.{number}", partial(self.answer, site))
            self._servers.append(server)
            self.base[site] = server.url
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers:
            server.stop()

    def advance(self) -> None:
        self.round += 1

    def url(self, page: DemoPage) -> str:
        return self.base[page.site] + page.path

    def page_at(self, url: str) -> DemoPage | None:
        return next((page for page in self.pages if self.url(page) == url), None)

    def version(self, page: DemoPage, round_number: int) -> int:
        """Which version of the page is shown; one that grows has another with each new page it links to."""
        if page.change is not Change.GROWTH:
            return page.version(round_number)
        return len({other.appears for other in self._links(page, round_number)}) - 1

    def seeds(self, level: int = 3) -> str:
        """The text of a seed file: the front pages, and how many levels of links to follow."""
        return "".join(f"{self.base[site]}/ {level}\n" for site in SITES)

    def reachable(self) -> list[DemoPage]:
        """Pages that a polite crawler can have found by now: linked, and not forbidden."""
        return [page for page in self.pages if page.appears <= self.round and not page.hidden]

    def found_changes(self) -> dict[str, list[frozenset[str]]]:
        """For each URL, the kinds of each change between what was served and what was served next."""
        served: dict[str, list[int]] = defaultdict(list)
        for hit in self.hits:
            if hit.status in (200, 304):
                served[hit.url].append(hit.version)
        return {
            url: [page.change.kinds for old, new in pairwise(versions) if old != new]
            for url, versions in served.items()
            if (page := self.page_at(url))
        }

    def up_to_date(self) -> int:
        """How many pages look the same now as when they were last served."""
        last = {hit.url: hit.version for hit in self.hits if hit.status in (200, 304)}
        there = [page for page in self.reachable() if page.exists(self.round)]
        return sum(last.get(self.url(page)) == self.version(page, self.round) for page in there)

    def truth(self) -> dict[str, Any]:
        """All that happened, as JSON: served at /truth.json, too."""
        fetches: dict[str, list[dict[str, int]]] = defaultdict(list)
        for hit in self.hits:
            fetches[hit.url].append({"round": hit.round, "status": hit.status, "version": hit.version})
        changes = self.found_changes()
        pages = [
            {
                "url": (url := self.url(page)),
                "change": page.change,
                "exists": page.exists(self.round),
                "version": self.version(page, self.round),
                "fetches": fetches[url],
                "changes": [sorted(kinds) for kinds in changes.get(url, [])],
            }
            for page in self.pages
        ]
        return {"round": self.round, "pages": pages}

    def answer(self, site: str, path: str, if_none_match: str) -> Answer:
        """What this request gets, noted down."""
        found = next((page for page in self.pages if (page.site, page.path) == (site, path)), None)
        if found is None:
            self.other_requests.append(self.base[site] + path)
            return self._service(site, path)
        answer, version = self._page(found, if_none_match)
        self.hits.append(Hit(self.url(found), self.round, answer.status, version))
        return answer

    def _service(self, site: str, path: str) -> Answer:
        if path == "/robots.txt":
            rules = f"User-agent: *\nDisallow: /private/\nSitemap: {self.base[site]}/sitemap.xml\n"
            return Answer(200, rules, "text/plain; charset=utf-8")
        if path == "/sitemap.xml":
            return Answer(200, self._sitemap(site), "application/xml")
        if path == TRUTH:
            return Answer(200, json.dumps(self.truth()), "application/json")
        return Answer(404, "<h1>Not found</h1>")

    def _page(self, page: DemoPage, if_none_match: str) -> tuple[Answer, int]:
        round_number = self.round
        version = self.version(page, round_number)
        if not page.exists(round_number):
            return Answer(page.gone_status if page.gone else 404, "<h1>Not here</h1>"), version
        time.sleep(page.delay)
        etag = f'"{page.path}-{version}"' if page.etag else ""
        if etag and if_none_match == etag:
            return Answer(304, etag=etag), version
        html = page_html(page, version, self.seed, self._links(page, round_number), f"{next(self._noise):x}")
        return Answer(200, html, etag=etag), version

    def _links(self, page: DemoPage, round_number: int) -> list[DemoPage]:
        """A front page links to all that ever was there; other pages to it alone."""
        if page.path != "/":
            return []
        return [
            other
            for other in self.pages
            if other.site == page.site and other.path != "/" and other.appears <= round_number
        ]

    def _sitemap(self, site: str) -> str:
        entries = "".join(
            f"<url><loc>{self.url(page)}</loc></url>" for page in self.reachable() if page.site == site
        )
        return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'

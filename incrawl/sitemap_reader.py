"""Sitemaps and feeds in the crawl: pages like any other, whose entries are links with dates.

They are known by what robots.txt and pages name, are visited at their own refresh time, and bring
forward the visits of pages that they say have changed. Counted as `incrawl/sitemaps/known`, `…/read`,
`…/brought_forward`, `…/claims`, `…/disbelieved`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from incrawl.core.lastmod import Claims, is_news
from incrawl.core.links import inside_site
from incrawl.core.records import COMPARED, Outcome, UrlRecord
from incrawl.core.sitemaps import MAX_ENTRIES, REQUEST, Entry, Kind, Sitemap
from incrawl.frontier import operations

if TYPE_CHECKING:
    from incrawl.frontier.frontier import Find
    from incrawl.page_visit import PageVisit
    from incrawl.worker import Worker

DAY = 24 * 3600.0
MEMORY = 30 * DAY
MAX_CLAIMS = 1000  # looked at in one reading: the latest
MAX_REMEMBERED = 10_000
MAX_LEVEL = 255
_NAME = "lastmod"


class SitemapReader:
    """One per worker."""

    def __init__(self, worker: Worker):
        self._worker = worker
        self._claimed: OrderedDict[str, None] = OrderedDict()  # pages whose next visit shows who was right

    async def make_known(self, sitemaps: Iterable[str], page: UrlRecord) -> None:
        """What a robots.txt names, for a page whose links are followed."""
        if page.level > 0:
            finds = list(self.finds(sitemaps, page, page.level + 1))
            if finds:
                self._worker.count("incrawl/sitemaps/known", await self._worker.discover(finds, seeds=True))

    def finds(self, sitemaps: Iterable[str], page: UrlRecord, level: int) -> Iterator[Find]:
        """Sitemaps and feeds of the page's site, to be read at `level`."""
        if not self._worker.config.sitemaps:
            return
        for url in inside_site(page.url, sitemaps):
            yield from self._find(url, page, min(level, MAX_LEVEL), REQUEST)

    def _find(self, url: str, page: UrlRecord, level: int, request: str = "") -> Iterator[Find]:
        """A find below `page`, with what its seed line asked for, unless it is known."""
        if not self._worker.seen.covers(url, level):
            first = page.refresh_time if page.visits == 0 else None
            record = UrlRecord(url, level=level, pl=page.pl, pg=page.pg, refresh_time=first, request=request)
            yield self._worker.frontier.find(record)

    def entries(self, sitemap: Sitemap, page: UrlRecord) -> Iterator[Find]:
        """The pages, or the further sitemaps, that one names: an index costs a level, too."""
        self._worker.count("incrawl/sitemaps/read")
        urls = (entry.url for entry in sitemap.entries)
        if sitemap.kind is Kind.INDEX:
            yield from self.finds(urls, page, page.level - 1)
            return
        level = max(page.level - 2, 0)
        unseen = (url for url in inside_site(page.url, urls) if not self._worker.seen.covers(url, level))
        for url in self._worker.admission.select(unseen, limit=MAX_ENTRIES):
            yield from self._find(url, page, level)

    async def bring_forward(self, sitemap: Sitemap, visit: PageVisit) -> None:
        """Pages that are said to have changed since their last visit become due, while that is believed."""
        last_read, now = visit.record.last_crawl, self._worker.frontier.now()
        if last_read is None:
            return
        dated = [
            entry
            for entry in sitemap.entries
            if entry.changed is not None and entry.changed > last_read - DAY
        ]
        dated.sort(key=lambda entry: entry.changed or 0.0, reverse=True)
        believed = (await self._claims(visit.host)).believed
        for entry in dated[:MAX_CLAIMS]:
            await self._look_at(entry, now, believed)

    async def _look_at(self, entry: Entry, now: float, believed: bool) -> None:
        known = await operations.look(self._worker.frontier, entry.url)
        if (
            known is None
            or known.next_due is None
            or not is_news(entry.changed, known.record.last_crawl, now)
        ):
            return
        self._worker.count("incrawl/sitemaps/claims")
        self._claimed[known.record.url] = None
        while len(self._claimed) > MAX_REMEMBERED:
            self._claimed.popitem(last=False)
        if not believed:
            self._worker.count("incrawl/sitemaps/disbelieved")
        elif known.next_due > now:
            await operations.reschedule(self._worker.frontier, entry.url, 0.0)
            self._worker.count("incrawl/sitemaps/brought_forward")

    async def judge(self, visit: PageVisit, outcome: Outcome) -> None:
        """The visit of a page that was said to have changed has ended."""
        if visit.url not in self._claimed or outcome not in COMPARED:
            return
        del self._claimed[visit.url]
        claims = (await self._claims(visit.host)).after(changed=outcome is Outcome.CHANGED)
        await self._worker.frontier.cache_set(visit.host, _NAME, claims.pack(), MEMORY)

    async def _claims(self, host: str) -> Claims:
        return Claims.unpack(await self._worker.frontier.cache_get(host, _NAME))

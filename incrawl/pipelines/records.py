"""Item pipeline 3: the visit learns what was found, its links and its outcome; a feed gets a report.

The URL record itself, its refresh time among its fields, is written when the visit is acknowledged
(`ledger.py`, by the algorithm in `visits.py`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from scrapy.crawler import Crawler

from incrawl.core.elsewhere import level_at, own_address
from incrawl.core.links import inside_site
from incrawl.core.records import Outcome, UrlRecord
from incrawl.core.sitemaps import SITEMAP_KEY, read_sitemap
from incrawl.frontier.frontier import Find
from incrawl.items import Page, PageReport
from incrawl.twins import begun_at
from incrawl.worker import Worker


class RecordPipeline:
    """The last of the three; what it returns is what feeds and users' pipelines behind it see."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RecordPipeline:
        return cls(Worker.of(crawler))

    async def process_item(self, item: Any) -> Any:
        if not isinstance(item, Page):
            return item
        if self._worker.config.sitemaps and may_be_sitemap(item):
            item.sitemap = await asyncio.to_thread(read_sitemap, item.body, item.url)
        item.visit.finds.extend(self._page_finds(item))
        end_visit(item)
        return report(item)

    def _page_finds(self, page: Page) -> Iterator[Find]:
        record, sitemaps = where_it_is(page), self._worker.sitemaps
        if page.sitemap is not None and record.level > 0:
            yield from sitemaps.entries(page.sitemap, record)
        elif not page.nofollow and record.level > 0:
            yield from self._finds(record, links_of(page))
            feeds = page.analysis.feeds if page.analysis is not None else ()
            yield from sitemaps.finds(feeds, record, record.level)
        if page.analysis is not None and not page.leads_away and not page.nofollow:
            yield from self._own_address(record, page.analysis.canonical)

    def _own_address(self, page: UrlRecord, named: str) -> Iterator[Find]:
        """The address that the page calls its own, to be visited in its place should it be the same page."""
        address = own_address(page.url, named)
        if address and not self._worker.seen.covers(address, page.level):
            for url in self._worker.admission.select([address]):
                yield self._worker.frontier.find(begun_at(page, url))

    def _finds(self, page: UrlRecord, links: Iterable[str]) -> Iterator[Find]:
        """The page's links inside its site, one level down."""
        # What a seed line says holds for the pages below it; the refresh time as their first one.
        first = page.refresh_time if page.visits == 0 else None
        level, seen, find = page.level - 1, self._worker.seen, self._worker.frontier.find
        unseen = (link for link in links if not seen.covers(link, level))
        for link in self._worker.admission.select(inside_site(page.url, unseen)):
            yield find(UrlRecord(link, level=level, pl=page.pl, pg=page.pg, refresh_time=first))


def may_be_sitemap(page: Page) -> bool:
    """Only what is new is read: the entries of an unchanged one are known."""
    xml = page.type.endswith("xml") and page.type != "application/xhtml+xml"
    named = SITEMAP_KEY in page.visit.record.request
    return (xml or named) and page.outcome in {Outcome.NEW, Outcome.CHANGED}


def where_it_is(page: Page) -> UrlRecord:
    """The page's record, at the address that it has moved to where it has."""
    record = page.visit.record
    if not page.leads_away:
        return record
    return record._replace(url=page.moved_to, level=level_at(record.url, page.moved_to, record.level))


def end_visit(page: Page) -> None:
    page.visit.page = page
    why = f"{page.impostor.disguise}: {page.impostor.because}" if page.impostor is not None else ""
    page.visit.end(page.found, page.status, why)


def links_of(page: Page) -> tuple[str, ...]:
    """The links of a page, from its parse or, where its bytes are those of last time, as kept then."""
    if page.analysis is not None:
        return page.analysis.links
    return page.previous.links if page.previous is not None else ()


def report(page: Page) -> PageReport:
    kinds = sorted(map(str, page.verdict.kinds)) if page.verdict else []
    size = str(page.verdict.size) if page.verdict else "none"
    title = page.analysis.title if page.analysis else (page.previous.title if page.previous else "")
    document = page.staged.run if page.staged else page.visit.record.document
    return PageReport(page.visit.url, page.time, str(page.found), kinds, size, title, document)

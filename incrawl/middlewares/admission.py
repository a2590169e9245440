"""Links of a user's spider, and pages that are due, pass the same rules (`incrawl.admission`).

Redirects are looked at like pages that are due, so that nothing is reached by a detour. Requests that
are refused are counted as `incrawl/filters/requests` and `incrawl/traps/<why>`.

Most links of a page are known to the frontier. Where only Scrapy's own middlewares follow, which take
longer for a link than all else that becomes of it, a known one ends here (`incrawl/links/spared`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy import Request

from incrawl.core.identity import without_credentials
from incrawl.core.traps import without_session
from incrawl.middlewares.purpose import Purpose, purpose_of
from incrawl.page_visit import visit_of
from incrawl.refusals import refuse
from incrawl.requests import RequestForm
from incrawl.worker import Worker

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class AdmissionMiddleware:
    """A spider middleware for links and a downloader middleware for requests."""

    def __init__(self, crawler: Crawler, worker: Worker):
        self._crawler = crawler
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AdmissionMiddleware:
        return cls(crawler, Worker.of(crawler))

    def process_request(self, request: Request) -> None:
        if purpose_of(request) is not Purpose.PAGE:
            return
        visit = visit_of(request)
        is_new = visit is None or visit.record.visits == 0
        why = self._worker.admission.refuses_visit(request.url, is_new=is_new)
        if why is not None:
            raise refuse(self._crawler.stats, *why.split("/"))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        links = spared = 0
        visit = visit_of(response.request) if self._spares_known else None
        async for each in result:
            if not isinstance(each, Request):
                yield each
                continue
            links += 1
            if links > self._worker.config.max_links:
                self._worker.count("incrawl/limits/links")
            elif visit is not None and self._is_known(each):
                visit.root.asked.append((each.url, ""))
                spared += 1
            elif (admitted := self._admitted(each)) is not None:
                yield admitted
        if spared:
            self._worker.count("incrawl/links/spared", spared)

    @cached_property
    def _spares_known(self) -> bool:
        """Whether nobody else looks at the links, or would refuse some."""
        engine = self._crawler.engine
        assert engine is not None
        rooms = {type(each).__module__.partition(".")[0] for each in engine.scraper.spidermw.middlewares}
        return rooms <= {"scrapy", "incrawl"} and not self._crawler.settings.getint("DEPTH_LIMIT")

    @cached_property
    def _form(self) -> RequestForm:
        assert self._crawler.spider is not None
        return RequestForm(self._crawler.spider)

    def _is_known(self, request: Request) -> bool:
        """Whether it is the usual link, to a page that the frontier knows."""
        known = not request.dont_filter and self._worker.seen.covers(request.url, 0)
        return known and self._form.to_json(request) == ""

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for each in start:
            admitted = self._admitted(each) if isinstance(each, Request) else each
            if admitted is not None:
                yield admitted

    def _admitted(self, request: Request) -> Request | None:
        if self._worker.seen.covers(request.url, 0):
            return request  # the frontier knows it: it was admitted before
        clean = without_session(without_credentials(request.url))
        if clean != request.url:
            request = request.replace(url=clean)
        return request if self._worker.admission.admits(clean) else None

"""Spider middleware: counts what a page still has outstanding, and sorts its requests.

A spider's requests go to the frontier when it can hold them; the page is acknowledged once they are
known there. The others stay in this process and hold the page's acknowledgement.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cached_property
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from incrawl.core.records import UrlRecord
from incrawl.outcomes import outcome_of_status
from incrawl.page_visit import PageVisit, visit_of
from incrawl.requests import RequestForm, local_request
from incrawl.worker import Worker


class VisitMiddleware:
    """Stands next to the engine, so that it sees what all other spider middlewares let through."""

    def __init__(self, crawler: Crawler, worker: Worker) -> None:
        self._crawler = crawler
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> VisitMiddleware:
        middleware = cls(crawler, Worker.of(crawler))
        connect = crawler.signals.connect
        connect(middleware.item_through, signals.item_scraped)
        connect(middleware.item_through, signals.item_dropped)
        connect(middleware.item_failed, signals.item_error)
        return middleware

    def process_spider_input(self, response: Response) -> None:
        visit = visit_of(response.request)
        if visit is None:
            return
        visit.arrived = True
        outcome = outcome_of_status(response.status)
        if outcome is not None:
            visit.end(outcome, response.status)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        visit = visit_of(response.request)
        if visit is None:
            async for output in result:
                yield output
            return
        exhausted = False
        try:
            async for output in result:
                if isinstance(output, Request):
                    output = self._sorted(output, visit)
                elif output is not None:
                    visit.hold()
                if output is not None:
                    yield output
            exhausted = True
        finally:
            if not exhausted:
                visit.fail("the spider's callback did not come to its end")
            visit.request_done()

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """A callback that fails before it gives anything never comes to `process_spider_output`."""
        visit = visit_of(response.request)
        if visit is not None:
            visit.fail(f"the spider's callback failed: {exception!r}")
            visit.request_done()

    def _sorted(self, request: Request, visit: PageVisit) -> Request | None:
        """None for a request that the frontier takes; else the request, holding its page."""
        kept = None if request.dont_filter else self._form.to_json(request)
        if kept is None:
            return self._local(request, visit)
        page = visit.root
        page.asked.append((request.url, kept))
        if not self._worker.seen.covers(request.url, 0):
            page.finds.append(self._worker.frontier.find(UrlRecord(request.url, request=kept)))
        return None

    def _local(self, request: Request, visit: PageVisit) -> Request | None:
        """The request as a part of its page's visit, which makes it once, unless told otherwise."""
        if not request.dont_filter:
            fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
            if fingerprint in visit.root.asked_here:
                self._worker.count("incrawl/requests/filtered")
                return None
            visit.root.asked_here.add(fingerprint)
        self._worker.count("incrawl/requests/local")
        return local_request(request, visit)

    @cached_property
    def _form(self) -> RequestForm:
        assert self._crawler.spider is not None
        return RequestForm(self._crawler.spider)

    def item_through(self, response: Any) -> None:
        visit = self._visit_of(response)
        if visit is not None:
            visit.let_go()

    def item_failed(self, response: Any, failure: Any) -> None:
        visit = self._visit_of(response)
        if visit is not None:
            visit.fail(f"an item could not be processed: {failure.getErrorMessage()}")
            visit.let_go()

    def _visit_of(self, response: Any) -> PageVisit | None:
        # Items of an errback come with a Failure: the middleware has not counted them.
        return visit_of(response.request) if isinstance(response, Response) else None

"""Downloader middleware of the add-on: a page that has not changed does not reach the spider.

The spider's items and pipelines are its own, so the change detection cannot be one of them here; it
looks at the response before the spider does. The links of an unchanged page come from its sidecar.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from incrawl.core.records import COMPARED, Outcome, UrlRecord
from incrawl.frontier.frontier import Find
from incrawl.items import Page
from incrawl.page_visit import visit_of
from incrawl.pages import page_from
from incrawl.pipelines.changes import ChangeDetectionPipeline
from incrawl.pipelines.records import end_visit
from incrawl.worker import Worker


class ChangeGateMiddleware:
    """Stands next to the engine: redirects, retries and decompression are over."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._detection = ChangeDetectionPipeline(worker)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ChangeGateMiddleware:
        return cls(Worker.of(crawler))

    def process_response(self, request: Request, response: Response) -> Response:
        visit = visit_of(request)
        if visit is None or visit.parent is not None or response.status != 200:
            return response
        if not self._worker.config.detect_changes:
            visit.end(Outcome.NEW, response.status)
            return response
        page = page_from(response, request, visit, self._worker.frontier.now())
        self._detection.detect(page)
        end_visit(page)
        if page.impostor is not None:
            self._keep_from_spider(request)
        elif page.outcome in COMPARED - {Outcome.CHANGED} and not self._worker.config.parse_unchanged:
            visit.finds.extend(self._known_links(page))
            self._keep_from_spider(request)
        return response

    def _keep_from_spider(self, request: Request) -> None:
        request.callback = nothing
        request.cb_kwargs.clear()

    def _known_links(self, page: Page) -> Iterator[Find]:
        """What the spider asked for when it last parsed this version."""
        if page.previous is None or not page.previous.requests:
            return
        for link, kept in zip(page.previous.links, page.previous.requests, strict=True):
            if not self._worker.seen.covers(link, 0):
                yield self._worker.frontier.find(UrlRecord(link, request=kept))


def nothing(response: Response, **_: Any) -> None:
    """The callback of a page that is unchanged, or not the page at all."""

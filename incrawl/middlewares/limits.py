"""Bounds on what one page may take: the length of its URL, the time of its transfer, its size.

The time is that of all requests for the page together, redirects and retries included, and is
counted from sending to the last byte: waiting one's turn at a polite pace costs nothing. Sizes are
bounded further down, by the handler (`incrawl.network.handler`) and when decompressing.
Counted as `incrawl/limits/url_length`, `…/page_time`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from scrapy.exceptions import DownloadTimeoutError

from incrawl.config import Config
from incrawl.core.urls import MAX_URL_LENGTH
from incrawl.refusals import refuse

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

# Redirects and retries copy a request's meta: the time spent so far travels with the page.
SPENT_KEY = "incrawl_time_spent"
SENT_KEY = "incrawl_sent"


class LimitsMiddleware:
    """Stands below the middlewares that wait, so that waiting is not counted."""

    def __init__(self, stats: StatsCollector, page_time: float):
        self.stats = stats
        self.page_time = page_time

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LimitsMiddleware:
        return cls(crawler.stats, Config.from_settings(crawler.settings).page_time)

    def process_request(self, request: Request) -> None:
        if len(request.url) > MAX_URL_LENGTH:
            raise refuse(self.stats, "limits", "url_length", f"{len(request.url)} characters")
        left = self.page_time - request.meta.get(SPENT_KEY, 0.0)
        if left <= 0:
            raise refuse(self.stats, "limits", "page_time")
        request.meta[SENT_KEY] = time.monotonic()
        request.meta["download_timeout"] = min(left, request.meta.get("download_timeout", left))

    def process_response(self, request: Request, response: Response) -> Response:
        self.count_time(request)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        self.count_time(request)
        if isinstance(exception, DownloadTimeoutError):
            self.stats.inc_value("incrawl/limits/page_time")

    def count_time(self, request: Request) -> None:
        sent = request.meta.pop(SENT_KEY, None)
        if sent is not None:
            spent = request.meta.get(SPENT_KEY, 0.0)
            request.meta[SPENT_KEY] = spent + time.monotonic() - sent

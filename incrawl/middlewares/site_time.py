"""A bound on the time that one host's transfers may take within a day (`INCRAWL_SITE_TIME`).

A host that has used it up rests until the day is over; its pages stay queued. Each worker keeps its own
account. Counted as `incrawl/limits/site_time`.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from incrawl.core.urls import host_key
from incrawl.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

DAY = 24 * 3600.0
MAX_HOSTS = 10_000
SENT_KEY = "incrawl_site_sent"


class SiteTimeMiddleware:
    """Stands below the politeness, like the page's own time limit: waiting costs nothing."""

    def __init__(self, worker: Worker, site_time: float):
        self._worker = worker
        self._site_time = site_time
        self._accounts: OrderedDict[str, tuple[float, float]] = OrderedDict()  # day began, seconds used

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SiteTimeMiddleware:
        worker = Worker.of(crawler)
        if worker.config.site_time <= 0:
            raise NotConfigured
        return cls(worker, worker.config.site_time)

    def process_request(self, request: Request) -> None:
        request.meta[SENT_KEY] = time.monotonic()

    async def process_response(self, request: Request, response: Response) -> Response:
        await self._account(request)
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        await self._account(request)

    async def _account(self, request: Request) -> None:
        now, host = time.monotonic(), host_key(request.url)
        sent = request.meta.pop(SENT_KEY, now)
        began, used = self._accounts.pop(host, (now, 0.0))
        if now - began > DAY:
            began, used = now, 0.0
        used += now - sent
        if used >= self._site_time:
            self._worker.count("incrawl/limits/site_time")
            await self._worker.frontier.block_host(host, began + DAY - now, "its time for today is used up")
            return
        self._accounts[host] = began, used
        while len(self._accounts) > MAX_HOSTS:
            self._accounts.popitem(last=False)

"""429 and 503 hold the whole host, for as long as it asks or for longer each time.

The page itself has failed and is tried again later; what else is queued for the host waits.
Counted as `incrawl/slow_down/429` and `…/503`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrawl.core.urls import host_key
from incrawl.holds import hold_host
from incrawl.middlewares.purpose import Purpose, purpose_of
from incrawl.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

ASKING_FOR_PEACE = frozenset({429, 503})


class SlowDownMiddleware:
    """A robots.txt that answers so is dealt with where it is read."""

    def __init__(self, worker: Worker):
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SlowDownMiddleware:
        return cls(Worker.of(crawler))

    async def process_response(self, request: Request, response: Response) -> Response:
        if response.status in ASKING_FOR_PEACE and purpose_of(request) is not Purpose.ROBOTS:
            self._worker.count(f"incrawl/slow_down/{response.status}")
            retry_after = (response.headers.get("Retry-After") or b"").decode("latin-1")
            await hold_host(self._worker, host_key(request.url), str(response.status), retry_after)
        return response

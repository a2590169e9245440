"""Scrapy's scheduler on one side, the frontier on the other.

Scrapy asks synchronously, Redis answers asynchronously: what is given out here has been leased
before, and what is taken in here is sent on in the background. Requests that the frontier cannot
hold (a POST, a redirect or retry inside a lease, objects in meta) stay in a queue of this process.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from incrawl.core.records import UrlRecord
from incrawl.feeder import Feeder
from incrawl.frontier.frontier import Find, Lease
from incrawl.page_visit import META_KEY, PageVisit, visit_of
from incrawl.requests import RequestForm, ending_visit
from incrawl.worker import Worker

logger = logging.getLogger(__name__)

PATIENCE = 30.0  # seconds that pages in flight get to end when the crawl is stopped
NUDGE = "incrawl:nudge"


class Scheduler(BaseScheduler):
    """Named by the setting SCHEDULER."""

    def __init__(self, crawler: Crawler, worker: Worker, capacity: int) -> None:
        self._crawler = crawler
        self._worker = worker
        self._capacity = capacity
        self._ready: deque[Request] = deque()
        self._seen_here: set[bytes] = set()
        self._unsent: list[Find] = []
        self._sending: asyncio.Task[None] | None = None
        self._feeder: Feeder | None = None
        self._nudge = Request("data:,", meta={NUDGE: True})

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Scheduler:
        # Some pages wait while others are sent: two for each connection keep the downloader busy.
        return cls(crawler, Worker.of(crawler), 2 * crawler.settings.getint("CONCURRENT_REQUESTS"))

    def open(self, spider: Spider) -> Deferred[None]:
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: Spider) -> None:
        self._form = RequestForm(spider)
        await self._worker.open()
        feeder = self._feeder = Feeder(self._worker, self._capacity, self._deliver, self._wake_engine)
        self._worker.on_discovered = self._feeder.look_at
        self._worker.ledger.on_end = lambda partition: feeder.look_at((partition,))

    def close(self, reason: str) -> Deferred[None]:
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        if self._feeder is None:
            return
        await self._feeder.close()
        if self._sending is not None:
            await asyncio.wait([self._sending], timeout=PATIENCE)
        await self._worker.ledger.close(PATIENCE)
        await self._worker.close(finished=reason == "finished")

    def has_pending_requests(self) -> bool:
        assert self._feeder is not None
        return bool(self._ready or self._sending or self._worker.discovering) or not self._feeder.finished

    def next_request(self) -> Request | None:
        now = time.monotonic()
        while self._ready:
            request = self._ready.popleft()
            visit = visit_of(request)
            if visit is None or not visit.is_over(now):
                return request
            self._worker.ledger.release(visit)
        return None

    def enqueue_request(self, request: Request) -> bool:
        if NUDGE in request.meta:
            return True
        if visit_of(request) is not None:
            self._ready.append(request)
            return True
        kept = self._form.to_json(request)
        if kept is not None:
            self._discover(request.url, kept)
            return True
        return self._enqueue_local(request)

    def _enqueue_local(self, request: Request) -> bool:
        """A request that neither the frontier nor a page's visit looks after: made once in a run."""
        if not request.dont_filter:
            fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
            if fingerprint in self._seen_here:
                self._worker.count("incrawl/requests/filtered")
                return False
            self._seen_here.add(fingerprint)
        self._ready.append(request)
        return True

    def _discover(self, url: str, kept: str) -> None:
        """A request that no page asked for: the frontier decides whether it is due."""
        self._unsent.append(self._worker.frontier.find(UrlRecord(url, request=kept)))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        try:
            while self._unsent:
                finds, self._unsent = self._unsent, []
                await self._worker.discover(finds, seeds=True)
        finally:
            self._sending = None

    def _deliver(self, leases: list[Lease]) -> None:
        """Turns leases into requests, and wakes the engine, which may be idle."""
        for lease in leases:
            visit = self._worker.ledger.open(lease)
            try:
                self._ready.append(self._request(visit))
            except (ValueError, TypeError) as error:
                # What Redis holds may be damaged; one record must not end the run.
                self._worker.count("incrawl/requests/unreadable")
                visit.fail(f"its record makes no request: {error}")
                visit.request_done()
        self._wake_engine()

    def _wake_engine(self) -> None:
        # `crawl` is the public way to make the engine ask the scheduler again, now.
        self._crawler.engine.crawl(self._nudge)

    def _request(self, visit: PageVisit) -> Request:
        request = self._form.from_json(visit.url, visit.record.request)
        request.meta[META_KEY] = visit
        request.errback = ending_visit(visit, request.errback)
        return request

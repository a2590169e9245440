"""Downloader middleware: no request goes to a host before its time, whoever else is crawling.

A lease locks its page's host for one request, whichever comes first: the page itself or its
robots.txt. Every other request (redirects, retries, what a page's pipelines download) reserves its
host in the frontier, like a stranger. Nobody waits for one host while keeping another one locked, so
pages that lead back and forth between hosts cannot wait for each other.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from incrawl.core.urls import host_key
from incrawl.page_visit import HostLock, PageVisit, visit_of
from incrawl.refusals import Held, was_sent
from incrawl.worker import Worker

TURN_KEY = "incrawl_turn"
STRETCH = 1.0  # seconds


@dataclass(frozen=True, slots=True)
class Turn:
    """The right to send one request to a host: by a visit's lease, or by a reservation of its own."""

    host: str
    holder: PageVisit | None
    token: bytes


class PolitenessMiddleware:
    """Stands next to the downloader: what passes it is sent at once."""

    def __init__(self, crawler: Crawler, worker: Worker) -> None:
        self._crawler = crawler
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PolitenessMiddleware:
        return cls(crawler, Worker.of(crawler))

    async def process_request(self, request: Request) -> None:
        host = host_key(request.url)
        visit = visit_of(request)
        request.meta[TURN_KEY] = await self._turn(host, visit)
        if visit is not None and visit.root.is_over(time.monotonic()):
            await self._end_turn(request, sent=False)
            raise Held(host, 0.0, "the lease was over before the request could be sent")

    async def process_response(self, request: Request, response: Response) -> Response:
        await self._end_turn(request)
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        await self._end_turn(request, sent=was_sent(exception))

    async def _turn(self, host: str, visit: PageVisit | None) -> Turn:
        """Waits for the host; raises Held where that would take longer than a run waits."""
        frontier, ledger, token = self._worker.frontier, self._worker.ledger, os.urandom(8)
        place = frontier.place_host(host)
        if visit is not None and visit.root.host_lock is HostLock.SPENT:
            # Kept, it could be what the holder of this host waits for, in another process.
            await ledger.leave_host(visit.root)
        while True:
            holder = ledger.holder(host, visit)
            if holder is not None and holder.host_lock is HostLock.FRESH:
                holder.host_lock = HostLock.BUSY
                return Turn(host, holder, b"")
            if holder is not None and holder.host_lock is HostLock.SPENT:
                await ledger.leave_host(holder)
            wait = await frontier.reserve_host(place, token)
            if wait <= 0:
                return Turn(host, None, token)
            if wait > self._worker.config.max_wait:
                self._worker.count("incrawl/politeness/held")
                raise Held(host, wait, "it is left in peace")
            self._worker.count("incrawl/politeness/waited")
            await self._sleep(wait, host)

    async def _sleep(self, seconds: float, host: str) -> None:
        """Sleeps in short stretches: a crawl that is being stopped waits for nobody's turn."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, STRETCH))
            if not self._crawler.engine.running:
                raise Held(host, 0.0, "the crawl is being stopped")

    async def _end_turn(self, request: Request, *, sent: bool = True) -> None:
        turn: Turn | None = request.meta.pop(TURN_KEY, None)
        if turn is None:  # stopped before it came here, or answered from a cache
            return
        if turn.holder is None:
            frontier = self._worker.frontier
            await frontier.free_host(frontier.place_host(turn.host), turn.token, 0.0 if sent else None)
            return
        turn.holder.host_lock = HostLock.SPENT
        if sent:
            turn.holder.response_ended = time.monotonic()
        visit = visit_of(request)
        if visit is None or visit.root is not turn.holder:
            # A robots.txt may lead to another host: the page's own request queues up again.
            await self._worker.ledger.leave_host(turn.holder)

"""Downloader middleware: every request is taken out of the budget before it is sent.

Pages, redirects, retries, robots.txt, sitemaps: whatever goes to a server counts. Counted as
`incrawl/budget/spent`, `…/waited`, `…/held`, `…/given_back`.
"""

from __future__ import annotations

import time

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from incrawl.core.urls import host_key
from incrawl.middlewares.politeness import TURN_KEY, Turn
from incrawl.page_visit import visit_of
from incrawl.purse import BudgetSpent, Purse
from incrawl.refusals import Held, was_sent
from incrawl.worker import Worker

STAMP_KEY = "incrawl_budget_stamp"


class BudgetMiddleware:
    """Stands next to the downloader, behind all that may refuse a request or make it wait."""

    def __init__(self, crawler: Crawler, worker: Worker) -> None:
        self._crawler = crawler
        self._worker = worker

    @property
    def _purse(self) -> Purse:
        purse = self._worker.purse
        assert purse is not None, "there is a budget, and the scheduler is open"
        return purse

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BudgetMiddleware:
        worker = Worker.of(crawler)
        if worker.config.budget is None:
            raise NotConfigured
        return cls(crawler, worker)

    async def process_request(self, request: Request) -> None:
        visit = visit_of(request)
        host = host_key(request.url)
        started = time.monotonic()
        request.meta.pop(STAMP_KEY, None)  # a redirect brings the one of the request before it
        try:
            request.meta[STAMP_KEY] = await self._purse.spend(self._goes_on)
        except BudgetSpent:
            # The page stays due: the next run, or this one when there is something left, takes it up.
            raise Held(host, 0.0, "the budget is spent") from None
        if visit is not None:
            visit.root.paid = True
            if visit.root.is_over(time.monotonic()):
                raise Held(host, 0.0, "the lease was over before the request could be sent")
        if not await self._keeps_turn(request, time.monotonic() - started):
            raise Held(host, 0.0, "its turn at the host was over before the budget had room")

    async def _keeps_turn(self, request: Request, waited: float) -> bool:
        """A reservation of a host runs out, as a lease does, but nobody renews it while a request waits."""
        turn: Turn | None = request.meta.get(TURN_KEY)
        if turn is None or turn.holder is not None or waited < self._worker.config.lease_time / 2:
            return True
        frontier = self._worker.frontier
        return await frontier.reserve_host(frontier.place_host(turn.host), turn.token) <= 0

    async def process_response(self, request: Request, response: Response) -> Response:
        await self._settle(request, sent=True)
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        # What a rule has stopped was not sent; of a failure nobody knows how far it came.
        await self._settle(request, sent=was_sent(exception))

    def _goes_on(self) -> bool:
        return self._crawler.engine is not None and self._crawler.engine.running

    async def _settle(self, request: Request, *, sent: bool) -> None:
        stamp: bytes | None = request.meta.pop(STAMP_KEY, None)
        if stamp is not None:
            await self._purse.settle(stamp, sent=sent)

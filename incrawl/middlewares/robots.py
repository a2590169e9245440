"""No page is asked for that its site's robots.txt disallows. In force while ROBOTSTXT_OBEY is.

Counted as `incrawl/robots/disallowed`; what was fetched and held, see `incrawl.robots_files`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from incrawl.middlewares.purpose import Purpose, purpose_of
from incrawl.page_visit import visit_of
from incrawl.refusals import refuse
from incrawl.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler


class RobotsMiddleware:
    """Takes the place of Scrapy's RobotsTxtMiddleware."""

    def __init__(self, crawler: Crawler, worker: Worker):
        self._crawler = crawler
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        return cls(crawler, Worker.of(crawler))

    async def process_request(self, request: Request) -> None:
        if purpose_of(request) is Purpose.ROBOTS or request.meta.get("dont_obey_robotstxt"):
            return
        robots = await self._worker.robots.get(request.url, self._crawler.engine.download_async)
        if purpose_of(request) is not Purpose.PAGE:
            return  # a sitemap that was named may be read, and does not make itself known again
        if not robots.allows(request.url):
            raise refuse(self._crawler.stats, "robots", "disallowed")
        visit = visit_of(request)
        if visit is not None and getattr(self._crawler.spider, "reads_sitemaps", False):
            await self._worker.sitemaps.make_known(robots.sitemaps, visit.record)

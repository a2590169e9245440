"""One crawl by one contender, for `crawl.py`: prints its CPU time, start, end and number of pages as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response

COMMON: dict[str, Any] = {
    "LOG_LEVEL": "WARNING",
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "TELNETCONSOLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
}


class FollowSpider(Spider):
    """What a user writes: follow every link."""

    name = "follow"
    urls = ""

    async def start(self) -> Any:
        for url in self.urls.split(","):
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Request]:
        yield from response.follow_all(css="a::attr(href)")


def settings_of(contender: str, server: str, state: str) -> dict[str, Any]:
    incrawl = {
        "INCRAWL_STATE_DIR": state,
        "INCRAWL_HOST_INTERVAL": 0,
        "REDIS_URL": server,
        "INCRAWL_ALLOW_NETWORKS": "127.0.0.0/8",
    }
    if contender == "memory":
        return {}
    if contender == "scrapy-redis":
        return {
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": server,
        }
    if contender == "incrawl-frontier":
        return {**incrawl, "ADDONS": {"incrawl.Addon": 300}, "INCRAWL_DETECT_CHANGES": False}
    from incrawl import settings

    project = {name: getattr(settings, name) for name in dir(settings) if name.isupper()}
    return {**project, **incrawl, "ROBOTSTXT_OBEY": False}


def main(contender: str, urls: str, server: str, state: str) -> None:
    process = AsyncCrawlerProcess({**COMMON, **settings_of(contender, server, state), **COMMON})
    if contender == "incrawl":
        crawler = process.create_crawler("incremental")
        arguments = {"urls": ",".join(f"{url} level=255" for url in urls.split(","))}
    else:
        crawler = process.create_crawler(FollowSpider)
        arguments = {"urls": urls}
    process.crawl(crawler, **arguments)
    started, cpu = time.monotonic(), time.process_time()
    process.start()
    ended, cpu = time.monotonic(), time.process_time() - cpu
    pages = crawler.stats.get_value("downloader/response_status_count/200", 0)
    print(json.dumps({"cpu": cpu, "started": started, "ended": ended, "pages": pages}))


if __name__ == "__main__":
    main(*sys.argv[1:])

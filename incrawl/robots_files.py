"""The robots.txt files of all hosts: fetched once a day, shared by all workers, before any content.

A file that cannot be had (429, 5xx, no answer) holds its host: nothing is fetched, and no URL leaves
the queue for it. Counted as `incrawl/robots/fetched`, `…/shared`, `…/held`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from incrawl.core.robots import LIFETIME, Robots, robots_from
from incrawl.core.urls import host_key, is_web_url
from incrawl.holds import hold_host
from incrawl.middlewares.purpose import META_KEY, Purpose
from incrawl.refusals import Held, Refused

if TYPE_CHECKING:
    from scrapy.http import Response

    from incrawl.worker import Worker

logger = logging.getLogger(__name__)

Download = Callable[[Request], Awaitable["Response"]]

OWN_LIFETIME = 3600.0  # seconds that a worker does without asking the others
MAX_FILES = 5000  # kept by a worker
MAX_REDIRECTS = 5
MAX_SIZE = 8 * 1024 * 1024  # far more than is read; a longer answer is no robots.txt


class RobotsFiles:
    """One per worker. `agent` is this crawler's product token."""

    def __init__(self, worker: Worker, agent: str):
        self._worker = worker
        self.agent = agent
        self._files: OrderedDict[str, tuple[Robots, float]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[Robots]] = {}

    def known(self, url: str) -> Robots | None:
        """What is known without asking anybody."""
        found = self._files.get(origin_of(url))
        return found[0] if found is not None and self._worker.frontier.now() < found[1] else None

    async def get(self, url: str, download: Download) -> Robots:
        """The rules for a URL's host. Raises Held where they cannot be had."""
        known = self.known(url)
        if known is not None:
            return known
        origin = origin_of(url)
        task = self._asking.get(origin)
        if task is None:
            task = self._asking[origin] = asyncio.ensure_future(self._find(origin, download))
            task.add_done_callback(lambda _: self._asking.pop(origin, None))
        # Several pages may wait for one file; one that is given up must not take it from the others.
        return await asyncio.shield(task)

    async def _find(self, origin: str, download: Download) -> Robots:
        host, name = host_key(origin), f"robots {origin.partition(':')[0]} {self.agent}"
        shared = await self._worker.frontier.cache_get(host, name)
        robots = Robots.unpack(shared) if shared is not None else None
        if robots is not None:
            self._worker.count("incrawl/robots/shared")
        else:
            robots = await self._fetch(origin, host, download)
            await self._worker.frontier.cache_set(host, name, robots.pack(), LIFETIME - OWN_LIFETIME)
            await self._keep_pace(host, robots)
        self._keep(origin, robots)
        return robots

    async def _fetch(self, origin: str, host: str, download: Download) -> Robots:
        status, retry_after, reason = 0, "", ""
        try:
            response = await self._follow(f"{origin}/robots.txt", download)
        except Held:
            raise
        except Exception as error:  # whatever went wrong, the file could not be had
            if isinstance(error, Refused) and error.part == "address":
                raise  # nor may the page be: waiting will not help
            logger.info("%s/robots.txt could not be fetched: %s", origin, error)
            reason = type(error).__name__
        else:
            status, reason = response.status, str(response.status)
            retry_after = (response.headers.get("Retry-After") or b"").decode("latin-1")
        robots = robots_from(status, response.body, self.agent) if status else None
        if robots is not None:
            self._worker.count("incrawl/robots/fetched")
            return robots
        self._worker.count("incrawl/robots/held")
        seconds = await hold_host(self._worker, host, f"robots.txt: {reason}", retry_after)
        raise Held(host, seconds, f"robots.txt: {reason}")

    async def _follow(self, url: str, download: Download) -> Response:
        """The answer after up to five redirects, each of which passes the guard and waits its turn."""
        for _ in range(MAX_REDIRECTS + 1):
            response = await download(request_for(url))
            location = response.headers.get("Location")
            if not 300 <= response.status < 400 or location is None:
                break
            url = urljoin(url, location.decode("latin-1"))
            if not is_web_url(url):
                break
        return response

    async def _keep_pace(self, host: str, robots: Robots) -> None:
        """A Crawl-delay lengthens the host's interval, unless the user has agreed on another one."""
        config = self._worker.config
        if host not in config.host_intervals:
            longer = robots.crawl_delay is not None and robots.crawl_delay > config.host_interval
            await self._worker.frontier.set_gap(host, robots.crawl_delay if longer else None)

    def _keep(self, origin: str, robots: Robots) -> None:
        self._files[origin] = robots, self._worker.frontier.now() + OWN_LIFETIME
        self._files.move_to_end(origin)
        while len(self._files) > MAX_FILES:
            self._files.popitem(last=False)


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


def request_for(url: str) -> Request:
    """Redirects are followed and failures dealt with by the caller."""
    meta = {
        META_KEY: Purpose.ROBOTS,
        "dont_redirect": True,
        "dont_retry": True,
        "handle_httpstatus_all": True,
        "download_maxsize": MAX_SIZE,
    }
    return Request(url, callback=NO_CALLBACK, meta=meta, dont_filter=True)

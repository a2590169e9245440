from __future__ import annotations

from collections.abc import AsyncIterator

from scrapy import Request, Spider


class UnfinishedSpider(Spider):
    """Fails before it has begun."""

    name = "unfinished"

    async def start(self) -> AsyncIterator[Request]:
        raise RuntimeError("nobody has written this yet")
        yield

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.http import Response


class NotTheLastPageMiddleware:
    """A rule of the user's own: some links are not followed."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for each in result:
            if not (isinstance(each, Request) and each.url.endswith("/p/5")):
                yield each

from __future__ import annotations

from collections.abc import Iterator

from scrapy import Request, Spider
from scrapy.http import Response


class EverythingSpider(Spider):
    """Follows every link."""

    name = "everything"

    def __init__(self, shop: str = "http://localhost", **arguments: str) -> None:
        super().__init__(**arguments)
        self.start_urls = [f"{shop}/p/0"]

    def parse(self, response: Response) -> Iterator[Request]:
        yield from response.follow_all(css="a::attr(href)")

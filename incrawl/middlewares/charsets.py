"""A page that names a codec of Python for its charset, `base64` or `idna` say, is read as if it named none.

Scrapy would take the name for good and fail as soon as anybody looks at the text. Counted as
`incrawl/content/charset`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.http import TextResponse

from incrawl.core.changes.decode import charset

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

INSTEAD = "utf-8"


class CharsetMiddleware:
    """Stands right above the decompression, before anybody reads a page's text."""

    def __init__(self, stats: StatsCollector):
        self.stats = stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CharsetMiddleware:
        return cls(crawler.stats)

    def process_response(self, request: Request, response: Response) -> Response:
        if not isinstance(response, TextResponse) or charset(response.encoding) is not None:
            return response
        self.stats.inc_value("incrawl/content/charset")
        return response.replace(encoding=INSTEAD)

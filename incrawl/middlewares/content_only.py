"""Content pages only: nothing else is requested, and nothing else is kept.

By extension before the request, by Content-Type before the body is read, by first bytes when the type
says nothing or lies. Counted as `incrawl/content/extension`, `…/type`, `…/bytes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import StopDownload

from incrawl.config import Config
from incrawl.core.content import SNIFFED_BYTES, ContentRule
from incrawl.middlewares.purpose import Purpose, purpose_of
from incrawl.refusals import refuse

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from scrapy.statscollectors import StatsCollector


class ContentOnlyMiddleware:
    """Stands above the decompression, so that first bytes are those of the page itself."""

    def __init__(self, stats: StatsCollector, rule: ContentRule):
        self.stats = stats
        self.rule = rule

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ContentOnlyMiddleware:
        middleware = cls(crawler.stats, ContentRule(Config.from_settings(crawler.settings).content_types))
        crawler.signals.connect(middleware.headers_received, signals.headers_received)
        return middleware

    def process_request(self, request: Request) -> None:
        if purpose_of(request) is Purpose.PAGE and not self.rule.wants_url(request.url):
            raise refuse(self.stats, "content", "extension")

    def headers_received(self, headers: Headers, request: Request) -> None:
        """Ends the download of a body that would not be kept; the response goes on without it."""
        if purpose_of(request) is Purpose.PAGE and self.rule.wants_type(content_type(headers)) is False:
            raise StopDownload(fail=False)

    def process_response(self, request: Request, response: Response) -> Response:
        if purpose_of(request) is not Purpose.PAGE or not 200 <= response.status < 300:
            return response
        kind = content_type(response.headers)
        if self.rule.wants_type(kind) is False:
            raise refuse(self.stats, "content", "type", kind[:100])
        if not self.rule.wants_body(kind, response.body[:SNIFFED_BYTES]):
            raise refuse(self.stats, "content", "bytes", kind[:100])
        return response


def content_type(headers: Headers) -> str:
    """The Content-Type, or the last of several, as browsers have it."""
    given = headers.getlist("Content-Type")
    return given[-1].decode("latin-1") if given else ""

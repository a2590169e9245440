"""Scrapy's meta refresh, which does not lose a page over an address that is none.

A `<base>` or a refresh that leads to `http://[`, to port 99999 or to `javascript:` is passed over, as
browsers do. Counted as `incrawl/content/refresh`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import MetaRefreshMiddleware

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class ForgivingMetaRefreshMiddleware(MetaRefreshMiddleware):
    """Takes the place of Scrapy's MetaRefreshMiddleware."""

    def process_response(  # type: ignore[override]  # Scrapy's `spider` argument is deprecated
        self, request: Request, response: Response
    ) -> Request | Response:
        try:
            return super().process_response(request, response)
        except ValueError:
            self.crawler.stats.inc_value("incrawl/content/refresh")
            return response

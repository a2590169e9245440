"""Scrapy's decompression, with its refusals told apart: bombs, too many layers, broken data.

Scrapy stops each layer at the allowed size (here `INCRAWL_MAX_BODY`) while it decompresses, so that a
bomb never unfolds. It does not bound the number of layers, each of which may cost that much work again.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import brotli
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.utils._compression import zstd  # type: ignore[attr-defined]

from incrawl.config import Config
from incrawl.refusals import refuse

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

MAX_LAYERS = 3

_BROKEN = (OSError, EOFError, zlib.error, brotli.error, zstd.ZstdError)


class BoundedCompressionMiddleware(HttpCompressionMiddleware):
    """Takes the place of Scrapy's HttpCompressionMiddleware."""

    stats: StatsCollector

    def __init__(self, *, crawler: Crawler):
        super().__init__(crawler=crawler)
        self._max_size = Config.from_settings(crawler.settings).max_body
        self._warn_size = self._max_size + 1  # larger ones are refused, with a count of their own

    def process_response(  # type: ignore[override]  # Scrapy's `spider` argument is deprecated
        self, request: Request, response: Response
    ) -> Request | Response:
        layers = b",".join(response.headers.getlist("Content-Encoding")).count(b",") + 1
        if layers > MAX_LAYERS:
            raise refuse(self.stats, "limits", "encodings", f"{layers} layers")
        try:
            return super().process_response(request, response)
        except IgnoreRequest as error:
            raise refuse(self.stats, "limits", "body", "after decompression") from error
        except _BROKEN as error:
            self.stats.inc_value("incrawl/limits/broken_encoding")
            raise ResponseDataLossError(str(error)) from error

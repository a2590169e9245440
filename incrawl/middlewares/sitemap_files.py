"""Sitemaps come packed, and larger than pages: this lets them, within the bounds of their protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrawl.core.sitemaps import MAX_BYTES, unpacked
from incrawl.middlewares.purpose import Purpose, purpose_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class SitemapFilesMiddleware:
    """Stands above the decompression of transfers: a `.xml.gz` is packed as a file."""

    def process_request(self, request: Request) -> None:
        if purpose_of(request) is Purpose.SITEMAP:
            request.meta["download_maxsize"] = MAX_BYTES

    def process_response(self, request: Request, response: Response) -> Response:
        if purpose_of(request) is Purpose.SITEMAP and response.body.startswith(b"\x1f\x8b"):
            return response.replace(body=unpacked(response.body))
        return response

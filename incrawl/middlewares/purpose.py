"""What a request is for. Pages are the rule; the others are files that the crawl reads for itself."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from incrawl.core.sitemaps import SITEMAP_KEY

if TYPE_CHECKING:
    from scrapy import Request

META_KEY = "incrawl_purpose"


class Purpose(StrEnum):
    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"


def purpose_of(request: Request) -> Purpose:
    # The frontier keeps this key with a sitemap's URL. It opens no door: it allows another type and size.
    usual = Purpose.SITEMAP if request.meta.get(SITEMAP_KEY) is True else Purpose.PAGE
    return Purpose(request.meta.get(META_KEY, usual))

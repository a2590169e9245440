"""URL filters: which URLs may enter the queues, written by people in a small file.

    # only the news, without the print view
    allow domain example.com and prefix /news/
    deny  regex "[?&]print=" or protocol http

A URL is accepted when no `deny` line holds for it and, where there are `allow` lines, at least
one of them does. The order of the lines does not matter.
"""

from __future__ import annotations

from incrawl.core.filters.conditions import UrlCondition
from incrawl.core.filters.file import UrlFilters, load_filters, parse_filters

__all__ = ["UrlCondition", "UrlFilters", "load_filters", "parse_filters"]

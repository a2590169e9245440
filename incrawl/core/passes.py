"""Passes over the pages (paper 004): each counts a page's `fr` down, and at 0 the page is crawled.

A pass is a slice of time (`INCRAWL_PASS_TIME`), the same for all pages: a page that was crawled in one
pass and has fr_max = 1 is due from the start of the next one. So a crawl that runs once in every pass,
sooner today and later tomorrow, takes each page in every fr_max-th run.
"""

from __future__ import annotations

import math


def pass_number(time: float, pass_time: float) -> int:
    return math.floor(time / pass_time)


def passes_left(last_crawl: float | None, fr_max: int, now: float, pass_time: float) -> int:
    """`fr`: passes until the page is due; 0 means that it is crawled in the present one.

    >>> [passes_left(25.0, 3, now, pass_time=10.0) for now in (26.0, 30.0, 49.9, 50.0, 99.0)]
    [3, 2, 1, 0, 0]
    """
    if last_crawl is None:
        return 0
    due = pass_number(last_crawl, pass_time) + fr_max
    return max(0, due - pass_number(now, pass_time))


def until_pass(now: float, fr_max: int, pass_time: float) -> float:
    """Seconds until the start of the pass in which a page crawled now is due.

    >>> until_pass(25.0, 3, pass_time=10.0)
    25.0
    """
    return (pass_number(now, pass_time) + fr_max) * pass_time - now

"""How long to leave a host alone that asked for it, or that seems to need it."""

from __future__ import annotations

import math

from incrawl.core.values import parse_http_date

LONGEST_HOLD = 24 * 3600.0
FIRST_BACKOFF = 60.0


def retry_after(value: str, now: float) -> float | None:
    """Seconds in a Retry-After header, given as seconds or as a date; None where it says nothing.

    >>> retry_after("120", now=0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now=0)
    (120.0, 60.0)
    """
    text = value.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), LONGEST_HOLD)
    moment = parse_http_date(text)
    return None if moment is None else min(max(moment - now, 0.0), LONGEST_HOLD)


def backoff(times: int, chance: float) -> float:
    """Seconds to wait after the `times`-th trouble in a row: doubling, spread by `chance` (0…1).

    The spread keeps hosts that failed together from being asked together again.

    >>> backoff(1, 0.0), backoff(3, 1.0)
    (30.0, 240.0)
    """
    full = min(FIRST_BACKOFF * 2.0 ** min(max(times, 1) - 1, 30), LONGEST_HOLD)
    return full / 2 + full / 2 * chance


def hold_time(header: str, times: int, chance: float, now: float) -> float:
    """What the server asks for; where it asks for nothing, growing backoff. Never less than a second.

    A server that says a shorter time again and again is not believed: the backoff is the least from
    the second time on.
    """
    asked = retry_after(header, now)
    if asked is None:
        return backoff(times, chance)
    least = backoff(times - 1, 0.0) if times > 1 else 1.0
    return math.ceil(min(max(asked, least), LONGEST_HOLD))

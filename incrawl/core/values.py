"""Reading values that people write: spans of time, rates, sizes. Each raises ValueError with a hint."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SPAN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([smhdw]?)\s*", re.ASCII)
_SIZE_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_SIZE = re.compile(r"([0-9]*\.?[0-9]+)\s*([kmg]?)(?:i?b)?", re.ASCII)
_RATE_WORDS = {"second": "1s", "minute": "1m", "min": "1m", "hour": "1h", "day": "1d", "week": "1w"}
_RATE_WORDS |= {unit: f"1{unit}" for unit in "smhdw"}


def parse_span(text: object) -> float:
    """Seconds in a number or in text such as `90`, `10s`, `1.5h`, `7d`.

    >>> parse_span("1.5h")
    5400.0
    """
    if isinstance(text, bool):
        raise ValueError("a span of time is a number of seconds or text such as 10s, 1.5h, 7d")
    match = _SPAN.fullmatch(str(text))
    seconds = float(match[1]) * _UNITS[match[2]] if match else math.nan
    if not math.isfinite(seconds):
        raise ValueError("a span of time is a number of seconds or text such as 10s, 1.5h, 7d")
    return seconds


def parse_size(text: object) -> int:
    """Bytes in a whole number or in text such as `500k`, `4MiB`, `1 GiB`; units are powers of 1024.

    >>> parse_size("4MiB")
    4194304
    """
    match = None if isinstance(text, bool) else _SIZE.fullmatch(str(text).strip().lower())
    size = int(float(match[1]) * _SIZE_UNITS[match[2]]) if match else 0
    if size < 1:
        raise ValueError("a size is a number of bytes or text such as 500k, 4MiB")
    return size


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of something within any `span` seconds."""

    count: int
    span: float

    @property
    def per_second(self) -> float:
        return self.count / self.span


def parse_rate(text: object) -> Rate:
    """A rate in text such as `20000/day`, `500/h`, `30/10s`.

    >>> parse_rate("500/h")
    Rate(count=500, span=3600.0)
    """
    count, slash, per = (part.strip() for part in str(text).lower().partition("/"))
    if not slash or not count.isascii() or not count.isdigit():
        raise ValueError("a rate is a whole number and a unit, such as 20000/day or 500/h")
    if int(count) == 0:
        raise ValueError("a rate of zero would allow nothing")
    try:
        span = parse_span(_RATE_WORDS.get(per, per))
    except ValueError:
        span = 0.0
    if span <= 0:
        raise ValueError(f"{per!r} is no unit of time: write day, hour, minute, or a span such as 10s")
    return Rate(int(count), span)


def format_span(seconds: float) -> str:
    """A span for people, in its largest fitting unit.

    >>> format_span(5400)
    '1.5h'
    """
    for unit in ("w", "d", "h", "m"):
        if seconds >= _UNITS[unit]:
            return f"{round(seconds / _UNITS[unit], 1):g}{unit}"
    return f"{round(seconds, 1):g}s"


def parse_http_date(text: str) -> float | None:
    """Unix seconds of a date in a header such as Last-Modified; None where it is none.

    >>> parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT")
    784111777.0
    """
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None

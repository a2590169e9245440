"""How the values of settings are read: from text or Python values, checked, each in one word.

All of them raise ValueError or TypeError with a hint that ends the sentence "… cannot be …: ".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrawl.core.changes.volatile import MINUTES_APART
from incrawl.core.refresh.policy import IMPORTANCES
from incrawl.core.values import parse_span

MOST_PARTITIONS = 4096
"""Every worker looks at each of them in turn."""


def a_span(text: Any) -> float:
    return parse_span(text)


def a_positive_span(text: Any) -> float:
    seconds = parse_span(text)
    if seconds <= 0:
        raise ValueError("must be longer than zero")
    return seconds


def a_few_minutes(text: Any) -> float:
    seconds = parse_span(text)
    if seconds > MINUTES_APART:
        raise ValueError(f"must not be longer than {MINUTES_APART / 60:.0f}m")
    return seconds


def a_switch(value: Any) -> bool:
    if str(value).lower() in {"1", "true", "yes", "on"}:
        return True
    if str(value).lower() in {"0", "false", "no", "off", "none", ""}:
        return False
    raise ValueError("must be true or false")


def a_number(value: Any) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValueError("must be a number") from None


def a_share(value: Any) -> float:
    number = a_number(value)
    if not 0 < number <= 1:
        raise ValueError("must be above 0 and at most 1")
    return number


def a_share_or_zero(value: Any) -> float:
    return 0.0 if a_number(value) == 0 else a_share(value)


def a_ratio(value: Any) -> float:
    number = a_number(value)
    if not 1 <= number < math.inf:
        raise ValueError("must be a number of at least 1")
    return number


def a_count(value: Any) -> int:
    number = a_number(value)
    if not 1 <= number < math.inf or number != int(number) or isinstance(value, bool):
        raise ValueError("must be a whole number of at least 1")
    return int(number)


def a_number_of_partitions(value: Any) -> int:
    if a_count(value) > MOST_PARTITIONS:
        raise ValueError(f"must be at most {MOST_PARTITIONS}")
    return a_count(value)


def a_time_to_rank(value: Any) -> str:
    if value not in {"auto", "always", "never"}:
        raise ValueError("choose auto, always or never")
    return str(value)


def a_path(value: Any) -> Path:
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError:  # of whom nothing is known
        raise ValueError("there is no such home directory") from None


def an_importance(value: Any) -> str:
    if value not in IMPORTANCES:
        raise ValueError(f"choose {', '.join(IMPORTANCES[:-1])} or {IMPORTANCES[-1]}")
    return str(value)


def some_text(value: Any) -> str:
    return str(value or "").strip()


def some_types(value: Any) -> frozenset[str]:
    words = value.split(",") if isinstance(value, str) else value
    return frozenset(word.strip().lower() for word in words if word.strip())


def host_spans(value: Any) -> Mapping[str, float]:
    """`{"example.com": 1}` or `example.com=1s, localhost:8000=0`."""
    if isinstance(value, str):
        pairs = [part.rpartition("=")[::2] for part in value.split(",") if part.strip()]
    else:
        pairs = list(dict(value).items())
    return {host.strip().lower(): parse_span(span) for host, span in pairs}

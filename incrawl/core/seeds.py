"""Seed files: one URL a line, and what is asked for its site.

    # comment
    https://example.com/                       # followed DEFAULT_LEVEL levels deep
    https://example.com/news  level=1 refresh=2h pl=0.2 pg=0.6

A bad line is reported with its number, and the rest goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from incrawl.core.identity import without_credentials
from incrawl.core.records import UrlRecord
from incrawl.core.urls import is_web_url
from incrawl.core.values import parse_span

DEFAULT_LEVEL = 3
MAX_LEVEL = 255


@dataclass(frozen=True, slots=True)
class BadLine:
    number: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.problem}"


@dataclass(slots=True)
class Seeds:
    """What a seed file says."""

    records: list[UrlRecord] = field(default_factory=list)
    bad: list[BadLine] = field(default_factory=list)


def parse_seeds(lines: Iterable[str], *, pl: float, pg: float) -> Seeds:
    """Reads seed lines; `pl` and `pg` are what holds where a line gives only one of them."""
    seeds = Seeds()
    for number, line in enumerate(lines, 1):
        words = _words(line)
        if not words:
            continue
        try:
            seeds.records.append(_record(words, pl, pg))
        except ValueError as error:
            seeds.bad.append(BadLine(number, str(error)))
    return seeds


def _words(line: str) -> list[str]:
    """The words before a comment; a `#` inside a URL is a fragment, not a comment."""
    words: list[str] = []
    for word in line.split():
        if word.startswith("#"):
            break
        words.append(word)
    return words


def _record(words: list[str], pl: float, pg: float) -> UrlRecord:
    url, *options = words
    url = without_credentials(url)  # they would be kept with every record
    if not is_web_url(url):
        raise ValueError(f"{url!r} is not an http or https URL")
    given: dict[str, float] = {}
    for name, value in map(_option, options):
        if name in given:
            raise ValueError(f"{name} is given more than once")
        given[name] = value
    own_pl, own_pg = given.get("pl"), given.get("pg")
    if not 0 < (own_pl or pl) < (own_pg or pg) <= 1:
        raise ValueError(f"pl ({own_pl or pl}) and pg ({own_pg or pg}) must keep to 0 < pl < pg <= 1")
    level = given.get("level", DEFAULT_LEVEL)
    return UrlRecord(url, level=int(level), refresh_time=given.get("refresh"), pl=own_pl, pg=own_pg)


def _option(word: str) -> tuple[str, float]:
    name, equals, value = word.partition("=")
    if not equals and name.isdecimal():
        name, value = "level", name
    if name == "level":
        if not value.isdecimal() or int(value) > MAX_LEVEL:
            raise ValueError(f"level {value!r} is not a whole number from 0 to {MAX_LEVEL}")
        return name, int(value)
    if name == "refresh":
        return name, _span(value)
    if name in {"pl", "pg"}:
        return name, _share(name, value)
    raise ValueError(f"{word!r} is not one of level=, refresh=, pl=, pg=")


def _span(value: str) -> float:
    try:
        seconds = parse_span(value)
    except ValueError as error:
        raise ValueError(f"refresh {value!r}: {error}") from None
    if seconds <= 0:
        raise ValueError(f"refresh {value!r} is not longer than zero")
    return seconds


def _share(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise ValueError(f"{name} {value!r} is not a number above 0 and at most 1")
    return number

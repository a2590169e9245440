"""How much readers care for a page (paper 001): distinct users, as a percentile of the collection."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

Page = TypeVar("Page", bound=Hashable)


class Hit(NamedTuple):
    """One line of a log: somebody asked for a page."""

    url: str
    user: str
    time: float


@dataclass(slots=True)
class Readers:
    """Who asked for which page, and when last: enough to count distinct users over any window."""

    last_seen: dict[str, dict[int, float]] = field(default_factory=dict)
    newest: float = 0.0

    def add(self, hits: Iterable[Hit]) -> None:
        # Users are kept as hashes: an address and an agent string per reader would be ten times
        # the memory, and of no use here.
        for url, user, time in hits:
            key, readers = hash(user), self.last_seen.get(url)
            if readers is None:
                self.last_seen[url] = {key: time}
            elif readers.get(key, 0.0) < time:
                readers[key] = time
            if time > self.newest:
                self.newest = time

    def users(self, window: float | None = None) -> dict[str, int]:
        """Distinct users per page within `window` seconds before the newest line."""
        if window is None:
            return {url: len(readers) for url, readers in self.last_seen.items()}
        since = self.newest - window
        counts = {
            url: sum(time >= since for time in readers.values()) for url, readers in self.last_seen.items()
        }
        return {url: count for url, count in counts.items() if count}


def percentiles(users: Mapping[Page, int], pages: Iterable[Page] = ()) -> dict[Page, float]:
    """The interest of each page: the share of the *other* pages that have fewer users, 0…1.

    `pages` is the collection; those that nobody asked for have interest 0.

    >>> percentiles({"a": 4, "b": 1}, ["a", "b", "c"])
    {'a': 1.0, 'b': 0.5, 'c': 0.0}
    """
    counts = dict(users)
    for page in pages:
        counts.setdefault(page, 0)
    ordered = sorted(counts.values())
    others = max(len(ordered) - 1, 1)
    # Few distinct counts, many pages: each count's place is looked up once.
    place = {count: bisect_left(ordered, count) / others for count in set(ordered)}
    return {page: place[count] for page, count in counts.items()}

"""The URL record and the visit: the values that the frontier keeps and the policies read.

Times are Unix seconds, spans are seconds. "Unknown" and "never" are None, and None in a
setting-like field (pl, pg) means "as the settings say".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple

from incrawl.core.elsewhere import Elsewhere

HISTORY_LENGTH = 20
"""Visits that `pc` is taken over, and that a record carries along."""


class Outcome(StrEnum):
    """How one visit ended. Exactly one of these per visit, counted as `incrawl/visit/<outcome>`."""

    NEW = "new"  # first document of this page
    CHANGED = "changed"
    UNCHANGED = "unchanged"  # the page was fetched and is the same
    VOLATILE = "volatile"  # only parts differ that are known to differ at every visit
    NOT_MODIFIED = "not_modified"  # the server said 304
    GONE = "gone"  # 404, 410
    MOVED = "moved"  # permanent redirect
    REFUSED = "refused"  # robots.txt, filters, login walls, wrong type: nothing to compare
    FAILED = "failed"  # network, server or spider error: says nothing about the page


COMPARED = frozenset({Outcome.CHANGED, Outcome.UNCHANGED, Outcome.VOLATILE, Outcome.NOT_MODIFIED})
"""Outcomes that answer the question "did the page change?"."""


MISSED = frozenset({Outcome.FAILED, Outcome.GONE, Outcome.MOVED})
"""Outcomes that say that the page was not where it was looked for."""


class Category(StrEnum):
    """How a page behaves over its known visits (paper 000, section III)."""

    UNKNOWN = "unknown"  # not yet compared with anything
    STATIC = "static"
    REGULAR = "regular"
    FREQUENT = "frequent"
    DYNAMIC = "dynamic"  # differs at every visit


class Observation(NamedTuple):
    """One answered question: did the page change within `interval` seconds?"""

    interval: float
    changed: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """What observations older than the history said, all together; it fades as more of them come."""

    unchanged: float = 0.0  # seconds in which the page did not change
    changes: float = 0.0  # intervals in which it did
    interval: float = 0.0  # geometric mean of those

    FADING: ClassVar[float] = 0.97

    def with_observation(self, seen: Observation) -> Evidence:
        unchanged, changes = self.unchanged * self.FADING, self.changes * self.FADING
        if not seen.changed:
            return Evidence(unchanged + seen.interval, changes, self.interval)
        logarithm = changes * math.log(self.interval or 1.0) + math.log(max(seen.interval, 1e-3))
        return Evidence(unchanged, changes + 1, math.exp(logarithm / (changes + 1)))


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visit found. `time` is the server's clock when the visit ended."""

    time: float
    outcome: Outcome
    status: int | None = None
    last_modified: float | None = None
    internal_changes: float | None = None  # share of its internal pages changed since its last crawl
    elsewhere: Elsewhere | None = None  # where else the page was found to be

    @property
    def changed(self) -> bool:
        return self.outcome is Outcome.CHANGED

    @property
    def compared(self) -> bool:
        return self.outcome in COMPARED


class UrlRecord(NamedTuple):
    """What the frontier knows of one URL (paper 000, Fig. 4, and the fields paper 004 adds).

    A tuple, since a visit makes several of them, and a frozen dataclass takes six times as long.
    """

    url: str  # as found; the record's key is the canonical form of it
    level: int = 0  # link levels still to be followed below this page
    refresh_time: float | None = None  # None until a policy or a seed sets one
    last_crawl: float | None = None
    pl: float | None = None
    pg: float | None = None
    document: str | None = None  # run directory that holds the current version
    fingerprint: bytes = b""  # order-sensitive digest of the current version
    size: int = 0
    type: str = ""
    visits: int = 0
    changes: int = 0
    failures: int = 0  # visits in a row that failed or found the page gone or moved
    history: tuple[Observation, ...] = ()  # oldest first, at most HISTORY_LENGTH
    list: int = 0  # 0, 1, 2: which of the three lists (paper 003) it is leased from
    fr: int = 0  # passes left until the next crawl (paper 004)
    fr_max: int = 0
    interest: float | None = None  # 0…1, percentile of distinct users (paper 001)
    rank: float | None = None  # PageRank, 0…10 (paper 002)
    request: str = ""  # JSON: callback, cb_kwargs, meta of an add-on spider's request
    recrawl_threshold: float | None = None  # share of changed internal pages (paper 004); None: 0.4
    older: Evidence | None = None  # what left the history, for the policy `budget`
    elsewhere: Elsewhere | None = None  # another address of the same page
    barred: str = ""  # the rule that keeps it out of the queue: robots, filters, traps

    def change_probability(self) -> float | None:
        """`pc`: visits that found a change / visits that could. None before the second visit."""
        if not self.history:
            return None
        return sum(seen.changed for seen in self.history) / len(self.history)

    def counted(self, visit: Visit) -> UrlRecord:
        """This record after `visit`: counts and history moved on, refresh time untouched."""
        changes, history, older, last = self.changes, self.history, self.older, self.last_crawl
        if visit.compared and last is not None:
            seen = Observation(max(visit.time - last, 0.0), visit.changed)
            if len(history) == HISTORY_LENGTH:
                older = (older or Evidence()).with_observation(history[0])
            history = (*history, seen)[-HISTORY_LENGTH:]
            changes += visit.changed
        told_something = visit.compared or visit.outcome is Outcome.NEW
        return self._replace(
            visits=self.visits + 1,
            changes=changes,
            history=history,
            older=older,
            last_crawl=visit.time if told_something else last,
            failures=self.failures + 1 if visit.outcome in MISSED else 0,
            elsewhere=self.elsewhere if visit.outcome is Outcome.FAILED else visit.elsewhere,
            barred="",
        )

    def category(self) -> Category:
        """The page category of section III, from the visits that are remembered."""
        probability = self.change_probability()
        if probability is None:
            return Category.UNKNOWN
        if probability == 0:
            return Category.STATIC
        if probability == 1 and len(self.history) > 1:
            return Category.DYNAMIC
        return Category.FREQUENT if probability > 0.5 else Category.REGULAR

"""The one question a refresh policy answers: how long until this page is worth another visit?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from incrawl.core.records import UrlRecord, Visit

IMPORTANCES = ("uniform", "rank", "interest")
"""What a page's freshness is worth may hang on."""


@dataclass(frozen=True, slots=True)
class Collection:
    """What is known of the collection as a whole, computed by batch jobs and read by policies."""

    pages: int = 0
    hybrid_entry: tuple[float, str] | None = None  # least (score, URL) of the 20 % collection
    rank_spread: float = 1.0  # how many times the greatest PageRank is the least

    # What the budget policy has learnt (`budgeting.learner`); plain values, as they are stored like this.
    price: float | None = None  # seconds of freshness, of a page of average weight, that a visit must earn
    correction: float = 0.0  # logarithm of what experience has added to the computed price
    average_weight: float = 1.0
    first_rate: int = 0  # the exponent of the first of the rates below (`budgeting.grid`)
    rates_at_first: tuple[float, ...] = ()  # shares of rates of change, of pages first seen
    rates_later: tuple[float, ...] = ()  # and of rates that come with a change
    switching: float = 0.05  # odds that a change brings another rate
    crowded: tuple[tuple[str, float], ...] = ()  # hosts at their limit, and how much dearer a visit is there
    learnt_at: float | None = None


class RefreshPolicy(Protocol):
    """Values in, value out; the crawl, the tests and the simulator run the same code."""

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float | None:
        """Seconds until the next visit, or None for never.

        `record` already counts `visit` in its history and counters; `record.refresh_time` is
        still the span that led to this visit. A visit that compared nothing (a failure, a refusal)
        keeps that span: when to try again after a failure is not the policy's question.
        """


@runtime_checkable
class SetsDueTime(Protocol):
    """A policy that also says when, around the end of its refresh time, a page is due. Under all others
    that is spread at random by a few percent."""

    def delay(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        """Seconds from the visit until the page is due; `record` has its new refresh time."""


@runtime_checkable
class SpendsAll(Protocol):
    """A policy whose pages may be visited ahead of their time, the next ones due first, where requests of a
    budget would otherwise go unused."""

    @property
    def spends_all(self) -> bool: ...


class Learner(Protocol):
    """Takes in all pages, one after the other, and says what policies are to know of them together."""

    def add(self, record: UrlRecord) -> None:
        """`record` has its newest rank. Keep numbers, not records: there may be millions."""

    def learnt(self, collection: Collection) -> Collection:
        """`collection` with the values that this learner knows better."""


@runtime_checkable
class LearnsFromAll(Protocol):
    """A policy that needs values of the collection as a whole: the batch job gives it all records."""

    def learner(self, now: float) -> Learner:
        """A new learner, for one ranking at `now`."""


class LimitSettings(Protocol):
    """The settings that every policy keeps to: `incrawl.config.Config` has them."""

    @property
    def average_refresh_time(self) -> float: ...
    @property
    def min_refresh_time(self) -> float: ...
    @property
    def max_refresh_time(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Spans in seconds that hold under every policy: of a page not yet compared, least, longest."""

    default: float = 86400.0
    minimum: float = 600.0
    maximum: float = 90 * 86400.0

    @classmethod
    def from_config(cls, config: LimitSettings) -> Limits:
        return cls(config.average_refresh_time, config.min_refresh_time, config.max_refresh_time)

    def clamp(self, seconds: float) -> float:
        return min(max(seconds, self.minimum), self.maximum)

    def current(self, record: UrlRecord) -> float:
        """The span that led to this visit, or the default where none was set."""
        known = record.refresh_time
        return self.clamp(self.default if known is None else known)

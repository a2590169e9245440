"""The hybrid revisit policy of paper 002: PageRank over age, and Pareto's 20 and 80 %."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from incrawl.core.records import UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits, LimitSettings

UNKNOWN_AGE = 24
"""Hours: the tables print 24 wherever the age does not follow from a date."""

BEST_SHARE = 0.2

SPREAD = 0.05
"""Share of the refresh time within which pages that were visited together are due again."""


def age_in_hours(last_modified: float | None, now: float) -> int:
    """Whole hours between Last-Modified and now; a date in the future counts as now."""
    if last_modified is None:
        return UNKNOWN_AGE
    return int(max(now - last_modified, 0.0) // 3600)


def score(rank: float, age: int) -> float:
    """PageRank / age, and the PageRank itself at age 0.

    >>> score(5, 20), score(2, 0)
    (0.25, 2)
    """
    return rank / age if age else rank


@dataclass(frozen=True, slots=True)
class Pass:
    """The two collections after one pass, each by falling score: (score, name) pairs."""

    best: tuple[tuple[float, str], ...]
    rest: tuple[tuple[float, str], ...]

    @property
    def entry(self) -> tuple[float, str] | None:
        """The least (score, name) of the 20 % collection: what a page must reach to be in it."""
        return self.best[-1] if self.best else None


def split(scored: Iterable[tuple[float, str]]) -> Pass:
    """The 20 % collection (rounded down, at least one) and the rest. Equal scores go by name, so
    that the same pages are always split the same way."""
    by_score = sorted(scored, reverse=True)
    count = max(1, int(BEST_SHARE * len(by_score)))
    return Pass(tuple(by_score[:count]), tuple(by_score[count:]))


class Settings(LimitSettings, Protocol):
    @property
    def hybrid_ratio(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Hybrid:
    """The best 20 % are visited `ratio` times as often as the others, at the same cost in all.

    At a visit the page's score is computed anew and compared with the entry score of the last
    pass (`Collection.hybrid_entry`), which a batch job takes over the whole collection.
    """

    limits: Limits = Limits()
    ratio: float = 4.0

    @classmethod
    def from_config(cls, config: Settings) -> Hybrid:
        return cls(Limits.from_config(config), config.hybrid_ratio)

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        if not visit.compared or collection.hybrid_entry is None:
            return self.limits.current(record)
        return self.limits.clamp(self.span(self.scored(record, visit) >= collection.hybrid_entry))

    def delay(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        """Pages that were visited together are due by falling score: the greater, the sooner."""
        refresh_time = self.limits.current(record)
        if collection.hybrid_entry is None:
            return refresh_time
        own, entry = self.scored(record, visit)[0], collection.hybrid_entry[0]
        return refresh_time * (1 + SPREAD * (entry - own) / (max(own, entry) or 1.0))

    def scored(self, record: UrlRecord, visit: Visit) -> tuple[float, str]:
        """A page without a rank yet has score 0."""
        return score(record.rank or 0.0, age_in_hours(visit.last_modified, visit.time)), record.url

    def span(self, best: bool) -> float:
        """Both spans are such that the visits per day are those of the default for all."""
        rest = self.limits.default * (BEST_SHARE * self.ratio + 1 - BEST_SHARE)
        return rest / self.ratio if best else rest

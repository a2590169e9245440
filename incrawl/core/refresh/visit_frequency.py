"""The visiting frequency of paper 004: a page is crawled at every fr_max-th pass.

A pass is a span of time here (`INCRAWL_PASS_TIME`): the frontier knows due times, no passes. So
fr_max is the refresh time counted in passes, and fr, which the paper counts down, is the
number of passes until the page is due (`core.passes`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from incrawl.core.passes import passes_left, until_pass
from incrawl.core.records import HISTORY_LENGTH, UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.refresh.self_adjusting import Settings as ThresholdSettings


def next_fr_max(records: int, limit: int, counter: int, fr_max: int) -> int:
    """The new fr_max after `counter` changes among the last `limit` of `records` visits.

    >>> next_fr_max(records=45, limit=20, counter=10, fr_max=3)
    2
    """
    seen = min(records, limit)
    bound = seen if counter == 0 else seen / counter
    return max(1, math.floor((fr_max + bound) / 2))


def smaller_bound(fr_max: int, own_share: float) -> int:
    """fr_max of a page that hardly changes while the pages it leads to change much.

    >>> smaller_bound(6, own_share=0.1)
    3
    """
    return max(1, math.floor((fr_max + own_share * fr_max) / 2))


class Settings(ThresholdSettings, Protocol):
    @property
    def pass_time(self) -> float: ...


@dataclass(frozen=True, slots=True)
class VisitFrequency:
    """Halfway, at each visit, from the present fr_max to the passes that one change took.

    A share of at least `pg` counts as "changes all the time", one of at most `pl` as "hardly".
    """

    limits: Limits = Limits()
    pass_time: float = 86400.0
    pl: float = 0.3
    pg: float = 0.7

    @classmethod
    def from_config(cls, config: Settings) -> VisitFrequency:
        return cls(Limits.from_config(config), config.pass_time, config.pl, config.pg)

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        if not record.history or not visit.compared:
            return self.limits.current(record)
        return self.limits.clamp(self.next_fr_max(record, visit) * self.pass_time)

    def next_fr_max(self, record: UrlRecord, visit: Visit) -> int:
        """fr_max after this visit, bounded by the internal pages where they move and it does not."""
        counter = sum(seen.changed for seen in record.history)
        fr_max = next_fr_max(len(record.history), HISTORY_LENGTH, counter, self.fr_max(record))
        own, internal = record.change_probability() or 0.0, visit.internal_changes
        if internal is not None and own <= self.pl and internal >= self.pg:
            return smaller_bound(fr_max, own)
        return fr_max

    def fr_max(self, record: UrlRecord) -> int:
        """The refresh time that led to this visit, in passes."""
        return max(1, round(self.limits.current(record) / self.pass_time))

    def fr(self, record: UrlRecord, now: float) -> int:
        """Passes left until the page is due; 0 means that it is crawled in this one."""
        return passes_left(record.last_crawl, self.fr_max(record), now, self.pass_time)

    def delay(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        """The page is due from the start of the pass in which fr has come down to 0."""
        return until_pass(visit.time, self.fr_max(record), self.pass_time)

    def marked(self, record: UrlRecord) -> UrlRecord:
        """The page was crawled: fr starts again from fr_max."""
        fr_max = self.fr_max(record)
        return record._replace(fr=fr_max, fr_max=fr_max)

    def goes_through(self, record: UrlRecord, visit: Visit) -> bool:
        """Whether the links of a *changed* page are gone through: not where it changes all the
        time while the pages it leads to stand still."""
        own, internal = record.change_probability() or 0.0, visit.internal_changes
        return internal is None or own < self.pg or internal > self.pl

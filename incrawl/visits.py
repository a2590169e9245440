"""What one visit does to a URL record: the algorithm of the crawler on one screen.

counted        the visit enters the counters and the history
brought        a new or changed document becomes the current version
refreshed      the policy sets the refresh time (eq. 1–4, or another rule)
next due time  refresh time, moved a little so that no page is asked for at the same hour daily, or as
               the policy says; failures are tried again sooner, gone pages later and in the end no more;
               a page that goes on at another address rests
"""

from __future__ import annotations

from dataclasses import dataclass

from incrawl.core.records import MISSED, Outcome, UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits, RefreshPolicy, SetsDueTime
from incrawl.core.refresh.selective import next_threshold
from incrawl.core.urls import url_id

JITTER = 0.05  # share of the refresh time by which a visit comes earlier or later
REST = 90 * 86400.0  # seconds at least until a page that goes on elsewhere is looked at again
GONE_VISITS = 3  # 404s in a row after which a page is no longer asked for
GONE_FOR_GOOD = 410
MOST_DOUBLINGS = 40  # from a second to thousands of years


@dataclass(frozen=True, slots=True)
class Version:
    """A document that a visit brought."""

    document: str
    fingerprint: bytes
    size: int
    type: str


@dataclass(frozen=True, slots=True)
class Step:
    """The record after a visit, and the seconds until the next one (None: never)."""

    record: UrlRecord
    delay: float | None


def after_visit(
    before: UrlRecord,
    visit: Visit,
    version: Version | None,
    policy: RefreshPolicy,
    collection: Collection,
    limits: Limits,
) -> Step:
    """The one place where a visit's outcome turns into a record and a next due time."""
    record = before.counted(visit)
    if version is not None:
        record = record._replace(
            document=version.document,
            fingerprint=version.fingerprint,
            size=version.size,
            type=version.type,
        )
    record = record._replace(
        refresh_time=policy.next_refresh(record, visit, collection),
        recrawl_threshold=next_threshold(record.recrawl_threshold, visit.internal_changes),
    )
    if hasattr(policy, "marked"):
        record = policy.marked(record)
    delay = next_delay(record, visit, limits)
    certain = visit.outcome not in MISSED and not rests(record)
    if delay is not None and certain and isinstance(policy, SetsDueTime):
        delay = policy.delay(record, visit, collection)
    return Step(record, delay)


def next_delay(record: UrlRecord, visit: Visit, limits: Limits) -> float | None:
    """Seconds until the page is due again, given the outcome of its latest visit."""
    if record.refresh_time is None:
        return None
    doubled = 2.0 ** min(record.failures - 1, MOST_DOUBLINGS)
    if visit.outcome is Outcome.FAILED:
        return min(limits.minimum * doubled, limits.maximum)
    if rests(record):
        return max(REST, limits.maximum)
    if visit.outcome in {Outcome.GONE, Outcome.MOVED}:
        gone = visit.status == GONE_FOR_GOOD or record.failures >= GONE_VISITS
        return None if gone else record.refresh_time * doubled
    return max(record.refresh_time * (1 + JITTER * shift(record)), limits.minimum)


def rests(record: UrlRecord) -> bool:
    return record.elsewhere is not None and record.elsewhere.settled


def shift(record: UrlRecord) -> float:
    """A number in −1…1 that differs from page to page and from visit to visit."""
    digest = url_id(f"{record.url} {record.visits}")
    return int.from_bytes(digest[:4]) / 2**31 - 1

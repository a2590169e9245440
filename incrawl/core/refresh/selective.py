"""Selective recrawl of paper 004: an unchanged page is still gone through when enough of the
pages that it leads to have changed since its own last crawl."""

from __future__ import annotations

from collections.abc import Iterable

from incrawl.core.records import HISTORY_LENGTH, UrlRecord, Visit

FIRST_THRESHOLD = 0.4
LEAST_THRESHOLD, HIGHEST_THRESHOLD = 0.1, 0.9


def changed_since(record: UrlRecord, time: float) -> bool:
    """Whether a visit after `time` found this page changed or new, as far as its history goes."""
    if record.last_crawl is None or record.last_crawl <= time:
        return False
    seen_at = record.last_crawl
    for seen in reversed(record.history):
        if seen_at <= time:
            return False
        if seen.changed:
            return True
        seen_at -= seen.interval
    # Before a history that is complete lies the visit that found the page new.
    return seen_at > time and len(record.history) < HISTORY_LENGTH


def internal_share(internal_pages: Iterable[UrlRecord], last_crawl: float) -> float | None:
    """Share of a page's internal pages that changed since its own last crawl; None without any."""
    changed = [changed_since(page, last_crawl) for page in internal_pages]
    return sum(changed) / len(changed) if changed else None


def crawls_through(changed: bool, internal: float | None, threshold: float | None) -> bool:
    """Whether a page's links are gone through after this visit.

    >>> crawls_through(changed=False, internal=0.4, threshold=None)
    True
    """
    limit = FIRST_THRESHOLD if threshold is None else threshold
    return changed or (internal is not None and internal >= limit)


def next_threshold(threshold: float | None, internal: float | None) -> float | None:
    """The page's threshold after this visit: halfway to the share just seen, inside 10…90 %.

    >>> next_threshold(None, 0.8), next_threshold(0.4, 0.0), next_threshold(0.1, 0.0)
    (0.6, 0.2, 0.1)
    """
    if internal is None:
        return threshold
    middle = ((FIRST_THRESHOLD if threshold is None else threshold) + internal) / 2
    return min(max(middle, LEAST_THRESHOLD), HIGHEST_THRESHOLD)


def goes_through(record: UrlRecord, visit: Visit, policy: object = None) -> bool:
    """The whole decision for one visit: selective recrawl where the page is unchanged, the
    policy's word where it changed. A page seen for the first time is always gone through."""
    if not visit.compared:
        return True
    asked = getattr(policy, "goes_through", None)
    if visit.changed and asked is not None:
        return bool(asked(record, visit))
    return crawls_through(visit.changed, visit.internal_changes, record.recrawl_threshold)

"""What a visit does to a record and to its next due time."""

from __future__ import annotations

import pytest

from incrawl.core.records import Outcome, UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits, RefreshPolicy
from incrawl.core.refresh.self_adjusting import SelfAdjusting
from incrawl.visits import JITTER, Step, Version, after_visit, next_delay, shift

NOW = 1_000_000.0
DAY = 86400.0
URL = "https://example.com/"
LIMITS = Limits(default=DAY, minimum=600.0, maximum=90 * DAY)
VERSION = Version("20260101T000000Z-abcd", b"digest", 1234, "text/html")


class Never:
    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> None:
        return None


def visited(
    record: UrlRecord,
    outcome: Outcome,
    status: int | None = 200,
    version: Version | None = None,
    policy: RefreshPolicy | None = None,
) -> Step:
    visit = Visit(NOW, outcome, status)
    return after_visit(record, visit, version, policy or SelfAdjusting(LIMITS), Collection(), LIMITS)


def test_the_first_visit_fills_in_the_record_and_keeps_the_default_refresh_time() -> None:
    step = visited(UrlRecord(URL, level=2, pl=0.2), Outcome.NEW, version=VERSION)
    record = step.record
    assert (record.visits, record.changes, record.history, record.last_crawl) == (1, 0, (), NOW)
    assert (record.document, record.fingerprint) == (VERSION.document, VERSION.fingerprint)
    assert (record.size, record.type) == (VERSION.size, VERSION.type)
    assert (record.level, record.pl) == (2, 0.2)
    assert record.refresh_time == DAY
    assert step.delay == pytest.approx(DAY, rel=JITTER)


def test_from_the_second_visit_on_the_refresh_time_follows_the_changes() -> None:
    first = visited(UrlRecord(URL), Outcome.NEW, version=VERSION).record
    same = visited(first, Outcome.UNCHANGED).record
    assert same.refresh_time == 2 * DAY  # eq. 2 with pc = 0
    assert same.document == first.document
    changed = visited(first, Outcome.CHANGED, version=VERSION).record
    assert changed.refresh_time == pytest.approx(DAY * (2 - 1 / 0.7))  # eq. 2 with pc = 1
    assert (changed.changes, len(changed.history)) == (1, 1)


def test_a_version_is_only_replaced_by_another_one() -> None:
    known = visited(UrlRecord(URL), Outcome.NEW, version=VERSION).record
    for outcome in (Outcome.UNCHANGED, Outcome.NOT_MODIFIED, Outcome.FAILED, Outcome.GONE, Outcome.REFUSED):
        record = visited(known, outcome).record
        assert (record.document, record.fingerprint) == (VERSION.document, VERSION.fingerprint)


@pytest.mark.parametrize(
    ("failures", "delay"),
    [(0, 600), (1, 1200), (2, 2400), (13, 600 * 2**13), (14, 90 * DAY), (5000, 90 * DAY)],
)
def test_failures_are_tried_again_soon_and_then_ever_later(failures: int, delay: float) -> None:
    """A failure says nothing about the page: neither its history nor its refresh time moves."""
    known = UrlRecord(URL, refresh_time=DAY, visits=3, last_crawl=NOW - DAY, failures=failures)
    step = visited(known, Outcome.FAILED, None)
    assert step.delay == delay
    assert (step.record.failures, step.record.visits) == (failures + 1, 4)
    assert (step.record.refresh_time, step.record.last_crawl, step.record.history) == (DAY, NOW - DAY, ())


@pytest.mark.parametrize(
    ("failures", "status", "delay"), [(0, 404, DAY), (1, 404, 2 * DAY), (2, 404, None), (0, 410, None)]
)
def test_gone_pages_are_asked_for_later_and_in_the_end_no_more(
    failures: int, status: int, delay: float | None
) -> None:
    known = UrlRecord(URL, refresh_time=DAY, visits=3, failures=failures)
    assert visited(known, Outcome.GONE, status).delay == delay


def test_a_page_that_comes_back_starts_afresh() -> None:
    known = UrlRecord(URL, refresh_time=DAY, visits=5, failures=2, last_crawl=NOW - DAY)
    assert visited(known, Outcome.UNCHANGED).record.failures == 0


def test_a_refused_page_is_due_after_its_refresh_time() -> None:
    step = visited(UrlRecord(URL, refresh_time=DAY), Outcome.REFUSED, None)
    assert step.delay == pytest.approx(DAY, rel=JITTER)
    assert step.record.last_crawl is None


def test_a_policy_may_say_never() -> None:
    step = visited(UrlRecord(URL), Outcome.UNCHANGED, policy=Never())
    assert (step.delay, step.record.refresh_time) == (None, None)


def test_the_time_of_day_moves_from_visit_to_visit_and_from_page_to_page() -> None:
    record = UrlRecord(URL, refresh_time=DAY)
    visit = Visit(NOW, Outcome.UNCHANGED)
    delays = {next_delay(record._replace(visits=number), visit, LIMITS) for number in range(50)}
    assert len(delays) == 50
    assert all(delay is not None and abs(delay - DAY) <= JITTER * DAY for delay in delays)
    shifts = [shift(UrlRecord(f"{URL}{number}")) for number in range(500)]
    assert -1 <= min(shifts) < -0.9 and 0.9 < max(shifts) <= 1
    assert abs(sum(shifts) / len(shifts)) < 0.1

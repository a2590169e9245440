"""Passes: fr is counted down, and when a page is due by the policies that say so themselves."""

from __future__ import annotations

import pytest

from incrawl.core.passes import passes_left, until_pass
from incrawl.core.records import Observation, Outcome, UrlRecord, Visit
from incrawl.core.refresh.hybrid import SPREAD, Hybrid
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.refresh.visit_frequency import VisitFrequency
from incrawl.visits import after_visit

DAY = 86400.0
LIMITS = Limits(DAY, 600.0, 90 * DAY)
FREQUENCY = VisitFrequency(LIMITS, pass_time=DAY)


@pytest.mark.parametrize("hour", [0, 3, 23.99])
@pytest.mark.parametrize("fr_max", [1, 2, 6])
def test_fr_is_counted_down_by_one_in_each_pass(hour: float, fr_max: int) -> None:
    crawled = 100 * DAY + hour * 3600
    left = [passes_left(crawled, fr_max, (100 + day) * DAY + hour * 3600, DAY) for day in range(fr_max + 2)]
    assert left == [*range(fr_max, 0, -1), 0, 0]


@pytest.mark.parametrize("drift", [-3600, 0, 3600])
def test_a_crawl_that_runs_once_a_day_takes_a_page_in_every_fr_max_th_run(drift: float) -> None:
    """Also when runs come a little sooner or later, or take their time."""
    due, taken = 0.0, []
    for day in range(100, 112):
        now = day * DAY + 12 * 3600 + drift * (day % 3)
        if due <= now:
            taken.append(day)
            visited = now + 1800
            due = visited + until_pass(visited, 3, DAY)
    assert taken == [100, 103, 106, 109]


def visited(record: UrlRecord, policy: object, outcome: Outcome, time: float, **facts: object) -> UrlRecord:
    visit = Visit(time, outcome, **facts)
    return after_visit(record, visit, None, policy, Collection(), LIMITS).record


def test_a_visit_starts_fr_again_and_makes_the_page_due_at_the_start_of_its_pass() -> None:
    history = tuple(Observation(DAY, changed=False) for _ in range(9))
    record = UrlRecord(
        "http://a.test/", refresh_time=2 * DAY, last_crawl=100.2 * DAY, history=history, visits=9
    )
    visit = Visit(102.2 * DAY, Outcome.UNCHANGED)
    step = after_visit(record, visit, None, FREQUENCY, Collection(), LIMITS)
    assert (step.record.fr_max, step.record.fr, step.record.refresh_time) == (6, 6, 6 * DAY)  # (2 + 10) / 2
    assert step.delay is not None
    assert visit.time + step.delay == pytest.approx(108 * DAY)
    assert FREQUENCY.fr(step.record, 104.5 * DAY) == 4


def test_the_threshold_of_selective_recrawl_moves_with_every_visit() -> None:
    record = UrlRecord("http://a.test/", last_crawl=1.0)
    record = visited(record, FREQUENCY, Outcome.UNCHANGED, 2.0, internal_changes=0.8)
    assert record.recrawl_threshold == pytest.approx(0.6)
    record = visited(record, FREQUENCY, Outcome.CHANGED, 3.0, internal_changes=0.0)
    assert record.recrawl_threshold == pytest.approx(0.3)
    assert visited(record, FREQUENCY, Outcome.FAILED, 4.0).recrawl_threshold == pytest.approx(0.3)


def test_pages_that_were_visited_together_are_due_by_falling_score() -> None:
    hybrid, collection = Hybrid(LIMITS), Collection(hybrid_entry=(0.2, "http://a.test/"))
    delays = []
    for rank in (10.0, 6.0, 4.9, 4.7, 1.0, 0.0):  # the fourth has less than the entry: 0.2 · 24 h
        record = UrlRecord(f"http://b.test/{rank}", rank=rank, last_crawl=1.0, visits=1)
        step = after_visit(record, Visit(DAY, Outcome.UNCHANGED), None, hybrid, collection, LIMITS)
        assert step.delay is not None and step.record.refresh_time is not None
        assert abs(step.delay / step.record.refresh_time - 1) <= SPREAD + 1e-9
        delays.append(step.delay)
    assert delays == sorted(delays)
    assert delays[2] < DAY < delays[3]  # two collections, two rates


def test_failures_are_tried_again_by_rules_of_their_own() -> None:
    record = UrlRecord("http://a.test/", refresh_time=2 * DAY, last_crawl=1.0)
    step = after_visit(record, Visit(DAY, Outcome.FAILED), None, FREQUENCY, Collection(), LIMITS)
    assert step.delay == LIMITS.minimum
    gone = after_visit(
        record._replace(failures=2), Visit(DAY, Outcome.GONE, 404), None, FREQUENCY, Collection(), LIMITS
    )
    assert gone.delay is None

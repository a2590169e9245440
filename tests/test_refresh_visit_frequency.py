"""Visiting frequency and selective recrawl of paper 004, as formulas and as whole behaviours."""

from dataclasses import replace

import pytest

from incrawl.core.records import Observation, Outcome, UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.refresh.selective import (
    changed_since,
    crawls_through,
    goes_through,
    internal_share,
    next_threshold,
)
from incrawl.core.refresh.visit_frequency import VisitFrequency, next_fr_max, smaller_bound

DAY = 86400.0
POLICY = VisitFrequency(Limits(default=2 * DAY, minimum=1.0, maximum=90 * DAY), pass_time=DAY)


def page(changes: int, of: int = 10, **fields: object) -> UrlRecord:
    history = tuple(Observation(DAY, number >= of - changes) for number in range(of))
    return UrlRecord("http://a/", visits=of + 1, history=history, last_crawl=100 * DAY, **fields)


@pytest.mark.parametrize(
    ("records", "limit", "counter", "fr_max", "expected"),
    [(45, 20, 10, 3, 2), (10, 10, 9, 2, 1), (10, 10, 1, 2, 6), (10, 10, 0, 2, 6), (1, 20, 1, 1, 1)],
)
def test_worked_figures_of_fr_max(records, limit, counter, fr_max, expected):
    assert next_fr_max(records, limit, counter, fr_max) == expected


def test_the_two_pages_of_the_papers_experiment():
    """Table 1 and 2: both start with fr_max = 2; 9 and 1 changes in 10 crawls."""
    moving = Visit(100 * DAY, Outcome.CHANGED, internal_changes=0.10)
    still = Visit(100 * DAY, Outcome.UNCHANGED, internal_changes=0.89)
    assert POLICY.next_refresh(page(9), moving, Collection()) == 1 * DAY
    assert POLICY.next_refresh(page(1), replace(still, internal_changes=None), Collection()) == 6 * DAY
    assert POLICY.next_refresh(page(1), still, Collection()) == 3 * DAY, "the bound of the internal pages"
    assert not goes_through(page(9), moving, POLICY), "fetched, but not gone through"
    assert goes_through(page(1), still, POLICY), "unchanged, but 89 % of its internal pages changed"


@pytest.mark.parametrize(("fr_max", "share", "expected"), [(6, 0.1, 3), (1, 0.0, 1), (8, 0.3, 5)])
def test_smaller_bound(fr_max, share, expected):
    assert smaller_bound(fr_max, share) == expected


def test_the_bound_holds_when_the_rule_is_applied_again_and_again():
    record, visit = page(1), Visit(100 * DAY, Outcome.UNCHANGED, internal_changes=0.89)
    for _ in range(5):
        record = record._replace(refresh_time=POLICY.next_refresh(record, visit, Collection()))
        assert record.refresh_time == 3 * DAY


def test_first_visits_and_failures_keep_the_refresh_time():
    new = UrlRecord("http://a/", last_crawl=0.0, visits=1)
    assert POLICY.next_refresh(new, Visit(0.0, Outcome.NEW), Collection()) == 2 * DAY
    known = page(9, refresh_time=5 * DAY)
    assert POLICY.next_refresh(known, Visit(0.0, Outcome.FAILED), Collection()) == 5 * DAY


def test_fr_counts_the_passes_down():
    record = page(5, refresh_time=3 * DAY)
    assert [POLICY.fr(record, (100 + day) * DAY) for day in range(5)] == [3, 2, 1, 0, 0]
    assert POLICY.fr(UrlRecord("http://a/"), 0.0) == 0


def test_a_moving_page_with_moving_or_unknown_internal_pages_is_gone_through():
    for internal in (0.5, None):
        assert goes_through(page(9), Visit(0.0, Outcome.CHANGED, internal_changes=internal), POLICY)
    assert goes_through(page(9), Visit(0.0, Outcome.CHANGED, internal_changes=0.1)), "without the policy"


@pytest.mark.parametrize(
    ("changed", "internal", "threshold", "expected"),
    [
        (False, 0.40, None, True),
        (False, 0.39, None, False),
        (False, None, None, False),
        (True, 0.0, None, True),
        (False, 0.39, 0.3, True),
        (False, 0.39, 0.5, False),
    ],
)
def test_selective_recrawl(changed, internal, threshold, expected):
    assert crawls_through(changed, internal, threshold) is expected


@pytest.mark.parametrize(
    ("threshold", "share", "expected"),
    [(None, 0.8, 0.6), (None, 0.4, 0.4), (0.4, 0.0, 0.2), (0.1, 0.0, 0.1), (0.9, 1.0, 0.9), (0.5, None, 0.5)],
)
def test_the_threshold_moves_halfway_inside_its_bounds(threshold, share, expected):
    assert next_threshold(threshold, share) == pytest.approx(expected)


def test_which_internal_pages_changed_since():
    still, moved = page(0), page(1)
    assert not changed_since(moved, 100 * DAY), "the change was found by that very visit"
    assert changed_since(moved, 99.5 * DAY)
    assert not changed_since(still, 95 * DAY)
    assert changed_since(still, 89 * DAY), "found new, ten visits ago"
    assert not changed_since(UrlRecord("http://b/"), 0.0), "never crawled"
    assert internal_share([still, moved, moved, moved], 99.5 * DAY) == 0.75
    assert internal_share([], 99.5 * DAY) is None

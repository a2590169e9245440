"""Eq. 1 and 2 of paper 000, with its worked figures, and what the paper leaves to the reader."""

import pytest

from incrawl.core.records import Observation, Outcome, UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.refresh.self_adjusting import SelfAdjusting, adjustment

WIDE = Limits(default=100.0, minimum=1.0, maximum=1000.0)
COLLECTION = Collection()


def seen(changes: int, of: int) -> tuple[Observation, ...]:
    return tuple(Observation(100.0, number < changes) for number in range(of))


def after(record: UrlRecord, outcome: Outcome, policy: SelfAdjusting) -> float:
    return policy.next_refresh(record, Visit(1000.0, outcome), COLLECTION)


@pytest.mark.parametrize(
    ("before", "pc", "delta", "expected"),
    [(100, 0.6, 0, 100), (100, 0.85, -21.43, 78.57), (78.58, 0.25, 13.10, 91.68)],
)
def test_worked_figures_of_the_paper(before, pc, delta, expected):
    assert before * adjustment(pc, pl=0.3, pg=0.7) == pytest.approx(delta, abs=0.005)
    record = UrlRecord("http://a/", refresh_time=before, history=seen(round(pc * 20), 20))
    assert after(record, Outcome.CHANGED, SelfAdjusting(WIDE)) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("pc", [0.3, 0.5, 0.7])
def test_nothing_moves_between_and_at_the_thresholds(pc):
    assert adjustment(pc, pl=0.3, pg=0.7) == 0


def test_thresholds_of_the_record_come_before_those_of_the_settings():
    record = UrlRecord("http://a/", refresh_time=100.0, history=seen(6, 10), pl=0.1, pg=0.5)
    assert after(record, Outcome.CHANGED, SelfAdjusting(WIDE)) == pytest.approx(80.0)
    assert after(record._replace(pl=None, pg=None), Outcome.CHANGED, SelfAdjusting(WIDE)) == 100.0


def test_first_visit_keeps_the_default_and_a_seeded_refresh_time():
    record = UrlRecord("http://a/").counted(Visit(1000.0, Outcome.NEW))
    assert after(record, Outcome.NEW, SelfAdjusting(WIDE)) == 100.0
    assert after(record._replace(refresh_time=50.0), Outcome.NEW, SelfAdjusting(WIDE)) == 50.0


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.REFUSED, Outcome.GONE, Outcome.MOVED])
def test_a_visit_that_compared_nothing_leaves_the_refresh_time_alone(outcome):
    record = UrlRecord("http://a/", refresh_time=100.0, history=seen(20, 20))
    assert after(record, outcome, SelfAdjusting(WIDE)) == 100.0


def test_results_stay_inside_the_limits():
    policy = SelfAdjusting(Limits(default=100.0, minimum=60.0, maximum=150.0), pl=0.1, pg=0.4)
    changing = UrlRecord("http://a/", refresh_time=100.0, history=seen(10, 10))
    assert after(changing, Outcome.CHANGED, policy) == 60.0, "eq. 2 alone gives -50"
    still = UrlRecord("http://a/", refresh_time=100.0, history=seen(0, 10))
    assert after(still, Outcome.UNCHANGED, policy) == 150.0


def test_a_not_modified_answer_counts_as_unchanged():
    record = UrlRecord("http://a/", refresh_time=100.0, last_crawl=900.0)
    visit = Visit(1000.0, Outcome.NOT_MODIFIED)
    assert SelfAdjusting(WIDE).next_refresh(record.counted(visit), visit, COLLECTION) == 200.0


def test_a_page_settles_where_it_is_found_changed_between_pl_and_pg():
    """A page that changes every 100 s, started far off, ends with pc inside [pl, pg]."""
    policy = SelfAdjusting(Limits(default=3000.0, minimum=1.0, maximum=10_000.0))
    record, now = UrlRecord("http://a/", refresh_time=3000.0, last_crawl=0.0), 0.0
    for _ in range(300):
        before, now = now, now + record.refresh_time
        outcome = Outcome.CHANGED if before // 100 != now // 100 else Outcome.UNCHANGED
        visit = Visit(now, outcome)
        record = record.counted(visit)
        record = record._replace(refresh_time=policy.next_refresh(record, visit, COLLECTION))
    assert 0.3 <= record.change_probability() <= 0.7
    assert 30 <= record.refresh_time <= 70


@pytest.mark.parametrize(("pl", "pg"), [(0.7, 0.7), (0.8, 0.3), (0.0, 0.5), (0.5, 1.1)])
def test_contradictory_thresholds_are_refused(pl, pg):
    with pytest.raises(ValueError, match="thresholds"):
        SelfAdjusting(WIDE, pl, pg)

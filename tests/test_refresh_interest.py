"""Eq. 3 and 4 of paper 001."""

import pytest

from incrawl.core.records import Observation, Outcome, UrlRecord, Visit
from incrawl.core.refresh.interest import Interest
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.refresh.self_adjusting import SelfAdjusting

CONTENT = SelfAdjusting(Limits(default=100.0, minimum=1.0, maximum=1000.0), pl=0.3, pg=0.7)
CHANGED_17_OF_20 = UrlRecord(
    "http://a/", refresh_time=100.0, history=tuple(Observation(100.0, number < 17) for number in range(20))
)


def after(policy: Interest, interest: float | None, outcome: Outcome = Outcome.CHANGED) -> float:
    record = CHANGED_17_OF_20._replace(interest=interest)
    return policy.next_refresh(record, Visit(1000.0, outcome), Collection())


@pytest.mark.parametrize(("interest", "expected"), [(0.7, 89.29), (0.3, 109.29), (0.9, 83.04)])
def test_worked_figures_of_the_paper(interest, expected):
    assert after(Interest(CONTENT), interest) == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize("interest", [None, 0.0, 0.3, 0.9])
def test_full_weight_on_content_gives_eq_1_and_2_exactly(interest):
    assert after(Interest(CONTENT, weight=1.0), interest) == pytest.approx(100 * 0.7 / 0.7 - 150 / 7)


def test_without_a_log_the_weight_goes_to_the_content():
    assert after(Interest(CONTENT), None) == pytest.approx(78.57, abs=0.005)


def test_a_page_nobody_asked_for_is_visited_later_than_one_without_a_log():
    assert after(Interest(CONTENT), 0.0) == pytest.approx(100 - 10.714 + 50, abs=0.005)


def test_the_gate_turns_small_interest_off_and_leaves_the_rest_alone():
    gated, open_gate = Interest(CONTENT, gate=0.25), Interest(CONTENT)
    assert after(gated, 0.2) == pytest.approx(100 - 10.714, abs=0.005)
    assert after(gated, 0.3) == after(open_gate, 0.3)


def test_above_the_gate_more_interest_never_means_a_longer_wait():
    spans = [after(Interest(CONTENT, gate=0.25), number / 100) for number in range(25, 101)]
    assert spans == sorted(spans, reverse=True)


def test_a_failed_visit_leaves_the_refresh_time_alone():
    assert after(Interest(CONTENT), 0.9, Outcome.FAILED) == 100.0


def test_contradictory_thresholds_are_refused():
    with pytest.raises(ValueError, match="thresholds"):
        Interest(CONTENT, pl=0.8, pg=0.5)

"""The URL record of paper 000: how it begins, what its visits make of it, the page categories."""

from __future__ import annotations

import pytest

from incrawl.core.records import HISTORY_LENGTH, Category, Observation, Outcome, UrlRecord, Visit

URL = "https://example.com/"


def visited(*outcomes: Outcome) -> UrlRecord:
    record = UrlRecord(URL)
    for number, outcome in enumerate(outcomes):
        record = record.counted(Visit(100.0 * (number + 1), outcome))
    return record


def compared(found: str) -> UrlRecord:
    """A page after its first visit and one for each sign: `c` changed, `-` unchanged."""
    return visited(Outcome.NEW, *(Outcome.CHANGED if sign == "c" else Outcome.UNCHANGED for sign in found))


def test_a_new_record_knows_its_url_and_nothing_else() -> None:
    record = UrlRecord(URL)
    assert (record.last_crawl, record.refresh_time, record.document, record.fingerprint) == (
        None,
        None,
        None,
        b"",
    )
    assert (record.pl, record.pg, record.change_probability()) == (None, None, None)
    assert (record.visits, record.changes, record.history) == (0, 0, ())


def test_the_first_visit_has_nothing_to_compare_with() -> None:
    record = visited(Outcome.NEW)
    assert (record.visits, record.last_crawl, record.change_probability()) == (1, 100.0, None)


@pytest.mark.parametrize(
    ("found", "probability"),
    [("cccccc----", 0.6), ("-", 0.0), ("c", 1.0), ("c" * 20, 1.0), ("c" * 30 + "-" * 15, 0.25)],
)
def test_pc_is_the_share_of_changes_among_the_last_twenty_comparisons(found: str, probability: float) -> None:
    record = compared(found)
    assert record.change_probability() == probability
    assert len(record.history) == min(len(found), HISTORY_LENGTH)
    assert (record.visits, record.changes) == (len(found) + 1, found.count("c"))


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.REFUSED, Outcome.GONE, Outcome.MOVED])
def test_a_visit_that_could_not_compare_does_not_count(outcome: Outcome) -> None:
    record = visited(Outcome.NEW, outcome, Outcome.CHANGED)
    assert record.history == (Observation(200.0, True),), "since the page was last seen"
    assert record.visits == 3


@pytest.mark.parametrize(
    ("found", "category"),
    [
        ("", Category.UNKNOWN),
        ("-", Category.STATIC),
        ("-" * 20, Category.STATIC),
        ("c---", Category.REGULAR),
        ("c-c-", Category.REGULAR),
        ("ccc-", Category.FREQUENT),
        ("c", Category.FREQUENT),
        ("cc", Category.DYNAMIC),
        ("c" * 20, Category.DYNAMIC),
        ("-" + "c" * 20, Category.DYNAMIC),
    ],
)
def test_the_category_shows_how_a_page_behaves(found: str, category: Category) -> None:
    assert compared(found).category() is category

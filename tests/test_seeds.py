"""Seed files: what a line may say, and what is said about a line that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from incrawl.core.records import UrlRecord
from incrawl.core.seeds import DEFAULT_LEVEL, Seeds, parse_seeds

SEEDS = Path(__file__).parents[1] / "seeds"
HOME = "https://example.com/"


def parse(*lines: str) -> Seeds:
    return parse_seeds(lines, pl=0.3, pg=0.7)


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (HOME, UrlRecord(HOME, level=DEFAULT_LEVEL)),
        (f"  {HOME}\t", UrlRecord(HOME, level=DEFAULT_LEVEL)),
        (f"{HOME} 0", UrlRecord(HOME, level=0)),
        (f"{HOME} level=7", UrlRecord(HOME, level=7)),
        (f"{HOME} 2 refresh=2h", UrlRecord(HOME, level=2, refresh_time=7200)),
        (f"{HOME} pl=0.2 pg=0.6 level=1", UrlRecord(HOME, level=1, pl=0.2, pg=0.6)),
        (f"{HOME} pl=0.5", UrlRecord(HOME, level=DEFAULT_LEVEL, pl=0.5)),
        (f"{HOME} 1 # my own site", UrlRecord(HOME, level=1)),
        (f"{HOME}#top", UrlRecord(f"{HOME}#top", level=DEFAULT_LEVEL)),
        ("http://localhost:8000/a?b=c#d", UrlRecord("http://localhost:8000/a?b=c#d", level=DEFAULT_LEVEL)),
        ("https://münchen.example/straße", UrlRecord("https://münchen.example/straße", level=DEFAULT_LEVEL)),
    ],
)
def test_a_line_is_read(line: str, record: UrlRecord) -> None:
    seeds = parse(line)
    assert seeds.records == [record]
    assert seeds.bad == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("example.com", "'example.com' is not an http or https URL"),
        ("ftp://example.com/", "is not an http or https URL"),
        ("http://", "is not an http or https URL"),
        ("http://example.com:99999/", "is not an http or https URL"),
        ("http://[::1", "is not an http or https URL"),
        ("https://example.com/" + "a" * 3000, "is not an http or https URL"),
        (f"{HOME} level=-1", "level '-1' is not a whole number from 0 to 255"),
        (f"{HOME} level=256", "level '256' is not a whole number from 0 to 255"),
        (
            f"{HOME} refresh=soon",
            "refresh 'soon': a span of time is a number of seconds or text such as 10s, 1.5h, 7d",
        ),
        (f"{HOME} refresh=0", "refresh '0' is not longer than zero"),
        (f"{HOME} pl=x", "pl 'x' is not a number above 0 and at most 1"),
        (f"{HOME} pl=nan", "pl 'nan' is not a number above 0 and at most 1"),
        (f"{HOME} pg=1.5", "pg '1.5' is not a number above 0 and at most 1"),
        (f"{HOME} pl=0.8", "pl (0.8) and pg (0.7) must keep to 0 < pl < pg <= 1"),
        (f"{HOME} pl=0.5 pg=0.5", "must keep to 0 < pl < pg <= 1"),
        (f"{HOME} depth=3", "'depth=3' is not one of level=, refresh=, pl=, pg="),
        (f"{HOME} 1 level=2", "level is given more than once"),
    ],
)
def test_a_bad_line_is_told(line: str, problem: str) -> None:
    seeds = parse(line)
    assert seeds.records == []
    [bad] = seeds.bad
    assert problem in bad.problem


def test_a_bad_line_is_told_with_its_number_and_the_rest_goes_on() -> None:
    seeds = parse("# sites", "", HOME, "nonsense", "https://example.org/ 1")
    assert [record.url for record in seeds.records] == [HOME, "https://example.org/"]
    assert [str(bad) for bad in seeds.bad] == ["line 4: 'nonsense' is not an http or https URL"]


def test_the_example_is_in_order() -> None:
    lines = (SEEDS / "example.txt").read_text(encoding="utf-8").splitlines()
    seeds = parse(*lines)
    assert seeds.bad == []
    assert len(seeds.records) >= 3

"""Interest from access logs: lines, users, percentiles, and the command over real files."""

import gzip
from pathlib import Path

import pytest
from typed import Typed, typed

from incrawl.core.ranking.interest import Hit, Readers, percentiles
from incrawl.core.ranking.logs import LogReader, log_time

COMMON = '{user} - - [10/Oct/2000:13:55:36 -0700] "GET {path} HTTP/1.0" {status} 2326'
COMBINED = COMMON + ' "http://example.com/start.html" "{agent}"'


def combined(path: str, user: str = "9.9.9.9", status: int = 200, agent: str = "Mozilla/4.08 [en]") -> str:
    return COMBINED.format(path=path, user=user, status=status, agent=agent)


def read(*lines: str, site: str = "http://example.com") -> tuple[list[Hit], LogReader]:
    reader = LogReader(site=site)
    return list(reader.read(line + "\n" for line in lines)), reader


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("10/Oct/2000:13:55:36 -0700", 971211336.0),
        ("10/Oct/2000:20:55:36 +0000", 971211336.0),
        ("10/Oct/2000:20:55:36", 971211336.0),
        ("11/Oct/2000:02:25:36 +0530", 971211336.0),
        ("99/Oct/2000:20:55:36 +0000", None),
        ("10/Okt/2000:20:55:36 +0000", None),
    ],
)
def test_time_stamps(stamp, expected):
    assert log_time(stamp) == expected


def test_common_and_combined_lines():
    hits, reader = read(COMMON.format(user="9.9.9.9", path="/a?b=1", status=200), combined("/a"))
    assert [hit.url for hit in hits] == ["http://example.com/a?b=1", "http://example.com/a"]
    assert [hit.time for hit in hits] == [971211336.0] * 2
    assert (reader.hits, reader.bad) == (2, 0)


def test_a_line_that_starts_with_its_site():
    hits, _ = read("shop.example:80 " + combined("/a"), site="")
    assert hits[0].url == "http://shop.example/a"
    assert hits[0].user.startswith("9.9.9.9")


def test_a_named_user_is_one_user_on_any_machine():
    named = combined("/a").replace("- - [", "- frank [")
    hits, _ = read(named, named.replace("9.9.9.9", "8.8.8.8"))
    assert {hit.user for hit in hits} == {"frank"}


def test_quotes_in_the_agent_do_not_break_the_line():
    hits, _ = read(combined("/a", agent='a \\"quoted\\" agent'))
    assert len(hits) == 1


def test_what_is_no_reader_is_counted_and_left_out():
    hits, reader = read(
        combined("/a", agent="Mozilla/5.0 (compatible; Googlebot/2.1)"),
        combined("/a", agent="incrawl/0.1 (+https://example.com)"),
        combined("/a", status=404),
        combined("/a").replace("GET", "POST"),
    )
    assert hits == []
    assert (reader.robots, reader.other, reader.bad) == (2, 2, 0)


def test_bad_lines_are_counted_not_fatal():
    hits, reader = read(
        "", "rubbish", combined("/a")[:40], "\x00\x1b[31m", combined("/a"), combined("http://[")
    )
    assert len(hits) == 1
    assert reader.bad == 5


def test_a_path_without_a_site_names_no_page():
    hits, reader = read(combined("/a"), site="")
    assert (hits, reader.bad) == ([], 1)


def test_csv_with_and_without_header_commas_and_dates():
    hits, reader = read(
        "url,user,time",
        "http://a.example/x,ann,100",
        "http://a.example/x?q=1,2,bob,2000-10-10T20:55:36+00:00",
        "http://a.example/x,bob,2000-10-10 20:55:36",
        "http://a.example/x,bob,yesterday",
        "no url,bob,100",
        "short",
        site="",
    )
    assert hits[0] == Hit("http://a.example/x", "ann", 100.0)
    assert {hit.time for hit in hits[1:]} == {971211336.0}
    assert (len(hits), reader.bad) == (3, 3)


def test_distinct_users_within_the_window():
    readers = Readers()
    readers.add(
        [Hit("a", "ann", 0.0), Hit("a", "bob", 1000.0), Hit("a", "bob", 900.0), Hit("b", "ann", 10.0)]
    )
    assert readers.users() == {"a": 2, "b": 1}
    assert readers.users(window=500.0) == {"a": 1}
    assert readers.users(window=1000.0) == {"a": 2, "b": 1}


def test_interest_in_fig_4_of_the_paper():
    """Doc8 has 4 users, five documents one, four none: 4 users > 1 user > 0 users."""
    documents = [f"Doc{number}" for number in range(1, 11)]
    users = {"Doc8": 4} | {f"Doc{number}": 1 for number in (1, 2, 3, 5, 10)}
    interest = percentiles(users, documents)
    assert interest["Doc8"] == 1.0
    assert {interest[f"Doc{number}"] for number in (1, 2, 3, 5, 10)} == {4 / 9}
    assert {interest[f"Doc{number}"] for number in (4, 6, 7, 9)} == {0.0}
    assert percentiles({}, []) == {}


def interest(*arguments: str) -> Typed:
    return typed("interest", "--dry-run", *arguments)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_reads_plain_and_packed_logs_and_prints_json(folder):
    lines = [combined("/a", user=f"9.9.9.{number}") for number in range(4)] + [combined("/b"), "rubbish"]
    (folder / "one.log").write_text("\n".join(lines[:3]) + "\n")
    (folder / "two.log").write_bytes(gzip.compress("\n".join(lines[3:]).encode()))
    done = interest("--site", "http://example.com", "--json", "one.log", "two.log")
    report = done.json()
    assert [(page["url"], page["users"], page["interest"]) for page in report["pages"]] == [
        ("http://example.com/a", 4, 1.0),
        ("http://example.com/b", 1, 0.0),
    ]
    assert report["lines"] == {"hits": 5, "robots": 0, "other": 0, "bad": 1}


def test_the_command_shows_a_table_in_which_a_page_cannot_speak_to_the_terminal(folder):
    (folder / "one.log").write_text(combined("/\x1b]0;owned\x07") + "\n" + combined("/plain") + "\n")
    done = interest("--site", "http://example.com", "one.log")
    assert "http://example.com/plain" in done.out
    assert "2 pages" in done.out
    assert "\x1b]0" not in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((), "at least one log file"), (("none.log",), "none.log"), (("--window", "soon", "x"), "--window")],
)
def test_mistakes_are_told_in_one_sentence(arguments, words, folder):
    done = interest(*arguments)
    assert done.code == 2
    assert words in done.err + done.out
    assert "Traceback" not in done.err

"""One continuous run over pages of every kind: what each visit comes to, and when the next one is due."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from crawls import Crawl, Done, Reply, Site, html, short_dir, until

from incrawl.core.records import Outcome

FIRST, LEAST = 0.3, 0.2  # seconds: refresh time of a new page, and the shortest one
LETTERS = str.maketrans("0123456789", "abcdefghij")  # what changes in its digits only soon stops counting
TRIES = 2  # requests for a page that fails: RETRY_TIMES is 1


@dataclass
class Told:
    site: Site
    other: Site
    crawl: Crawl
    done: Done

    def outcomes(self, path: str) -> list[Outcome]:
        """What the visits of a page came to, as its history tells, first to last."""
        record = self.crawl.one(self.site.url(path)).record
        history = self.crawl.repository().history(record.url, record.document)
        return [entry.outcome for entry in history][::-1]

    def starts(self, path: str, tries: int = 1) -> list[float]:
        """When each visit of a page began, as the site saw it."""
        return [hit.began for hit in self.site.hits if hit.path == path][::tries]


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    with short_dir() as state_dir, Site({}) as site, Site({}, host="127.0.0.2") as other:
        other.pages["/there"] = Reply(html(text="elsewhere"))
        fill(site, other)
        crawl = Crawl(
            state_dir,
            INCRAWL_CONTINUOUS="1",
            INCRAWL_AVERAGE_REFRESH_TIME=f"{FIRST}s",
            INCRAWL_MIN_REFRESH_TIME=f"{LEAST}s",
            RETRY_TIMES="1",
            DOWNLOAD_TIMEOUT="0.5",
        )
        with crawl.start(urls=site.url("/")) as process:
            until(lambda: enough(site) or not process.running)
            process.signal(signal.SIGTERM)
            yield Told(site, other, crawl, process.wait())


def fill(site: Site, other: Site) -> None:
    site.pages |= {
        "/still": Reply(html(text="never changes")),
        "/ticker": lambda earlier: Reply(html(text=f"news of {str(earlier).translate(LETTERS)}")),
        "/slow": Reply(html(text="slow"), delay=0.3),
        "/moved": Reply(status=301, headers={"Location": "/target"}),
        "/target": Reply(html(text="the target")),
        "/chain": Reply(status=302, headers={"Location": "/moved"}),
        "/away": Reply(status=302, headers={"Location": other.url("/there")}),
        "/flaky": lambda earlier: Reply(html(text="better"), status=200 if earlier else 500),
        "/broken": Reply("<h1>Oh</h1>", status=500),
        "/dropped": Reply(drop=True),
        "/hangs": Reply(html(), delay=1.5),
        "/lost": Reply("<h1>Not here</h1>", status=404),
        "/withdrawn": Reply("<h1>Never again</h1>", status=410),
        "/members": Reply("<h1>Who are you?</h1>", status=403),
        "/comes-back": lambda earlier: Reply(html(text="back"), status=500 if 1 <= earlier <= 4 else 200),
    }
    site.pages["/"] = Reply(html(*site.pages))


def enough(site: Site) -> bool:
    paths = site.paths()
    return (
        paths.count("/lost") >= 3
        and paths.count("/broken") >= 3 * TRIES
        and paths.count("/still") >= 3
        and paths.count("/ticker") >= 4
        and paths.count("/comes-back") >= 6
    )


def test_a_continuous_run_waits_for_the_next_due_page_until_it_is_stopped(told: Told) -> None:
    assert told.done.code == 0, told.done.log
    assert told.done.stats["finish_reason"] == "shutdown"
    assert "Traceback" not in told.done.log
    counts = told.crawl.counts()
    assert (counts.leased, counts.suspects, counts.quarantined) == (0, 0, 0)


def test_what_was_found(told: Told) -> None:
    first = {path: told.outcomes(path)[:3] for path in ("/still", "/ticker", "/chain", "/flaky", "/slow")}
    same = [Outcome.NEW, Outcome.UNCHANGED, Outcome.UNCHANGED]
    assert first.pop("/ticker") == [Outcome.NEW, Outcome.CHANGED, Outcome.CHANGED]
    assert all(seen == same[: len(seen)] for seen in first.values()), first


@pytest.mark.parametrize("path", ["/broken", "/dropped", "/hangs", "/lost", "/withdrawn", "/members"])
def test_what_brought_no_document(told: Told, path: str) -> None:
    record = told.crawl.one(told.site.url(path)).record
    assert record.document is None
    assert record.last_crawl is None
    assert record.failures == (0 if path == "/members" else record.visits)


def test_a_redirect_is_followed_inside_the_visit(told: Told) -> None:
    repository = told.crawl.repository()
    for path, text in (("/chain", b"the target"), ("/away", b"elsewhere")):
        record = told.crawl.one(told.site.url(path)).record
        assert text in (repository.document(record.url, record.document or "") or b"")
    assert told.crawl.known(told.other.url("/there")) == [None]


def test_unchanged_pages_are_asked_for_ever_later(told: Told) -> None:
    gaps = [after - before for before, after in pairwise(told.starts("/still"))]
    assert gaps[0] > FIRST * 0.9 and gaps[1] > 2 * FIRST * 0.9  # eq. 2 with pc = 0 doubles the time


def test_pages_that_change_are_asked_for_sooner(told: Told) -> None:
    record = told.crawl.one(told.site.url("/ticker")).record
    assert record.refresh_time == LEAST
    assert record.visits > told.crawl.one(told.site.url("/still")).record.visits


def test_failures_back_off(told: Told) -> None:
    gaps = [after - before for before, after in pairwise(told.starts("/broken", TRIES))]
    assert all(gap > LEAST * 2**failures for failures, gap in enumerate(gaps))
    assert told.crawl.one(told.site.url("/broken")).state == "queued"


def test_a_page_that_fails_for_a_while_keeps_its_version(told: Told) -> None:
    failed, back = [Outcome.FAILED] * 2, [Outcome.UNCHANGED]
    assert told.outcomes("/comes-back")[:4] == [Outcome.NEW, *failed, *back]
    record = told.crawl.one(told.site.url("/comes-back")).record
    assert (record.failures, record.changes) == (0, 0)


def test_pages_that_are_gone_are_given_up(told: Told) -> None:
    for path, times in (("/lost", 3), ("/withdrawn", 1)):
        assert told.crawl.one(told.site.url(path)).state == "retired"
        assert told.site.paths().count(path) == times


def test_every_visit_is_counted(told: Told) -> None:
    visits = [told.crawl.one(told.site.url(path)).record.visits for path in told.site.pages]
    assert sum(told.done.visits().values()) == sum(visits)

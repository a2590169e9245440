"""Workers killed or stopped in the middle: nothing is missing, doubled or left behind."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from crawls import ROOT, Crawl, Reply, Site, html, many_pages, until

from incrawl.core.records import Outcome
from incrawl.frontier.embedded import server_info

EXAMPLE = Path(__file__).parent / "example_project"


def assert_complete(crawl: Crawl, site: Site) -> None:
    """Every page was visited and has one version, told once; no lease and no staged file is left."""
    urls = [site.url(path) for path in site.pages]
    repository = crawl.repository()
    assert {known.record.url: known.state for known in crawl.known(*urls) if known} == dict.fromkeys(
        urls, "queued"
    )
    for known in crawl.known(*urls):
        assert known is not None and known.record.visits == 1, known
        assert repository.document(known.record.url, known.record.document or "") is not None, known
    changes = list(repository.changes())
    assert {change.outcome for change in changes} == {Outcome.NEW}
    assert Counter(change.url for change in changes) == Counter(urls)
    assert crawl.staged_rests() == []
    counts = crawl.counts()
    assert (counts.known, counts.leased, counts.suspects, counts.quarantined) == (len(urls), 0, 0, 0)


def test_killed_runs_lose_nothing(state_dir: Path) -> None:
    with Site(many_pages(60, delay=0.02)) as site:
        crawl = Crawl(state_dir, INCRAWL_LEASE_TIME="1s")
        for share in (20, 45):
            with crawl.start(urls=site.url("/")) as process:
                until(lambda: len(site.paths()) >= share or not process.running)  # noqa: B023
                assert process.running, process.log
                process.kill()
        done = crawl.run()
        assert done.code == 0, done.log
        assert_complete(crawl, site)


def test_stopped_runs_finish_what_is_under_way_and_give_back_the_rest(state_dir: Path) -> None:
    """SIGTERM as from a shutdown, SIGINT as from a keyboard or from scrapyd's cancel."""
    with Site(many_pages(40, delay=0.2)) as site:
        crawl = Crawl(state_dir, CONCURRENT_REQUESTS="4")
        for share, number in ((8, signal.SIGTERM), (20, signal.SIGINT)):
            with crawl.start(urls=site.url("/")) as process:
                until(lambda: len(site.paths()) >= share or not process.running)  # noqa: B023
                process.signal(number)
                done = process.wait()
            assert done.code == 0, done.log
            assert done.stats["finish_reason"] == "shutdown"
            assert done.stats["incrawl/lease/released"] > 0
            assert done.out.startswith("incrawl: "), done.out
            # What was sent was finished, what was not is due as before.
            counts = crawl.counts()
            assert (counts.leased, counts.suspects) == (0, 0)
            visited = [known for known in crawl.known(*map(site.url, site.paths())) if known]
            assert [known.record.visits for known in visited] == [1] * len(site.paths())
            assert crawl.staged_rests() == []
        assert crawl.run().code == 0
        assert_complete(crawl, site)


def test_a_run_that_is_stopped_twice_says_so_in_a_sentence(state_dir: Path) -> None:
    with Site(many_pages(10, delay=5)) as site:
        crawl = Crawl(state_dir)
        with crawl.start(urls=site.url("/")) as process:
            until(lambda: len(site.paths()) > 1 or not process.running)
            process.signal(signal.SIGTERM)
            until(lambda: "shutting down gracefully" in process.log)
            process.signal(signal.SIGTERM)
            done = process.wait()
    assert done.code == 1
    assert "stopped at once; pages that were under way come back one lease later" in done.log + done.out
    assert "Traceback" not in done.log


def test_a_stop_waits_for_no_host(state_dir: Path) -> None:
    """After its robots.txt the host is left in peace for a minute, in which the page may not be sent."""
    with Site({"/": Reply(html())}) as site:
        crawl = Crawl(state_dir, INCRAWL_HOST_INTERVAL="60s")
        with crawl.start(urls=site.url("/")) as process:
            until(lambda: site.hits or not process.running)
            process.signal(signal.SIGTERM)
            done = process.wait(30)
        assert done.code == 0, done.log
        assert site.paths() == []
        known = crawl.one(site.url("/"))
        assert (known.state, known.record.visits) == ("queued", 0)


def test_a_run_outlives_its_server(state_dir: Path) -> None:
    """The embedded server is killed by force: the run waits until it is back, with all it knew."""
    with Site(many_pages(40, delay=0.05)) as site:
        crawl = Crawl(state_dir)
        with crawl.start(urls=site.url("/")) as process:
            until(lambda: len(site.paths()) >= 10 or not process.running)
            server = server_info(state_dir)
            assert server is not None
            os.kill(server.pid, signal.SIGKILL)
            done = process.wait()
        assert done.code == 0, done.log
        assert "Traceback" not in done.log
        assert_complete(crawl, site)
        assert sorted(site.paths()) == sorted(site.pages)  # nothing was asked for twice


@pytest.mark.parametrize(("spider", "project"), [("incremental", ROOT), ("shelves", EXAMPLE)])
def test_a_document_that_the_disk_does_not_take_is_tried_again(
    state_dir: Path, server: str, spider: str, project: Path
) -> None:
    words = "".join(f"<p>{number} bottles</p>" for number in range(20_000))
    pages = {"/list/1": Reply(html("/book/big", "/book/small"))}
    pages |= {"/book/big": Reply(words), "/book/small": Reply(html())}
    with Site(pages) as site:
        crawl = Crawl(state_dir, project=project, largest_file=300_000)
        # What failed is tried again after the shortest time, the others after an hour.
        crawl.settings |= {"INCRAWL_MIN_REFRESH_TIME": "0.001s", "INCRAWL_AVERAGE_REFRESH_TIME": "1h"}
        arguments = {"urls": site.url("/list/1")} if project is ROOT else {"shop": site.url("")}
        done = crawl.run(spider, **arguments)
        assert done.code == 1
        assert "incrawl: not all that was found could be kept; the log says why" in done.log
        assert "Traceback" not in done.log
        assert done.visits() == {"new": 2, "failed": 1}
        assert crawl.one(site.url("/book/big"), spider=spider).record.document is None
        assert crawl.staged_rests() == []
        crawl.largest_file = None
        done = crawl.run(spider, **arguments)
        assert (done.code, done.visits()) == (0, {"new": 1})


@pytest.mark.soak
def test_a_page_that_kills_every_worker_is_quarantined_and_no_other(state_dir: Path) -> None:
    # Its answer comes long after the kill: a worker that had acknowledged the page would not have died of it.
    with Site(many_pages(6) | {"/page/3": Reply(html(), delay=5)}) as site:
        crawl = Crawl(state_dir, INCRAWL_LEASE_TIME="1s")
        running = True
        while running:
            asked = site.paths().count("/page/3")
            with crawl.start(urls=site.url("/")) as process:
                until(lambda: site.paths().count("/page/3") > asked or not process.running)  # noqa: B023
                running = process.running
                process.kill()
        states = {path: crawl.one(site.url(path)).state for path in site.pages}
        assert states == {path: "quarantined" if path == "/page/3" else "queued" for path in site.pages}

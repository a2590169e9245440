"""The demo site in three runs: only what is due is fetched, and the account matches what the site did."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from crawls import Crawl, Done, short_dir

from incrawl.core.records import Outcome
from incrawl.demo.site import DemoSite
from incrawl.frontier import operations

REFRESH = {"news": "1s", "blog": "1s", "archive": "1d"}


@dataclass
class Round:
    done: Done
    urls: list[str]  # pages that were asked for, as often as they were
    due: dict[str, float | None]  # when each page that was known before was due
    began: float
    ended: float
    items: list[dict[str, Any]]  # of the feed


@dataclass
class Rounds:
    site: DemoSite
    crawl: Crawl
    rounds: list[Round]


@pytest.fixture(scope="module")
def told() -> Iterator[Rounds]:
    with short_dir() as state_dir, DemoSite() as site:
        seeds = state_dir / "seeds.txt"
        lines = [f"{site.base[name]}/ 3 refresh={span}" for name, span in REFRESH.items()]
        seeds.write_text("\n".join(lines))
        crawl = Crawl(
            state_dir,
            fresh=True,
            INCRAWL_HOST_INTERVAL="0.01s",
            INCRAWL_MIN_REFRESH_TIME="0.1s",
            INCRAWL_MAX_REFRESH_TIME="2d",
            INCRAWL_SITEMAPS="off",
        )
        told = Rounds(site, crawl, [])
        for number in range(3):
            if number:
                site.advance()
                site.advance()
                time.sleep(1.2)
            told.rounds.append(run_round(site, crawl, str(seeds)))
        yield told


def run_round(site: DemoSite, crawl: Crawl, seeds: str) -> Round:
    due = {url: known.next_due for url, known in all_known(crawl).items()}
    before, began = len(site.hits), time.time()
    feed = crawl.state_dir / f"feed-{before}.jsonl"
    done = crawl.run("incremental", "-O", str(feed), seeds=seeds)
    items = [json.loads(line) for line in feed.read_text().splitlines()]
    return Round(done, [hit.url for hit in site.hits[before:]], due, began, time.time(), items)


def all_known(crawl: Crawl) -> dict[str, operations.Known]:
    async def ask(frontier):
        urls = [record.url async for record in operations.records(frontier)]
        return {url: await operations.look(frontier, url) for url in urls}

    return crawl.ask(ask)


def test_every_run_ends_well_and_says_so_in_one_line(told: Rounds) -> None:
    for each in told.rounds:
        assert each.done.code == 0, each.done.log
        visited = sum(each.done.visits().values())
        [line] = each.done.out.splitlines()
        assert line.startswith(f"incrawl: {visited} visited: ")
        assert each.done.stats["finish_reason"] == "finished"
        assert "Traceback" not in each.done.log


def test_the_first_run_takes_every_page_once(told: Rounds) -> None:
    site, first = told.site, told.rounds[0]
    there = {site.url(page) for page in site.pages if page.exists(0) and not page.hidden}
    assert sorted(first.urls) == sorted(there)
    assert first.done.visits() == {"new": len(there)}
    assert first.done.stats["incrawl/robots/links"] > 0


def test_later_runs_take_what_is_due_and_nothing_else(told: Rounds) -> None:
    for each in told.rounds[1:]:
        assert len(each.urls) == len(set(each.urls))
        for url, due in each.due.items():
            if due is not None and due < each.began:
                assert url in each.urls
            if due is None or due > each.ended:
                assert url not in each.urls
    archive = told.site.base["archive"]
    assert not any(url.startswith(archive) for each in told.rounds[1:] for url in each.urls)


def test_the_second_run_finds_new_pages_through_known_ones(told: Rounds) -> None:
    new = told.site.base["blog"] + "/post/7.html"
    assert new in told.rounds[1].urls
    assert new not in told.rounds[0].urls


def test_the_journal_tells_the_changes_that_the_site_made(told: Rounds) -> None:
    told_changes: dict[str, list[frozenset[str]]] = {}
    for change in reversed(list(told.crawl.repository().changes())):
        if change.outcome is Outcome.CHANGED:
            told_changes.setdefault(change.url, []).append(frozenset(change.kinds))
    true = {url: kinds for url, kinds in told.site.found_changes().items() if kinds}
    assert told_changes == true


def test_counts_records_and_history_agree_with_the_site(told: Rounds) -> None:
    repository, truth = told.crawl.repository(), told.site.found_changes()
    served = [hit.url for hit in told.site.hits]
    for url, known in all_known(told.crawl).items():
        record = known.record
        history = list(repository.history(url, record.document))
        assert (record.visits, record.changes) == (served.count(url), len(truth[url])), url
        assert len(history) == record.visits
        assert known.state == "queued"
        assert repository.document(url, record.document or "") is not None
    changed = sum(each.done.visits().get("changed", 0) for each in told.rounds)
    assert changed == sum(len(kinds) for kinds in truth.values())


def test_a_feed_tells_of_every_page_that_was_fetched(told: Rounds) -> None:
    for each in told.rounds:
        outcomes = [item["outcome"] for item in each.items]
        fetched = {Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED}
        assert {word: outcomes.count(word) for word in set(outcomes)} == {
            word: count for word, count in each.done.visits().items() if word in fetched
        }
    [front] = [item for item in told.rounds[1].items if item["url"] == f"{told.site.base['news']}/"]
    assert (front["kinds"], front["title"]) == (["content"], "The Loopback Times")


def test_refresh_times_move_apart(told: Rounds) -> None:
    known = all_known(told.crawl)
    news, blog, archive = (told.site.base[name] for name in REFRESH)
    assert known[f"{news}/live.html"].record.refresh_time < 1
    never_changed = known[f"{blog}/post/1.html"].record
    assert never_changed.refresh_time == 2 ** (never_changed.visits - 1)  # eq. 2 with pc = 0
    assert known[f"{archive}/record/1.html"].record.refresh_time == 86400


def test_no_version_is_left_staged(told: Rounds) -> None:
    assert told.crawl.staged_rests() == []
    counts = told.crawl.counts()
    assert (counts.leased, counts.suspects, counts.quarantined) == (0, 0, 0)
    assert counts.known == len(told.site.reachable())

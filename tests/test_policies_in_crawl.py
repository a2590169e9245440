"""Policies at work: a site whose pages change at known rates, seconds for days, and crawls that follow it.

The refresh times that the crawls arrive at are compared with what each policy's formula, written out here
once more, gives for the changes that the site made between the requests it saw.
"""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from crawls import PATIENCE, ROOT, Crawl, Reply, Site, html, short_dir, until

from incrawl.collection import passes, snapshot
from incrawl.collection.passes import PassEntry
from incrawl.collection.readers import write_interest
from incrawl.collection.snapshot import Snapshot
from incrawl.core.records import Outcome, UrlRecord, Visit
from incrawl.core.refresh.budget import Budget
from incrawl.core.refresh.policy import Limits
from incrawl.core.urls import canonical
from incrawl.core.values import parse_rate
from incrawl.frontier.frontier import Frontier
from incrawl.repository import Repository

AVERAGE, LEAST, LONGEST, PASS = 1.0, 0.25, 30.0, 0.5
PL, PG = 0.3, 0.7
INTEREST_PL, INTEREST_PG = 0.5, 0.8
PERIODS = {"/": None, "/fast": 0.2, "/mid": 1.5, "/slow": 4.0, "/still": None, "/other": None}
HOURS = {"/": 300, "/fast": 2, "/mid": 40, "/slow": 90, "/still": 5, "/other": 700}
USERS = {"/fast": 4, "/mid": 1, "/still": 9}
POLICIES = ("self_adjusting", "interest", "visit_frequency", "hybrid", "fixed", "budget")
BUDGET = "12/2s"
LASTS = 5.0  # seconds that the crawls go on together at least


@dataclass
class ChangingPage:
    """Gets a new paragraph every `period` seconds; remembers which version each request got."""

    links: tuple[str, ...]
    period: float | None
    modified: float
    began: float = field(default_factory=time.monotonic)
    served: list[int] = field(default_factory=list)

    def __call__(self, before: int) -> Reply:
        version = 0 if self.period is None else int((time.monotonic() - self.began) / self.period)
        self.served.append(version)
        text = "</p><p>".join(f"This is paragraph {number} of the page." for number in range(version + 1))
        return Reply(
            html(*self.links, text=text, title=f"Page {self.period} {self.modified}"),
            headers={"Last-Modified": formatdate(self.modified)},
        )

    def changes(self, visits: int) -> list[bool]:
        """For each visit after the first, whether the page had changed since the one before."""
        seen = self.served[:visits]
        return [a != b for a, b in pairwise(seen)]


@dataclass
class Followed:
    """A site, and what the crawl that followed it under one policy knows in the end."""

    site: Site
    pages: dict[str, ChangingPage]
    state_dir: Path
    policy: str
    crawl: Crawl
    log: str = ""  # of all crawls together
    snapshots: list[Snapshot] = field(default_factory=list)  # of the crawl with a budget
    switched: dict[str, UrlRecord] = field(default_factory=dict)  # after one more run, under another policy
    records: dict[str, UrlRecord] = field(default_factory=dict)

    def read(self) -> dict[str, UrlRecord]:
        return {path: self.crawl.one(self.site.url(path)).record for path in self.pages}


def new_site() -> tuple[Site, dict[str, ChangingPage]]:
    now = time.time()
    leaves = tuple(path for path in PERIODS if path != "/")
    pages = {
        path: ChangingPage(leaves if path == "/" else (), period, now - 3600.0 * HOURS[path] - 60)
        for path, period in PERIODS.items()
    }
    return Site(dict(pages)), pages


@pytest.fixture(scope="module")
def followed() -> Iterator[dict[str, Followed]]:
    with short_dir() as state_dir, ExitStack() as sites:
        crawls = [follower(policy, state_dir) for policy in POLICIES]
        for each in crawls:
            sites.enter_context(each.site)
        follow(crawls, state_dir)
        yield {each.policy: each for each in crawls}


def follower(policy: str, state_dir: Path) -> Followed:
    site, pages = new_site()
    crawl = Crawl(
        state_dir,
        INCRAWL_NAMESPACE=policy,
        INCRAWL_REPOSITORY_DIR=str(state_dir / policy),
        INCRAWL_REFRESH_POLICY=policy,
        INCRAWL_AVERAGE_REFRESH_TIME=str(AVERAGE),
        INCRAWL_MIN_REFRESH_TIME=str(LEAST),
        INCRAWL_MAX_REFRESH_TIME=str(LONGEST),
        INCRAWL_PASS_TIME=str(PASS),
        **({"INCRAWL_BUDGET": BUDGET} if policy == "budget" else {}),
        INCRAWL_RANK_INTERVAL="1s",
        INCRAWL_CONTINUOUS="1",
    )
    return Followed(site, pages, state_dir, policy, crawl)


def follow(crawls: list[Followed], state_dir: Path) -> None:
    """All policies at once; in the middle, readers' interest becomes known."""
    orders = [
        {"settings": each.crawl.settings | {"EXTENSIONS": "{}"}, "arguments": {"urls": each.site.url("/")}}
        for each in crawls
    ]
    plan, log = state_dir / "plan.json", state_dir / "log"
    plan.write_text(json.dumps(orders))
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "several_crawls.py"), str(plan)], cwd=ROOT, stderr=output
        )
    try:
        until(lambda: process.poll() is not None or all_were_visited(crawls))
        assert process.poll() is None, log.read_text()
        tell_interest(next(each for each in crawls if each.policy == "interest"))
        snapshots = watch(crawls)
        budget = next(each for each in crawls if each.policy == "budget")
        process.terminate()
        until(lambda: process.poll() is not None)
        assert process.returncode == 0, log.read_text()
        snapshots.append(budget.crawl.ask(snapshot.load))  # it may have learnt until it was stopped
    finally:
        process.kill()
        process.wait()
    for each in crawls:
        each.records, each.log, each.snapshots = each.read(), log.read_text(), snapshots
    switch(next(each for each in crawls if each.policy == "fixed"))


def switch(each: Followed) -> None:
    """One more run, of another policy. All pages are due: what they were due at is long over."""
    time.sleep(max(0.0, AVERAGE * 1.06 - (time.time() - max(r.last_crawl for r in each.records.values()))))
    each.crawl.settings |= {"INCRAWL_REFRESH_POLICY": "self_adjusting", "INCRAWL_CONTINUOUS": "0"}
    assert each.crawl.run().code == 0
    each.switched = each.read()


def all_were_visited(crawls: list[Followed]) -> bool:
    return all(page.served for each in crawls for page in each.pages.values())


def watch(crawls: list[Followed]) -> list[Snapshot]:
    """Lets the crawls go on until enough has happened; what was known of the collection meanwhile, under the
    budget."""
    budget = next(each for each in crawls if each.policy == "budget")
    hybrid = next(each for each in crawls if each.policy == "hybrid")
    began = time.monotonic()

    def is_enough(snapshots: list[Snapshot]) -> bool:
        return (
            time.monotonic() - began > LASTS
            and sum(known.collection.price is not None for known in snapshots) > 2
            and len(passes_of(hybrid)) > 3
            and all(len(page.served) > 3 for each in crawls for page in each.pages.values())
        )

    async def keep_looking(frontier: Frontier) -> list[Snapshot]:
        snapshots: list[Snapshot] = []
        while not is_enough(snapshots) and time.monotonic() - began < PATIENCE:
            latest = await snapshot.load(frontier)
            if not snapshots or latest != snapshots[-1]:
                snapshots.append(latest)
            await asyncio.sleep(0.05)
        return snapshots

    seen: list[Snapshot] = budget.crawl.ask(keep_looking)
    return seen


def passes_of(each: Followed) -> list[PassEntry]:
    return passes.read_log(Repository(each.state_dir / "hybrid"), "hybrid")


def tell_interest(each: Followed) -> None:
    until(lambda: all(record.document for record in each.read().values()))
    users = {canonical(each.site.url(path)): count for path, count in USERS.items()}
    each.crawl.ask(lambda frontier: write_interest(frontier, users))


def clamped(seconds: float) -> float:
    return min(max(seconds, LEAST), LONGEST)


def near(seconds: float) -> Any:
    """Records keep milliseconds; what is rounded at a visit grows with the refresh time."""
    return pytest.approx(seconds, rel=0.005, abs=0.002)


def adjustment(share: float, pl: float, pg: float) -> float:
    """Eq. 2 and 4, divided by t(n)."""
    return (1 - share / pg) * (share > pg) + (1 - share / pl) * (share < pl)


def test_the_crawls_went_on_until_they_were_stopped(followed: dict[str, Followed]) -> None:
    for each in followed.values():
        assert "Traceback" not in each.log, each.log
        for path, record in each.records.items():
            assert record.visits >= 3, (each.policy, path)
            assert 0 <= len(each.pages[path].served) - record.visits <= 1  # one may have been cut off


def test_changes_are_those_that_the_site_made(followed: dict[str, Followed]) -> None:
    for each in followed.values():
        for path, record in each.records.items():
            changes = each.pages[path].changes(record.visits)
            assert record.changes == sum(changes), (each.policy, path)
            assert [seen.changed for seen in record.history] == changes[-20:]
        assert each.records["/fast"].changes > each.records["/slow"].changes


def test_fixed_keeps_the_refresh_time(followed: dict[str, Followed]) -> None:
    assert {record.refresh_time for record in followed["fixed"].records.values()} == {AVERAGE}


def test_self_adjusting_follows_equations_1_and_2(followed: dict[str, Followed]) -> None:
    each = followed["self_adjusting"]
    for path, record in each.records.items():
        assert record.refresh_time == near(by_content(each.pages[path], record.visits)), path
    assert each.records["/fast"].refresh_time == LEAST
    assert each.records["/still"].refresh_time > AVERAGE


def by_content(page: ChangingPage, visits: int) -> float:
    refresh, seen = AVERAGE, []
    for changed in page.changes(visits):
        seen = [*seen, changed][-20:]
        refresh = clamped(refresh + adjustment(sum(seen) / len(seen), PL, PG) * refresh)
    return refresh


def test_interest_follows_equations_3_and_4(followed: dict[str, Followed]) -> None:
    """When the log was read, between which visits, is not known: one of the possible moments must fit."""
    each = followed["interest"]
    ranks = {path: sum(USERS.get(other, 0) < USERS.get(path, 0) for other in PERIODS) / 5 for path in PERIODS}
    for path, record in each.records.items():
        assert record.interest == pytest.approx(ranks[path], abs=0.001)
        page = each.pages[path]
        possible = [by_readers(page, record.visits, ranks[path], since) for since in range(record.visits)]
        assert any(record.refresh_time == near(value) for value in possible), path
    plain = followed["self_adjusting"].records
    assert each.records["/still"].refresh_time < plain["/still"].refresh_time  # most readers, no changes


def by_readers(page: ChangingPage, visits: int, interest: float, since: int) -> float:
    refresh, seen = AVERAGE, []
    for number, changed in enumerate(page.changes(visits)):
        seen = [*seen, changed][-20:]
        change = adjustment(sum(seen) / len(seen), PL, PG)
        if number >= since:
            change = 0.5 * change + 0.5 * adjustment(interest, INTEREST_PL, INTEREST_PG)
        refresh = clamped(refresh + change * refresh)
    return refresh


def test_visit_frequency_follows_paper_004(followed: dict[str, Followed]) -> None:
    each = followed["visit_frequency"]
    for path in each.pages.keys() - {"/"}:  # the front page also goes by its internal pages
        record, fr_max, seen = each.records[path], round(AVERAGE / PASS), []
        for changed in each.pages[path].changes(record.visits):
            seen = [*seen, changed][-20:]
            bound = len(seen) / sum(seen) if any(seen) else len(seen)
            fr_max = max(1, math.floor((fr_max + bound) / 2))
        assert (record.fr_max, record.refresh_time) == (fr_max, fr_max * PASS), path
    assert each.records["/fast"].fr_max < each.records["/still"].fr_max


def test_visit_frequency_crawls_each_page_at_the_start_of_its_pass(followed: dict[str, Followed]) -> None:
    each = followed["visit_frequency"]
    for path, record in each.records.items():
        known = each.crawl.one(each.site.url(path))
        assert record.last_crawl is not None and known.next_due is not None
        due = (math.floor(record.last_crawl / PASS) + record.fr_max) * PASS
        assert due - 0.01 <= known.next_due < due + PASS, path


def test_hybrid_visits_the_best_20_percent_more_often(followed: dict[str, Followed]) -> None:
    each = followed["hybrid"]
    scores = {}
    for path, record in each.records.items():
        assert record.rank is not None
        scores[path] = record.rank / HOURS[path]
    assert scores["/"] == 0  # nothing links to it
    [best] = sorted(scores, key=scores.__getitem__, reverse=True)[:1]  # one of six
    assert best == "/fast"
    rest = AVERAGE * (0.2 * 4 + 0.8)
    for path, record in each.records.items():
        assert record.refresh_time == pytest.approx(rest / 4 if path == best else rest), path
    assert each.records[best].visits > 1.5 * each.records["/mid"].visits


def test_hybrid_logs_every_pass(followed: dict[str, Followed]) -> None:
    each = followed["hybrid"]
    log = passes_of(each)
    assert [entry.number for entry in log] == list(range(1, len(log) + 1))
    assert {(entry.pages, entry.best) for entry in log[1:]} == {(6, 1)}
    assert log[-1].top[0].url == each.site.url("/fast")
    assert f"Pass {len(log)} over the 20 % collection begins: 1 of 6 pages" in each.log
    began = [entry.time for entry in log]
    best_visits = len(each.pages["/fast"].served)
    assert began == sorted(began) and len(log) <= best_visits + 1  # a pass needs a visit


def test_budget_refreshes_as_its_price_says(followed: dict[str, Followed]) -> None:
    """Which of the snapshots was loaded when a page was visited last is not known: one of them must fit."""
    each = followed["budget"]
    learnt = [known for known in each.snapshots if known.collection.price is not None]
    assert len(learnt) >= 2  # the price is set anew as the collection moves
    assert "The policy has learnt from 6 pages" in each.log
    rate = parse_rate(BUDGET)
    policy = Budget(rate.per_second, Limits(AVERAGE, LEAST, LONGEST))
    for path, record in each.records.items():
        visit = Visit(record.last_crawl or 0.0, Outcome.UNCHANGED)
        possible = [policy.next_refresh(record, visit, known.collection) for known in each.snapshots]
        assert any(record.refresh_time == pytest.approx(wait, rel=0.02) for wait in possible), path
    times = [hit.began for hit in each.site.hits]
    assert max(sum(a <= b < a + rate.span for b in times) for a in times) <= rate.count


def test_intervals_are_those_between_the_requests_that_the_site_saw(followed: dict[str, Followed]) -> None:
    each = followed["budget"]
    for path, record in each.records.items():
        served = [hit.ended for hit in each.site.hits if hit.path == path][: record.visits]
        # A visit ends when its outcome is written, which on a busy machine is some time after its answer.
        [began, *_, ended] = served[-len(record.history) - 1 :]
        assert sum(seen.interval for seen in record.history) == pytest.approx(ended - began, abs=2.0), path


def test_another_policy_goes_on_with_the_history_of_the_one_before(followed: dict[str, Followed]) -> None:
    each = followed["fixed"]
    for path, after in each.switched.items():
        before = each.records[path]
        assert after.visits == before.visits + 1
        assert after.history[:-1] == before.history[-19:]
        share = sum(seen.changed for seen in after.history) / len(after.history)
        assert after.refresh_time == near(clamped(AVERAGE + adjustment(share, PL, PG) * AVERAGE)), path
        assert after.refresh_time != AVERAGE or PL <= share <= PG

"""One policy, one world, one budget: the virtual clock runs from visit to visit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import numpy as np

from incrawl.core.records import Outcome, UrlRecord, Visit
from incrawl.core.refresh.hybrid import Hybrid, age_in_hours, score, split
from incrawl.core.refresh.policy import Collection, RefreshPolicy, SetsDueTime, SpendsAll
from incrawl.core.simulation.pages import DAY, Changes, Pages

LEARNINGS = 2  # per average wait

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Result:
    """What a policy came to. Freshness and age are averages over time and pages, weighed."""

    freshness: float
    age: float  # seconds since the first change that the copy does not have; 0 while fresh
    requests: int
    hit_rate: float  # share of the requests that found a change
    freshness_from_start: float  # the warm-up included


@dataclass(slots=True)
class Account:
    """Fresh time and age of each page, from `start` on."""

    pages: Pages
    start: float
    fresh: list[float] = field(init=False)
    age: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.fresh, self.age = [0.0] * len(self.pages), [0.0] * len(self.pages)

    def add(self, page: int, since: float, changed: float, until: float) -> None:
        """The page was visited at `since`, changed at `changed`, and is looked at again at `until`."""
        if until <= self.start:
            return
        begin = max(since, self.start)
        self.fresh[page] += max(min(changed, until) - begin, 0.0)
        stale_from = max(changed, self.start)
        if stale_from < until:
            self.age[page] += ((until - changed) ** 2 - (stale_from - changed) ** 2) / 2

    @property
    def freshness(self) -> float:
        return self._average(self.fresh)

    @property
    def average_age(self) -> float:
        return self._average(self.age)

    def _average(self, of_pages: list[float]) -> float:
        lives = self.pages.span - np.maximum(self.pages.known, self.start)
        return float(self.pages.weights @ np.array(of_pages) / (self.pages.weights @ lives))


@dataclass(slots=True)
class Purse:
    """Requests that may be sent: so many per second and known page, and no more than a day's at once."""

    per_page: float  # per second
    pages: int = 0
    left: float = 1.0
    time: float = 0.0

    @property
    def _income(self) -> float:
        return self.pages * self.per_page

    @property
    def _most(self) -> float:
        return max(self._income * DAY, 1.0)

    def advance(self, time: float) -> None:
        if time > self.time:
            self.left = min(self.left + (time - self.time) * self._income, self._most)
            self.time = time

    def earliest(self, due: float, *, ahead: bool) -> float:
        """When a page that is due at `due` can be visited; `ahead`: as soon as more would go unused."""
        ready = self._time_of(1.0)
        return max(ready, min(due, self._time_of(self._most)) if ahead else due)

    def _time_of(self, left: float) -> float:
        """When so much will be left."""
        missing = left - self.left
        return self.time + missing / self._income if missing > 1e-9 else self.time


@dataclass(slots=True)
class Simulation:
    """`budget` is in requests per page and second; `warmup` is the part of the run that is not measured."""

    pages: Pages
    changes: Changes
    policy: RefreshPolicy
    budget: float
    warmup: float = 0.0
    progress: Progress = lambda share: None
    collection: Collection = field(default_factory=Collection)
    records: list[UrlRecord] = field(default_factory=list)
    _next: list[float] = field(default_factory=list)  # each page's next change
    _modified: list[float] = field(default_factory=list)  # when the copy's version was made
    _known: list[int] = field(default_factory=list)
    _due: list[tuple[float, int]] = field(default_factory=list)
    _learn_at: float = -math.inf
    _accounts: tuple[Account, ...] = ()
    _delay: Callable[[UrlRecord, Visit, Collection], float] | None = None  # of a policy that sets due times

    def run(self) -> Result:
        self._prepare()
        purse = Purse(self.budget)
        arrivals = sorted(zip(self.pages.known, range(len(self.pages)), strict=True))
        spends_all = isinstance(self.policy, SpendsAll) and self.policy.spends_all
        requests = hits = coming = 0
        while True:
            arrival = arrivals[coming][0] if coming < len(arrivals) else math.inf
            visit = purse.earliest(self._due[0][0], ahead=spends_all) if self._due else math.inf
            if min(arrival, visit) >= self.pages.span:
                break
            if arrival <= visit:
                purse.advance(max(arrival, 0.0))
                self._arrive(arrivals[coming][1])
                coming, purse.pages = coming + 1, coming + 1
                continue
            purse.advance(visit)
            purse.left -= 1
            page = heappop(self._due)[1]
            requests, hits = requests + 1, hits + self._visit(page, visit)
            if requests % 1000 == 0:
                self.progress(visit / self.pages.span)
        for page in self._known:
            self._book(page, self.pages.span)
        measured, whole = self._accounts
        hit_rate = hits / max(requests, 1)
        return Result(measured.freshness, measured.average_age, requests, hit_rate, whole.freshness)

    def _book(self, page: int, until: float) -> None:
        """Fresh time and age since the page's last visit."""
        for account in self._accounts:
            account.add(page, self._last(page), self._next[page], until)

    def _prepare(self) -> None:
        self._delay = self.policy.delay if isinstance(self.policy, SetsDueTime) else None
        self._accounts = (Account(self.pages, self.warmup * self.pages.span), Account(self.pages, 0.0))
        weights = self.pages.weights
        spread = float(weights.max() / weights.min())
        ranks = 10 * np.log(weights / weights.min()) / math.log(spread) if spread > 1 else 0 * weights
        order = weights.argsort().argsort() / max(len(weights) - 1, 1)
        # All pages there will be: an average wait is then the same at any time, as the budget grows with
        # the pages that are known.
        self.collection = replace(self.collection, pages=len(self.pages), rank_spread=spread)
        self.records = [
            UrlRecord(
                address(page),
                rank=float(ranks[page]),
                interest=float(order[page]) if spread > 1 else None,
                last_crawl=float(self.pages.known[page]),
                visits=1,
            )
            for page in range(len(self.pages))
        ]
        self._next, self._modified = [math.inf] * len(self.pages), [0.0] * len(self.pages)

    def _arrive(self, page: int) -> None:
        """The page becomes known with a fresh copy: its first visit, which the budget need not pay."""
        time = float(self.pages.known[page])
        self._known.append(page)
        self._next[page], self._modified[page] = self.changes.after(page, time), time
        self._learn_when_due(time)
        self._schedule(page, Visit(time, Outcome.NEW, last_modified=time))

    def _visit(self, page: int, time: float) -> bool:
        changed = self._next[page] <= time
        self._book(page, time)
        if changed:
            self._modified[page] = self.changes.latest(page, self._next[page], time)
            self._next[page] = self.changes.after(page, time)
        outcome = Outcome.CHANGED if changed else Outcome.UNCHANGED
        visit = Visit(time, outcome, last_modified=self._modified[page])
        self.records[page] = self.records[page].counted(visit)
        self._learn_when_due(time)
        self._schedule(page, visit)
        return changed

    def _schedule(self, page: int, visit: Visit) -> None:
        record = self.records[page]
        wait = self.policy.next_refresh(record, visit, self.collection)
        record = self.records[page] = record._replace(refresh_time=wait)
        if wait is None:
            return
        if self._delay is not None:
            wait = self._delay(record, visit, self.collection)
        heappush(self._due, (visit.time + wait, page))

    def _last(self, page: int) -> float:
        last = self.records[page].last_crawl
        assert last is not None
        return last

    def _learn_when_due(self, now: float) -> None:
        """What the batch job does in a crawl: hybrid passes, and what a policy learns from all pages."""
        if now < self._learn_at:
            return
        self._learn_at = now + 1 / self.budget / LEARNINGS
        if isinstance(self.policy, Hybrid):
            self.collection = replace(self.collection, hybrid_entry=split(self._scores(now)).entry)
        make_learner = getattr(self.policy, "learner", None)
        if make_learner is not None:
            learner = make_learner(now)
            for page in self._known:
                learner.add(self.records[page])
            self.collection = learner.learnt(self.collection)

    def _scores(self, now: float) -> list[tuple[float, str]]:
        records = ((self.records[page], self._modified[page]) for page in self._known)
        return [(score(each.rank or 0.0, age_in_hours(time, now)), each.url) for each, time in records]


def address(page: int) -> str:
    return f"http://page{page}.example/"

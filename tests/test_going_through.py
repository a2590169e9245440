"""Selective recrawl in a real crawl (paper 004): when the pages that a page leads to are visited with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from crawls import Crawl, Reply, Site, html, short_dir, until

from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier

KIDS = tuple(f"/kid/{number}" for number in range(5))
QUIET = 0.5  # seconds in which a crawl that has just looked at a page visits what became due with it


class House:
    """A front page with five pages below it; visits happen when a test asks for them."""

    def __init__(self, crawl: Crawl) -> None:
        self.site = Site({"/": Reply(html(*KIDS))} | {path: Reply(html(text=path)) for path in KIDS})
        self.crawl = crawl

    def change(self, *paths: str) -> None:
        for path in paths:
            self.site.pages[path] = Reply(html(text=f"Something new, after {len(self.site.hits)} requests."))

    def visit(self, *paths: str) -> list[str]:
        """Makes these pages due; what the crawl has visited then."""
        before, visits = len(self.site.paths()), self.visits(*paths)

        async def make_due(frontier: Frontier) -> None:
            for path in paths:
                await operations.reschedule(frontier, self.site.url(path), 0.0)

        self.crawl.ask(make_due)
        until(lambda: self.visits(*paths) == [count + 1 for count in visits])
        time.sleep(QUIET)
        return sorted(self.site.paths()[before:])

    def visits(self, *paths: str) -> list[int]:
        known = self.crawl.known(*map(self.site.url, paths))
        return [0 if each is None else each.record.visits for each in known]

    def threshold(self) -> float | None:
        return self.crawl.one(self.site.url("/")).record.recrawl_threshold


@pytest.fixture(scope="module")
def houses() -> Iterator[Iterator[House]]:
    """One house for each test, all kept by one crawl."""
    with short_dir() as state_dir, ExitStack() as stack:
        crawl = Crawl(
            state_dir,
            INCRAWL_REFRESH_POLICY="visit_frequency",
            INCRAWL_PASS_TIME="1d",
            INCRAWL_CONTINUOUS="1",
        )
        houses = [House(crawl) for _ in range(3)]
        sites = [stack.enter_context(house.site) for house in houses]
        stack.enter_context(crawl.start(urls=",".join(site.url("/") for site in sites)))
        until(lambda: all(count == 1 for house in houses for count in house.visits("/", *KIDS)))
        yield iter(houses)


@pytest.fixture
def house(houses: Iterator[House]) -> House:
    return next(houses)


def test_an_unchanged_page_is_gone_through_when_enough_pages_below_it_changed(house: House) -> None:
    assert house.visit("/") == ["/"]  # all pages below it are newer than its last crawl: no need
    assert house.threshold() == pytest.approx(0.7)  # halfway from 40 % to all of them, which were new
    house.change(*KIDS[:4])
    assert house.visit(*KIDS[:4]) == [*KIDS[:4]]
    assert house.visit("/") == ["/", KIDS[4]]  # 80 %: the one that nobody has looked at since is visited
    assert house.threshold() == pytest.approx(0.75)


def test_an_unchanged_page_is_not_gone_through_when_few_pages_below_it_changed(house: House) -> None:
    house.visit("/")
    house.change(*KIDS)
    house.visit(*KIDS[:2])
    assert house.visit("/") == ["/"]  # 40 %: below the threshold, which has moved to 70 %
    assert house.threshold() == pytest.approx(0.55)


def test_a_page_that_always_changes_over_still_pages_is_fetched_but_not_gone_through(house: House) -> None:
    found = []
    for number in range(3):
        house.site.pages[f"/new/{number}"] = Reply(html(text=f"New page {number}"))
        house.site.pages["/"] = Reply(html(*KIDS, f"/new/{number}", text=f"Front page {number}"))
        found += [path for path in house.visit("/") if path != "/"]
    # At its first change the pages below it were new themselves; from then on they stand still.
    assert found == ["/new/0"]
    assert house.crawl.known(house.site.url("/new/2")) == [None]
    # A link that is still there when the page has calmed down is followed.
    assert house.visit("/") == ["/", "/new/2"]

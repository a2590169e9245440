"""A collection of bounded size: who gets a place, who leaves, who comes back."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crawls import Crawl, Reply, Site, html, short_dir, until
from shelves import Shelf, page, take_all

from incrawl.collection.bound import Exchange, Members
from incrawl.core.records import UrlRecord
from incrawl.core.sitemaps import REQUEST
from incrawl.frontier import bounded, keys, operations, shared
from incrawl.frontier.frontier import Frontier


@pytest.fixture(scope="module")
def server_dir() -> Iterator[Path]:
    with short_dir() as path:
        yield path


@pytest.fixture
def shelf(server_dir: Path, request: pytest.FixtureRequest) -> Shelf:
    return Shelf(server_dir, request.node.name)


def states(shelf: Shelf) -> dict[str, str]:
    async def ask(frontier: Frontier) -> dict[str, str]:
        urls = [record.url async for record in operations.records(frontier)]
        known = [await operations.look(frontier, url) for url in urls]
        return {each.record.url: each.state for each in known if each is not None}

    found: dict[str, str] = shelf.ask(ask)
    return found


def inside(shelf: Shelf) -> set[str]:
    return {url for url, state in states(shelf).items() if state == "queued"}


def find_within(shelf: Shelf, numbers: list[int], size: int) -> int:
    async def work(frontier: Frontier) -> int:
        finds = [frontier.find(UrlRecord(page(number), level=1)) for number in numbers]
        return await bounded.discover_within(frontier, finds, size)

    new: int = shelf.ask(work)
    return new


def test_new_pages_are_due_until_the_collection_is_full(shelf: Shelf) -> None:
    assert find_within(shelf, [0, 1, 2], 5) == 3
    assert find_within(shelf, [1, 2, 3, 4, 5, 6, 3], 5) == 4
    assert len(inside(shelf)) == 5
    assert set(states(shelf).values()) == {"queued", "retired"}
    assert find_within(shelf, [5, 6, 7], 5) == 1  # known ones stay where they are
    assert len(inside(shelf)) == 5
    assert len(states(shelf)) == 8
    assert find_within(shelf, [8], 6) == 1  # a greater size has room at once
    assert page(8) in inside(shelf)


def test_a_known_page_is_still_found_closer_to_a_seed(shelf: Shelf) -> None:
    find_within(shelf, [0], 1)

    async def work(frontier: Frontier) -> None:
        find = frontier.find(UrlRecord(page(0), level=3))
        assert await bounded.discover_within(frontier, [find], 1) == 0

    shelf.ask(work)
    assert shelf.records()[page(0)].level == 3


def places_taken(shelf: Shelf) -> int:
    async def ask(frontier: Frontier) -> int:
        prefix = keys.namespace_prefix(shared.home(frontier), frontier.namespace)
        return int(await frontier.command("GET", keys.places(prefix)) or 0)

    taken: int = shelf.ask(ask)
    return taken


def test_a_lost_answer_takes_no_place_twice_and_gives_none_back(shelf: Shelf) -> None:
    async def work(frontier: Frontier) -> None:
        once = frontier.run

        async def twice(verb: str, *args: Any) -> Any:
            first = await once(verb, *args)
            again = await once(verb, *args)
            assert verb != "admit" or again == first
            return again

        frontier.run = twice  # type: ignore[method-assign]  # as if each first answer had been lost
        finds = [frontier.find(UrlRecord(page(number))) for number in range(6)]
        await bounded.discover_within(frontier, finds[:3], 5)
        await bounded.discover_within(frontier, finds, 5)
        await bounded.admit(frontier, 4)

    shelf.ask(work)
    assert len(inside(shelf)) == 5
    assert len(states(shelf)) == 6
    assert places_taken(shelf) == 5 + 4


def test_workers_that_find_the_same_pages_take_one_place_for_each(shelf: Shelf) -> None:
    async def work(frontier: Frontier) -> None:
        finds = [frontier.find(UrlRecord(page(number))) for number in range(150)]
        await asyncio.gather(*(bounded.discover_within(frontier, finds, 200) for _ in range(4)))

    shelf.ask(work)
    assert len(inside(shelf)) == 150 == places_taken(shelf)


def test_the_most_important_pages_are_in_and_come_back(shelf: Shelf) -> None:
    pages = [page(number) for number in range(8)]
    hub, others = pages[0], pages[1:]
    shelf.visit({hub: others} | {url: [hub, pages[1], pages[2]] for url in others})
    shelf.rank(size=3)
    assert inside(shelf) == {hub, pages[1], pages[2]}
    assert states(shelf)[pages[7]] == "retired"
    assert shelf.records()[pages[7]].document is not None  # it stays known, with all that was found
    shelf.visit({hub: [pages[7]], pages[1]: [pages[7]], pages[2]: [pages[7]]})  # links lead elsewhere now
    ranked = shelf.rank(size=3)
    assert ranked.exchange is not None
    assert pages[7] in inside(shelf)
    assert len(inside(shelf)) == 3 == ranked.exchange.size


def test_equal_pages_do_not_change_places(shelf: Shelf) -> None:
    shelf.visit({page(number): [] for number in range(6)})
    shelf.rank(size=3)
    first = inside(shelf)
    ranked = shelf.rank(size=3)
    assert ranked.exchange is not None
    assert (int(ranked.exchange.enters.sum()), inside(shelf)) == (0, first)


def test_gone_pages_and_pages_with_a_worker_are_not_moved(shelf: Shelf) -> None:
    shelf.visit({page(number): [page(0)] for number in range(5)})

    async def work(frontier: Frontier) -> None:
        await operations.reschedule(frontier, page(0), 0.0)
        [gone] = await take_all(frontier)
        record = gone.record._replace(failures=3, visits=3)
        await frontier.complete(gone, record, delay=None, since_response=None)
        await operations.reschedule(frontier, page(4), 0.0)
        [_] = await take_all(frontier)

    shelf.ask(work)
    shelf.rank(size=2, patience=0)
    found = states(shelf)
    assert (found[page(0)], found[page(4)]) == ("retired", "leased")  # the first is gone, whatever its rank
    assert len(inside(shelf)) == 1


def test_a_failing_page_that_leaves_may_come_back(shelf: Shelf) -> None:
    shelf.visit({page(0): [page(1)], page(1): [], page(2): [page(1)]})

    async def fail(frontier: Frontier) -> None:
        await operations.reschedule(frontier, page(0), 0.0)
        [lease] = await take_all(frontier)
        await frontier.complete(lease, lease.record._replace(failures=2), delay=60.0, since_response=None)

    shelf.ask(fail)
    shelf.rank(size=1)
    assert inside(shelf) == {page(1)}
    shelf.rank(size=3)
    assert len(inside(shelf)) == 3


def test_a_sitemap_is_no_page_of_the_collection_but_goes_on_being_read(shelf: Shelf) -> None:
    sitemap, pages = "http://site0.test/sitemap.xml", [page(number) for number in range(5)]
    shelf.visit({sitemap: pages}, request=REQUEST)
    shelf.visit({url: [pages[0]] for url in pages})
    ranked = shelf.rank(size=3)
    assert (ranked.ranking.documents, ranked.ranking.survey.graph.links) == (5, 4)
    assert sitemap in inside(shelf)
    assert len(inside(shelf)) == 3


@pytest.mark.parametrize("seed", range(20))
def test_an_exchange_leaves_nobody_outside_who_ranks_higher(seed: int) -> None:
    chance, count = random.Random(seed), 40
    ranks = np.array([float(chance.randint(0, 5)) for _ in range(count)])
    state = np.array([chance.choice("wwerg") for _ in range(count)])  # waiting, engaged, at rest, gone
    size = chance.randint(1, count)
    members = Members(state == "w", state == "e")
    exchange = Exchange.of(ranks, members, state == "r", size)
    after = (members.waiting & ~exchange.leaves) | members.engaged | exchange.enters
    assert exchange.size == after.sum()
    assert after.sum() == max(min(size, np.isin(state, ["w", "e", "r"]).sum()), members.engaged.sum())
    assert not (exchange.enters & (state != "r")).any()
    movable = after & ~members.engaged
    outside = np.isin(state, ["w", "r"]) & ~after
    if movable.any() and outside.any():
        assert ranks[movable].min() >= ranks[outside].max()
    if exchange.enters.any() and exchange.leaves.any():
        assert ranks[exchange.enters].min() > ranks[exchange.leaves].max()


def test_a_crawl_keeps_to_the_size_and_lets_the_more_important_page_in() -> None:
    leaves = [f"/leaf/{number}" for number in range(6)]
    pages = {"/": Reply(html(*leaves))} | {path: Reply(html("/", "/star")) for path in leaves}
    with short_dir() as state_dir, Site({**pages, "/star": Reply(html("/"))}) as site:
        crawl = Crawl(
            state_dir,
            INCRAWL_COLLECTION_SIZE="4",
            INCRAWL_AVERAGE_REFRESH_TIME="0.5s",
            INCRAWL_MIN_REFRESH_TIME="0.5s",
        )
        done = crawl.run(urls=site.url("/"))
        assert done.code == 0, done.log
        assert len(site.paths()) == 4
        assert "/star" not in site.paths()
        assert crawl.counts().known == 8
        until(lambda: crawl.counts().due == 4)
        second = crawl.run()
        assert "/star" in site.paths()  # it was found while the collection was full, and ranks higher
        assert "1 have entered it" in done.log, done.log
        assert sum(second.visits().values()) == 4
        urls = [site.url(path) for path in ("/", "/star", *leaves)]
        states = [known.state for known in crawl.known(*urls) if known is not None]
        assert states[:2] == ["queued", "queued"]
        assert states.count("queued") == 4

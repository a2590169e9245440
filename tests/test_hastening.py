"""A budget that would go unused has pages visited ahead of their time; those next due come first."""

from __future__ import annotations

from pathlib import Path

from crawls import Crawl, Site, many_pages, until
from frontiers import Bench, advance, discover, finish, in_loop, known, take, urls

from incrawl.collection.hastening import Hastener
from incrawl.core.refresh.policy import Limits
from incrawl.core.values import Rate
from incrawl.frontier.coming import coming, records_of
from incrawl.frontier.frontier import Frontier

DAY = 86400.0
BUDGET = Rate(3, DAY)
PAGES = [f"http://host{number}.test/" for number in range(6)]


async def visit_all(worker: Frontier, **fields: int) -> float:
    """All pages were visited now, the time that is returned; page n is due again in n + 1 days."""
    await discover(worker, *PAGES)
    for lease in await take(worker):
        delay = DAY * (PAGES.index(lease.record.url) + 1)
        await finish(worker, lease, delay=delay, document="run", **fields)
    return worker.now()


async def begin_later(worker: Frontier, seconds: float) -> None:
    """The next run begins; with its answer the server tells the time."""
    await advance(worker, seconds)
    await worker.begin()


def hastener(worker: Frontier, hastened: list[int], budget: Rate = BUDGET) -> Hastener:
    limits = Limits(DAY, 600.0, 90 * DAY)
    return Hastener(worker, budget, limits, lambda name, by: hastened.append(by))


@in_loop
async def test_the_next_pages_come_in_the_order_of_their_due_times(bench: Bench) -> None:
    async with bench.open() as worker:
        await visit_all(worker)
        soon = await coming(worker, 4)
        found = await records_of(worker, soon)
        assert [found[page].url for page in soon] == PAGES[:4]


@in_loop
async def test_a_run_takes_as_many_pages_ahead_as_went_unused_before_it(bench: Bench) -> None:
    hastened: list[int] = []
    async with bench.open() as worker:
        start = await visit_all(worker)
        await begin_later(worker, DAY / 1.4)
        await hastener(worker, hastened).at_start(start)  # two thirds of a day: two of three requests
        assert hastened == [2]
        assert sorted(urls(await take(worker))) == PAGES[:2]


@in_loop
async def test_pages_that_are_due_anyway_come_first(bench: Bench) -> None:
    hastened: list[int] = []
    async with bench.open() as worker:
        start = await visit_all(worker)
        await begin_later(worker, 2.5 * DAY)
        await hastener(worker, hastened).at_start(start)  # three requests are allowed, two pages are due
        assert hastened == [1]


@in_loop
async def test_nothing_is_hastened_right_after_a_visit_after_a_failure_or_without_a_run_before(
    bench: Bench,
) -> None:
    hastened: list[int] = []
    async with bench.open() as worker:
        start = await visit_all(worker, failures=1)
        await begin_later(worker, 0.9 * DAY)
        await hastener(worker, hastened).at_start(None)
        assert hastened == []
        await hastener(worker, hastened).at_start(start)
        assert hastened == [0]
    bench.wipe()
    async with bench.open() as worker:
        start = await visit_all(worker)
        await begin_later(worker, 300)  # less than the shortest refresh time
        await hastener(worker, hastened, Rate(1000, 300)).at_start(start)
        assert hastened == [0, 0]
        assert (await known(worker, PAGES[0])).next_due is not None


@in_loop
async def test_of_several_workers_one_hastens(bench: Bench) -> None:
    hastened: list[int] = []
    async with bench.open() as one, bench.open() as two:
        start = await visit_all(one)
        await begin_later(one, DAY / 1.4)
        await begin_later(two, 0)
        await hastener(one, hastened).at_start(start)
        await hastener(two, hastened).at_start(start)
        assert hastened == [2]


def test_a_crawl_that_goes_on_uses_its_budget_up(state_dir: Path) -> None:
    with Site(many_pages(10)) as site:
        crawl = Crawl(
            state_dir,
            INCRAWL_REFRESH_POLICY="budget",
            INCRAWL_BUDGET="20/2s",
            INCRAWL_CONTINUOUS="1",
            INCRAWL_AVERAGE_REFRESH_TIME="1h",
            INCRAWL_MIN_REFRESH_TIME="0.1s",
        )
        with crawl.start(urls=site.url("/")) as process:
            until(lambda: len(site.hits) > 60)  # five times each, though none is due within the hour
            process.signal(15)
            assert process.wait().code == 0
        times = [hit.began for hit in site.hits]
        assert max(sum(start <= other < start + 2.0 for other in times) for start in times) <= 20

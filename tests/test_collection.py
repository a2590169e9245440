"""The ranking of a collection, on a real frontier and a real repository."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from crawls import short_dir
from frontiers import Bench, in_loop
from shelves import Shelf, page, take_all

from incrawl.collection import passes, snapshot
from incrawl.collection.amending import Amended
from incrawl.collection.graph import LinkGraph
from incrawl.collection.job import Ranked, RankingJob
from incrawl.collection.lists import cut_lists
from incrawl.collection.numbers import PageNumbers, short_id, short_id_of
from incrawl.collection.pareto import Cut, ages_in_hours, scores_of
from incrawl.collection.readers import write_interest
from incrawl.collection.write_back import Largest
from incrawl.core.ranking.interest import percentiles
from incrawl.core.ranking.pagerank import ranks_of
from incrawl.core.ranking.pvalue import pvalues, three_lists
from incrawl.core.records import Outcome, UrlRecord, Visit
from incrawl.core.refresh.hybrid import age_in_hours, score, split
from incrawl.core.refresh.policy import Collection
from incrawl.frontier import bounded, operations
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.glance import look_many
from incrawl.repository import Repository, Sidecar

DAY = "Mon, 02 Nov 2026 00:00:00 GMT"


@pytest.fixture(scope="module")
def server_dir() -> Iterator[Path]:
    with short_dir() as path:
        yield path


@pytest.fixture
def shelf(server_dir: Path, request: pytest.FixtureRequest) -> Shelf:
    return Shelf(server_dir, request.node.name)


def some_links(seed: int = 0) -> dict[str, list[str]]:
    """30 pages with links to one another, to unknown pages, twice to the same one, and to themselves."""
    chance = random.Random(seed)
    pages = [page(number) for number in range(30)]
    links = {url: [url, "http://elsewhere.test/"] for url in pages}
    for url in pages:
        links[url] += chance.choices(pages, weights=range(30, 0, -1), k=chance.randint(0, 9))
        links[url] += [link + "#part" for link in links[url][2:4]]  # the same page, spelt differently
    return links


def plain(links: dict[str, list[str]]) -> dict[str, set[str]]:
    """The links as the reference functions want them: distinct, none to the page itself."""
    return {url: {link.partition("#")[0] for link in out} - {url} for url, out in links.items()}


def test_ranks_and_pvalues_are_those_of_the_reference(shelf: Shelf) -> None:
    links = some_links()
    shelf.visit(links)
    shelf.rank()
    records, known = shelf.records(), set(links)
    ranks, _ = ranks_of((url, out & known) for url, out in plain(links).items())
    assert records.keys() == known
    for url, record in records.items():
        assert record.rank == pytest.approx(ranks[url], abs=0.001)
    values = {url: value for url, value in pvalues(plain(links).items()).items() if url in known}
    ranked = shelf.rank(shown=30)
    for number, record in ranked.records().items():
        assert ranked.ranking.pvalues[number] == values[record.url]


def test_lists_are_cut_in_each_partition(shelf: Shelf) -> None:
    links = some_links(1)
    shelf.visit(links)
    shelf.rank()
    values = pvalues(plain(links).items())
    by_partition: dict[int, dict[str, UrlRecord]] = {}
    partitions = shelf.ask(lambda f: _partitions(f, links))
    for url, record in shelf.records().items():
        by_partition.setdefault(partitions[url], {})[url] = record
    assert len(by_partition) > 2
    for members in by_partition.values():
        sizes = [sum(record.list == number for record in members.values()) for number in range(3)]
        assert sizes == [len(part) for part in three_lists(dict.fromkeys(members, 0))]
        for first, second in ((0, 1), (1, 2)):
            upper = [values[url] for url, record in members.items() if record.list == first]
            lower = [values[url] for url, record in members.items() if record.list == second]
            assert not lower or min(upper) >= max(lower)


async def _partitions(frontier: Frontier, urls: Iterable[str]) -> dict[str, int]:
    return {url: frontier.place(url).host.partition for url in urls}


def test_the_tables_of_the_paper_make_three_lists() -> None:
    given = [20, 155, 3, 60, 18, 53, 79, 13, 52, 40, 65, 60, 4, 21, 16, 15, 11, 5]
    lists = cut_lists(np.array(given), np.zeros(18, dtype=np.uint16))
    cut = [sorted((v for v, part in zip(given, lists, strict=True) if part == number), reverse=True)
           for number in range(3)]  # fmt: skip
    assert cut == [[155, 79, 65, 60, 60, 53], [52, 40, 21, 20, 18, 16], [15, 13, 11, 5, 4, 3]]


def test_a_revisit_counts_no_link_twice_and_a_dropped_link_is_gone(shelf: Shelf) -> None:
    a, b, c = page(1), page(2), page(3)
    shelf.visit({a: [b, c], b: [], c: []})
    first = shelf.rank(shown=3)
    assert told(first) == {a: (2, 0), b: (0, 1), c: (0, 1)}
    shelf.visit({a: [b, c]})  # again, the same links, in a new version
    assert told(shelf.rank(shown=3)) == told(first)
    shelf.visit({a: [c]})
    assert told(shelf.rank(shown=3)) == {a: (1, 0), b: (0, 0), c: (0, 1)}


def told(ranked: Ranked) -> dict[str, tuple[int, int]]:
    """Forward and back links of each page."""
    graph, back = ranked.ranking.survey.graph, ranked.ranking.back
    return {
        record.url: (int(graph.forward[number]), int(back[number]))
        for number, record in ranked.records().items()
    }


def test_a_link_graph_takes_each_page_once() -> None:
    urls = [page(number) for number in range(3)]
    pages = PageNumbers(id for url in urls * 2 if (id := short_id_of(url)) is not None)
    graph = LinkGraph(pages)
    number = pages.of(short_id_of(urls[0]) or 0)
    assert number is not None
    for _ in range(2):
        graph.add(number, [urls[1], urls[1] + "#a", "mailto:x@y.test", "http://[bad", urls[0]])
    assert (len(pages), graph.links, int(graph.forward[number])) == (3, 1, 1)


def test_nothing_known_is_ranked_too(shelf: Shelf) -> None:
    ranked = shelf.rank()
    assert (ranked.ranking.pages, ranked.snapshot.collection.hybrid_entry) == (0, None)


def test_a_second_ranking_writes_nothing_new(shelf: Shelf) -> None:
    shelf.visit(some_links())
    assert shelf.rank().written.amended.done > 0
    assert shelf.rank().written.amended.done == 0


def test_a_look_changes_nothing(shelf: Shelf) -> None:
    shelf.visit(some_links())
    before = shelf.records()
    ranked = shelf.rank(write=False)
    assert ranked.snapshot.number == 1
    assert shelf.records() == before
    assert shelf.ask(snapshot.load) == snapshot.Snapshot()
    assert passes.read_log(shelf.repository, shelf.namespace) == []


def test_a_page_that_is_being_visited_is_waited_for_or_left_to_the_next_ranking(shelf: Shelf) -> None:
    links = some_links()
    shelf.visit(links)

    async def work(frontier: Frontier) -> None:
        await operations.reschedule(frontier, page(1), 0.0)
        [lease] = await take_all(frontier)
        ranked = await RankingJob(frontier, shelf.repository, patience=0).run()
        assert ranked.written.amended.busy == 1
        job = asyncio.create_task(RankingJob(frontier, shelf.repository).run())
        await asyncio.sleep(0.5)
        await frontier.complete(lease, lease.record._replace(visits=9), delay=60.0, since_response=None)
        assert (await job).written.amended == Amended(1, 0)
        known = await operations.look(frontier, page(1))
        assert known is not None
        assert known.record.visits == 9

    shelf.ask(work)


@pytest.mark.parametrize("seed", range(5))
def test_the_20_percent_are_those_of_the_reference(seed: int) -> None:
    chance = random.Random(seed)
    now = 1e9
    urls = [page(number) for number in range(chance.choice([1, 4, 26, 100]))]
    ranks = [float(chance.randint(0, 4)) for _ in urls]  # many are alike
    dates = [chance.choice([None, now - 3600.0 * chance.randint(0, 5), now + 60]) for _ in urls]
    reference = split(
        (score(rank, age_in_hours(date, now)), url)
        for rank, date, url in zip(ranks, dates, urls, strict=True)
    )
    ages = ages_in_hours(np.array([np.nan if date is None else date for date in dates]), now)
    scores = scores_of(np.array(ranks), ages)
    cut = Cut.of(scores)
    assert cut is not None
    at_cut = Largest(cut.places)
    for number, url in enumerate(urls):
        if scores[number] == cut.score:
            at_cut.add((url, number))
    assert (cut.score, at_cut.least[0]) == reference.entry
    best = {urls[number] for _, number in at_cut.heap} | {urls[n] for n in np.flatnonzero(scores > cut.score)}
    assert best == {url for _, url in reference.best}


def test_a_pass_begins_with_the_best_and_is_logged(shelf: Shelf) -> None:
    links = some_links()
    shelf.visit(links, last_modified=DAY)
    ranked = shelf.rank()
    best = {record.url: record.rank for record in shelf.records().values()}
    top = sorted(best, key=lambda url: (best[url], url), reverse=True)[:6]  # all of the same age
    assert int(ranked.best.sum()) == len(top)
    assert ranked.snapshot.collection.hybrid_entry is not None
    assert ranked.snapshot.collection.hybrid_entry[1] == top[-1]

    async def visit_best(frontier: Frontier) -> list[int]:
        left = [await passes.pages_left(frontier)]
        for url in [*top, top[0], page(29)]:  # a second visit, and one of the others, change nothing
            await passes.note_visit(frontier, frontier.place(url))
            left.append(await passes.pages_left(frontier))
        return left

    assert shelf.ask(visit_best) == [*range(6, -1, -1), 0, 0]
    [entry] = passes.read_log(shelf.repository, shelf.namespace)
    assert (entry.number, entry.pages, entry.best) == (1, 30, 6)
    assert [scored.url for scored in entry.top][:3] == top[:3]
    assert all(scored.score == scored.rank / scored.age for scored in entry.top)
    shelf.rank()
    assert [entry.number for entry in passes.read_log(shelf.repository, shelf.namespace)] == [1, 2]
    assert passes.read_log(shelf.repository, "another") == []


def test_what_workers_load_is_what_the_job_wrote(shelf: Shelf) -> None:
    shelf.visit(some_links())
    ranked = shelf.rank()
    loaded = shelf.ask(snapshot.load)
    assert loaded == ranked.snapshot
    assert loaded.collection.pages == 30


class Averaging:
    """A policy that learns how many pages have a high rank, for want of anything better."""

    def __init__(self) -> None:
        self.high = 0

    def learner(self, now: float) -> Averaging:
        return Averaging()

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        return 60.0 * collection.pages

    def add(self, record: UrlRecord) -> None:
        assert record.rank is not None  # this ranking's, not the last one's
        self.high += record.rank > 5

    def learnt(self, collection: Collection) -> Collection:
        assert collection.pages == 30
        return replace(collection, pages=self.high)


def test_a_policy_may_learn_from_all_records(shelf: Shelf) -> None:
    shelf.visit(some_links())
    ranked = shelf.rank(policy=Averaging())
    high = sum((record.rank or 0) > 5 for record in shelf.records().values())
    assert 0 < high < 30
    assert ranked.snapshot.collection.pages == high
    assert shelf.ask(snapshot.load).collection.pages == high


def test_a_snapshot_of_another_version_can_be_read() -> None:
    import msgpack

    values = {"collection": {"pages": 7, "of_the_future": 1}, "time": 5.0, "number": 2, "more": None}
    read = snapshot.Snapshot.unpack(msgpack.packb(values))
    assert (read.collection.pages, read.time, read.number) == (7, 5.0, 2)


def test_interest_is_the_place_among_the_collection(shelf: Shelf) -> None:
    pages = [page(number) for number in range(10)]
    shelf.visit({url: [] for url in pages})
    assert {record.interest for record in shelf.records().values()} == {None}  # no log at all
    users = {pages[8]: 4} | {pages[number]: 1 for number in (1, 2, 3, 5, 0)}
    unknown = {"http://elsewhere.test/": 9, "http://elsewhere.test/more": 1}  # not in the collection
    written = shelf.ask(lambda frontier: write_interest(frontier, users | unknown))
    assert (written.pages, written.asked_for, written.amended) == (10, 6, Amended(10, 0))
    expected = {url: round(share, 4) for url, share in percentiles(users, pages).items()}
    assert {url: record.interest for url, record in shelf.records().items()} == expected
    assert expected[pages[9]] == 0  # nobody asked for it: that is known
    again = shelf.ask(lambda frontier: write_interest(frontier, users))
    assert again.amended == Amended(0, 0)


def test_ids_are_those_of_the_frontier() -> None:
    from incrawl.core.urls import canonical, url_id

    assert short_id_of("HTTP://Example.com:80/#x") == short_id(url_id(canonical("http://example.com/")))
    assert short_id_of("ftp://example.com/") is None


def test_a_glance_shows_records_and_due_times(shelf: Shelf) -> None:
    shelf.visit({page(number): [] for number in range(3)})

    async def work(frontier: Frontier) -> None:
        await operations.reschedule(frontier, page(1), None)
        await frontier.discover([frontier.find(UrlRecord(page(3)))])
        [_] = await take_all(frontier)
        urls = [page(number) for number in range(5)] + [page(0) + "#again"]
        seen = {glance.record.url: glance.due for glance in await look_many(frontier, urls)}
        assert seen.keys() == {page(number) for number in range(4)}
        assert seen[page(1)] is seen[page(3)] is None  # one retired, one with a worker
        assert seen[page(0)] == pytest.approx(frontier.now() + 3600, abs=60)

    shelf.ask(work)


@in_loop
async def test_the_job_runs_on_a_cluster_too(bench: Bench, tmp_path: Path) -> None:
    urls = [page(number) for number in range(12)]
    repository = Repository(tmp_path, "test/spider")
    async with bench.open(partitions=5) as frontier:
        finds = [frontier.find(UrlRecord(url)) for url in urls]
        assert await bounded.discover_within(frontier, finds, size=8) == 12
        assert await bounded.count_members(frontier) == 8
        for lease in await take_all(frontier):
            sidecar = Sidecar(url=lease.record.url, time=1e9, outcome=Outcome.NEW, links=(urls[0], urls[11]))
            staged = repository.stage(sidecar, b"<p>A page</p>")
            repository.promote(staged)
            await frontier.complete(
                lease, lease.record._replace(document=staged.run, visits=1), delay=60.0, since_response=None
            )
        ranked = await RankingJob(frontier, repository, size=8).run()
        assert ranked.exchange is not None
        assert await bounded.count_members(frontier) == 8 == ranked.exchange.size
        [glance] = await look_many(frontier, [urls[11]])
        assert glance.record.rank == 10.0
        assert glance.due is not None  # found while the collection was full; most pages lead to it
        assert await snapshot.load(frontier) == ranked.snapshot
        assert await passes.pages_left(frontier) == int(ranked.best.sum()) == 1
        written = await write_interest(frontier, {urls[0]: 1})
        assert written.pages == 8

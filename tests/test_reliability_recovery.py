"""A lost frontier comes back from the repository; a back-up taken while crawling restores both."""

from __future__ import annotations

import json
import time
from pathlib import Path

import msgpack
import pytest
import redis
from crawls import Crawl, short_dir, until
from drills import LONG, Figures, crawl_in, show
from frontiers import Bench, discover, finish, in_loop, known, take
from swarm import FastSite, Forker, Swarm, fetched, page_of, site_of, tree

from incrawl.commands.restore import restore_entries
from incrawl.config import Config
from incrawl.core.records import Outcome, UrlRecord
from incrawl.core.refresh import policy_from
from incrawl.core.refresh.policy import Limits
from incrawl.errors import ServerError
from incrawl.frontier import keys, operations
from incrawl.frontier.adoption import Adopted, adopt
from incrawl.frontier.frontier import SCHEMA, Find, Frontier
from incrawl.frontier.operations import Known
from incrawl.frontier.packing import unpack
from incrawl.frontier.server_dir import ServerDir
from incrawl.recovery import frontier_file
from incrawl.recovery.frontier_file import BackupError, FrontierFile, Head, entries_of, read_head
from incrawl.recovery.rebuild import Rebuilt
from incrawl.recovery.rebuild import rebuild as rebuild_frontier
from incrawl.recovery.replay import Replay
from incrawl.repository import Repository, Sidecar

A, B, C, D = (f"http://{name}.test/" for name in "abcd")
GOLDEN = Path(__file__).with_name("golden") / "frontier-schema-1.msgpack"


def known_pages(crawl: Crawl) -> dict[str, Known]:
    async def ask(frontier: Frontier) -> dict[str, Known]:
        return {r.url: await known(frontier, r.url) async for r in operations.records(frontier)}

    found: dict[str, Known] = crawl.ask(ask)
    return found


def lose_frontier(state_dir: Path) -> None:
    with redis.Redis(unix_socket_path=str(ServerDir(state_dir).socket())) as client:
        client.flushall()


def lasting(record: UrlRecord) -> tuple[object, ...]:
    """What the repository must give back exactly."""
    version = (record.document, record.fingerprint, record.size, record.type)
    changed = tuple(seen.changed for seen in record.history)
    return (record.url, record.level, *version, record.visits, record.changes, record.failures, changed)


def rebuild(forker: Forker, state_dir: Path, *, count: int) -> Figures:
    """A frontier is deleted after two rounds, and rebuilt."""
    pages = tree(count)
    with site_of(pages) as site, Swarm(forker, crawl_in(state_dir, 10), f"{site.url('/')} 9") as swarm:
        swarm.start().wait(LONG)
        swarm.ask("recrawl", site.host)
        site.pages = {**pages, "/p/3": [*pages["/p/3"], "/missing"]}
        swarm.start(seeded=False).wait(LONG)  # one page has changed and has a link more, which leads nowhere
        missing = site.url("/missing")
        before = known_pages(swarm.crawl)
        assert {page.record.visits for url, page in before.items() if url != missing} == {2}
        assert sum(page.record.changes for page in before.values()) == 1
        lose_frontier(state_dir)
        assert swarm.crawl.counts().known == 0

        told = json.loads(swarm.ask("rebuild", "--json"))
        assert told == {"namespace": "incrawl/incremental", "pages": count + 1, "links": 1}
        after = known_pages(swarm.crawl)
        assert after.keys() == before.keys()
        for url in before.keys() - {missing}:
            assert lasting(after[url].record) == lasting(before[url].record)
            assert after[url].record.refresh_time == pytest.approx(before[url].record.refresh_time, rel=0.01)
            assert after[url].next_due == pytest.approx(before[url].next_due, abs=60)
        # Of a page without a document nothing is left but the link to it: it is tried again.
        assert after[missing].record.visits == 0
        asked = len(site.fetches)
        swarm.start(seeded=False).wait(LONG)
        assert [fetch.path for fetch in site.fetches[asked:]] == ["/missing"]
        assert json.loads(swarm.ask("rebuild", "--json"))["pages"] == 0
        return {"pages": told["pages"], "links": told["links"], "lost": len(before.keys() - after.keys())}


def test_the_frontier_is_rebuilt_from_the_repository_alone(forker: Forker, state_dir: Path) -> None:
    show("rebuilt", rebuild(forker, state_dir, count=30))


@pytest.mark.soak
def test_a_large_frontier_is_rebuilt_from_the_repository_alone(forker: Forker, state_dir: Path) -> None:
    show("rebuilt", rebuild(forker, state_dir, count=1000))


def assert_documents(crawl: Crawl, site: FastSite) -> int:
    """Every document that a record names is there, whole; how many there are."""
    repository, count = crawl.repository(), 0
    for url, page in known_pages(crawl).items():
        if page.record.document is not None:
            path = url.removeprefix(site.url(""))
            assert repository.document(url, page.record.document) == page_of(path, site.pages[path])
            count += 1
    return count


def back_up(forker: Forker, state_dir: Path, tmp_path: Path, *, pages: int) -> Figures:
    """Two back-ups are taken while two workers crawl; the second one is restored elsewhere."""
    backup = str(tmp_path / "backup")
    with site_of(tree(pages)) as site, short_dir() as other_dir:
        # Few at a time, so that most of what was fetched has been acknowledged when it is saved.
        crawl = crawl_in(state_dir, 5, CONCURRENT_REQUESTS="4")
        with Swarm(forker, crawl, f"{site.url('/')} 9") as swarm:
            workers = [swarm.start(), swarm.start()]
            until(fetched(site, pages // 5), LONG)
            first = json.loads(swarm.ask("backup", "--json", backup))
            until(fetched(site, 2 * pages // 5), LONG)
            second = json.loads(swarm.ask("backup", "--json", backup))
            saved = len(site.fetches)
            for worker in workers:
                worker.kill()  # and its machine with it
        assert 0 < first["records"] <= second["records"]

        restored = crawl_in(other_dir, 5, INCRAWL_PARTITIONS="5")
        with Swarm(forker, restored, f"{site.url('/')} 9") as swarm:
            told = json.loads(swarm.ask("restore", "--json", backup))
            assert told["records"] == second["records"] == restored.counts().known
            there = assert_documents(restored, site)
            repository = restored.repository()
            versions = list(repository.changes())
            assert all(repository.document(change.url, change.run) is not None for change in versions)
            assert pages // 8 <= there <= saved
            # Pages that became known and were visited while the frontier was read are visited again.
            now = time.time()
            visited = {
                url
                for url, page in known_pages(restored).items()
                if page.record.visits and page.time is not None and page.time > now
            }
            assert len(visited) >= pages // 8
            asked = len(site.fetches)
            swarm.start().wait(LONG)
            assert {site.url(path) for path in site.pages} == known_pages(restored).keys()
            assert assert_documents(restored, site) == len(site.pages)
            assert not visited & {site.url(fetch.path) for fetch in site.fetches[asked:]}
            counts = restored.counts()
            assert (counts.leased, counts.suspects, counts.quarantined) == (0, 0, 0)
            assert restored.staged_rests() == []
            return {"records saved": second["records"], "documents": there, "fetched by then": saved}


def test_a_back_up_taken_while_crawling_restores_both(
    forker: Forker, state_dir: Path, tmp_path: Path
) -> None:
    show("restored", back_up(forker, state_dir, tmp_path, pages=150))


@pytest.mark.soak
def test_a_large_back_up_taken_while_crawling_restores_both(
    forker: Forker, state_dir: Path, tmp_path: Path
) -> None:
    show("restored", back_up(forker, state_dir, tmp_path, pages=1000))


# the file


async def save(frontier: Frontier, path: Path) -> int:
    file = FrontierFile(path, Head(frontier.namespace, "an id", frontier.now()))
    async for entry in entries_of(frontier):
        file.add(entry)
    return file.finish()


async def in_all_states(frontier: Frontier) -> None:
    """A: queued in list 2, visited; B: leased; C: retired; D: queued, its host held."""
    await discover(frontier, A, B, C, D)
    for lease in await take(frontier):
        if lease.record.url in (A, D):
            await finish(frontier, lease, delay=1000.0, list=2, document="20261118T063249Z-a1b2")
        elif lease.record.url == C:
            await finish(frontier, lease, delay=None)
    await frontier.block_host("d.test", 5000, "Retry-After")


@in_loop
async def test_a_frontier_comes_back_in_all_its_states(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "frontier.msgpack"
    async with bench.open(partitions=3) as frontier:
        await in_all_states(frontier)
        assert await save(frontier, path) == 5
        before = {url: await known(frontier, url) for url in (A, B, C, D)}
    bench.wipe()
    async with bench.open(partitions=7) as frontier:
        assert read_head(path).namespace == frontier.namespace
        assert await restore_entries(frontier, path) == 4
        after = {url: await known(frontier, url) for url in (A, B, C, D)}
        for url in (A, C, D):
            assert after[url] == before[url]
        assert after[B].state == "queued"  # whoever had it is gone
        held = {host.name: host async for host in operations.hosts(frontier)}["d.test"]
        assert (held.reason, held.next_allowed) == (
            "Retry-After",
            pytest.approx(frontier.now() + 5000, abs=30),
        )
        assert [lease.record.url for lease in await take(frontier)] == [B]
        assert await restore_entries(frontier, path) == 0


@in_loop
async def test_a_back_up_of_the_first_schema_is_read_for_ever(bench: Bench) -> None:
    """Written by the first release that had back-ups. Never change the file: change the reader."""
    async with bench.open() as frontier:
        assert read_head(GOLDEN) == Head("test/spider", "an id", pytest.approx(1.79e9, rel=0.01))
        assert await restore_entries(frontier, GOLDEN) == 4
        a, c = await known(frontier, A), await known(frontier, C)
        assert (a.state, a.record.visits, a.record.list) == ("queued", 1, 2)
        assert a.record.document == "20261118T063249Z-a1b2"
        assert c.state == "retired"


@in_loop
async def test_a_back_up_has_the_links_of_every_page_that_it_takes_for_visited(bench: Bench) -> None:
    """The reader has passed the place of a link when it becomes known, and has not come to its page yet."""
    async with bench.open(partitions=2) as frontier:
        first, second = sorted((A, B, C, D), key=lambda url: frontier.place(url).host.partition)[::3]
        await discover(frontier, first, second)
        reading = entries_of(frontier)
        entries = [await anext(reading)]  # of the first partition: links there are read no more
        leases = {lease.record.url: lease for lease in await take(frontier)}
        await discover(frontier, f"{first}link", f"{first}visited")
        assert await finish(frontier, leases[second])
        [*_, link] = await take(frontier)
        assert link.record.url.startswith(first)
        assert await finish(frontier, link)
        entries += [entry async for entry in reading]
    found = {unpack(entry.packed).url: entry for entry in entries if isinstance(entry, Adopted)}
    assert found.keys() == {first, second, f"{first}link", f"{first}visited"}
    assert len(entries) == len(found)
    # Links of one that was visited meanwhile may be missing: it is visited as if for the first time.
    assert found[link.record.url].due <= frontier.now() * 1000 < found[second].due
    assert unpack(found[link.record.url].packed).visits == 0


@in_loop
async def test_a_back_up_has_pages_at_the_level_that_they_were_raised_to_meanwhile(bench: Bench) -> None:
    async with bench.open(partitions=2) as frontier:
        first, second = sorted((A, B, C, D), key=lambda url: frontier.place(url).host.partition)[::3]
        await discover(frontier, first)
        await discover(frontier, second, level=5)
        leases = {lease.record.url: lease for lease in await take(frontier)}
        assert await finish(frontier, leases[first])
        reading = entries_of(frontier)
        entries = [await anext(reading)]
        await discover(frontier, first, level=4)
        assert await finish(frontier, leases[second])
        entries += [entry async for entry in reading]
        bench.wipe()
    pages = [entry for entry in entries if isinstance(entry, Adopted)]
    async with bench.open(partitions=2) as frontier:
        assert await adopt(frontier, pages) == 2
        assert await adopt(frontier, pages) == 0
        await frontier.begin()
        [lease] = await take(frontier)
        assert (lease.record.url, lease.record.level, lease.record.visits) == (first, 4, 1)


def test_a_file_that_is_no_whole_back_up_is_refused(tmp_path: Path) -> None:
    whole = GOLDEN.read_bytes()
    path = tmp_path / "frontier.msgpack"
    with pytest.raises(BackupError, match="cannot be read"):
        read_head(path)
    for content, why in [
        (b"", "no back-up"),
        (b"\xc1", "damaged"),
        (msgpack.packb({"some": "thing"}), "no back-up"),
        (whole[:-1], "not whole"),
        (whole[: len(whole) // 2], "not whole"),
        (msgpack.packb([frontier_file.KIND, frontier_file.SCHEMA + 1, "", "", 0.0]), "newer"),
    ]:
        path.write_bytes(content)
        with pytest.raises(BackupError, match=why):
            read_head(path)


# schemas


@in_loop
async def test_a_frontier_of_a_newer_schema_is_refused(bench: Bench) -> None:
    client = bench.client()
    await client.hset(keys.SERVER, mapping={"schema": SCHEMA + 1, "partitions": 4})
    with pytest.raises(ServerError, match="newer"):
        async with bench.open():
            pass
    await client.aclose()


@in_loop
async def test_records_of_an_older_incrawl_are_leased_amended_and_completed(bench: Bench) -> None:
    async with bench.open() as frontier:
        older = b"\x02\x00" + msgpack.packb([1, A, None, None, None, b"", 0])  # zeros that are left out today
        await frontier.discover([Find(A, frontier.place(A), older)])
        record = (await known(frontier, A)).record
        assert record == UrlRecord(A, 2)
        assert await operations.amend(frontier, record, rank=1.5)
        [lease] = await take(frontier)
        assert lease.record.rank == 1.5
        assert await finish(frontier, lease)


# what must not go wrong unnoticed


def test_two_back_ups_into_one_directory_take_turns(forker: Forker, state_dir: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    with site_of(tree(60)) as site, Swarm(forker, crawl_in(state_dir, 10), f"{site.url('/')} 9") as swarm:
        swarm.start().wait(LONG)
        both = [swarm.command("backup", "--json", str(backup)) for _ in range(2)]
        for command in both:
            command.wait(LONG)
        files = sorted(json.loads(command.log.splitlines()[-1])["files"] for command in both)
        assert files[0] == 0 < files[1]
        saved, repository = Repository(backup / "repository"), swarm.crawl.repository()
        versions = [(change.url, change.run) for change in repository.changes()]
        assert len(versions) == len(site.pages)
        for version in versions:
            assert saved.document(*version) == repository.document(*version) is not None


def test_a_back_up_is_not_written_into_what_it_saves(forker: Forker, state_dir: Path) -> None:
    with site_of(tree(2)) as site, Swarm(forker, crawl_in(state_dir, 10), f"{site.url('/')} 9") as swarm:
        swarm.start().wait(LONG)
        for inside in (state_dir, state_dir / "repository", state_dir / "repository" / "backup"):
            assert "name another directory" in swarm.ask("backup", str(inside))
        assert not (state_dir / "repository" / "backup").exists()


def test_a_lost_frontier_is_not_begun_anew_unnoticed(forker: Forker, state_dir: Path) -> None:
    with site_of(tree(5)) as site, Swarm(forker, crawl_in(state_dir, 10), f"{site.url('/')} 9") as swarm:
        swarm.start().wait(LONG)
        lose_frontier(state_dir)
        refused = swarm.start()
        refused.wait(LONG)
        assert swarm.code(refused) == 2
        assert "`scrapy rebuild` or `scrapy restore` brings it back" in refused.log
        assert len(site.fetches) == len(site.pages)
        swarm.ask("rebuild")
        again = swarm.start()
        again.wait(LONG)
        assert swarm.code(again) == 0
        assert len(site.fetches) == len(site.pages)


@in_loop
async def test_a_rebuild_publishes_no_version_that_was_never_acknowledged(
    bench: Bench, tmp_path: Path
) -> None:
    async with bench.open() as frontier:
        await discover(frontier, A)
        dead = Repository(tmp_path, frontier.namespace)
        dead.stage(Sidecar(url=A, time=1e9, outcome=Outcome.NEW, length=6), b"a page")
        del dead  # its process is gone
        repository = Repository(tmp_path, frontier.namespace)
        config = Config()
        replay = Replay(repository, policy_from(config), Limits.from_config(config))
        assert await rebuild_frontier(frontier, repository, replay) == Rebuilt(pages=0, links=0)
        assert list(repository.changes()) == []

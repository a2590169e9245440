"""The whole crawl on a hostile web: two workers, every bad page at once, and good ones in between."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise

import pytest
from crawls import Crawl, Done, Process, short_dir
from hostile import PAGES, HostileServer, bomb, cut_off, fixed, redirect

from incrawl.core.records import Outcome
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier

INTERVAL = 0.2  # seconds
GOOD = [f"/good/{number}" for number in range(40)]
ODD = ["/nested-tags", "/contradictory", "/html-without-type", "/charset/codec", "/charset/undefined",
       "/refresh-to-nowhere", "/base-is-nowhere"]  # fmt: skip  # strange, but content
BAD = sorted({*PAGES} - {*ODD, "/good", "/robots.txt"})
TURNING = {"/turns/bomb": bomb("gzip"), "/turns/cut-off": cut_off, "/turns/picture": PAGES["/png-as-html"]}


@dataclass
class Told:
    server: HostileServer
    inner: HostileServer  # on an address that may not be contacted
    crawl: Crawl
    first: list[Done]
    second: Done


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        state_dir = stack.enter_context(short_dir())
        server = stack.enter_context(HostileServer())
        inner = stack.enter_context(HostileServer(address="127.0.0.2", port=server.port))
        names = {"flip.test": ["127.0.0.1", "127.0.0.2"], "inner.test": ["127.0.0.2"]}
        patch.setenv("PROBE_NAMES", json.dumps(names))
        patch.setenv("PROBE_DNS_LIFETIME", "0")
        patch.setenv("http_proxy", inner.url("/"))
        server.pages |= {
            "/front": fixed(
                "".join(f"<a href='{path}'>x</a>" for path in [*BAD, *ODD, *GOOD, *TURNING, "/to-inner"])
            ),
            "/to-inner": redirect(inner.url("/good/inner")),
            **{path: fixed(f"<p>At first a good page: {path}</p>") for path in TURNING},
        }
        crawl = Crawl(
            state_dir,
            fresh=True,  # the environment counts
            INCRAWL_ALLOW_NETWORKS="127.0.0.1",
            INCRAWL_HOST_INTERVAL=f"{INTERVAL}s",
            INCRAWL_PAGE_TIME="2s",
            INCRAWL_LEASE_TIME="10s",
            INCRAWL_MAX_WAIT="5s",
            TWISTED_DNS_RESOLVER="probe_resolver.TableResolver",
        )
        seeds = [server.url("/front"), server.url("/good/flip", "flip.test"), inner.url("/good/seed")]
        seeds += [inner.url("/good/named", "inner.test"), server.url("/good/flip2", "flip.test")]
        with crawl.start(urls=",".join(seeds)) as one, crawl.start() as other:
            first = [ended(one), ended(other)]
        server.pages |= TURNING
        crawl.ask(lambda frontier: make_due(frontier, [server.url(path) for path in TURNING]))
        yield Told(server, inner, crawl, first, crawl.run())


async def make_due(frontier: Frontier, urls: list[str]) -> None:
    for url in urls:
        await operations.reschedule(frontier, url, 0.0)


def ended(process: Process) -> Done:
    return process.wait(300)


def total(told: Told, name: str) -> int:
    return sum(int(done.stats.get(f"incrawl/{name}", 0)) for done in told.first)


def test_all_good_pages_are_there(told: Told) -> None:
    for done in told.first:
        assert done.code == 0, done.log
        assert "Traceback" not in done.log
    for path, known in zip(
        [*GOOD, *ODD], told.crawl.known(*map(told.server.url, [*GOOD, *ODD])), strict=True
    ):
        assert known is not None and known.record.document is not None, path
    counts = told.crawl.counts()
    assert (counts.leased, counts.suspects, counts.quarantined) == (0, 0, 0)


def test_nothing_is_left_of_the_bad_ones(told: Told) -> None:
    for path, known in zip(BAD, told.crawl.known(*map(told.server.url, BAD)), strict=True):
        assert known is None or known.record.document is None, path
    for name in ("limits/body", "limits/headers", "limits/chunks", "limits/encodings", "limits/page_time",
                 "content/type", "content/bytes", "content/charset", "content/refresh",
                 "address/private", "address/credentials"):  # fmt: skip
        assert total(told, name) > 0, name


def test_a_worker_needs_little_memory(told: Told) -> None:
    for done in told.first:
        assert 20 * 2**20 < done.stats["peak_memory"] < 384 * 2**20


def test_nothing_private_is_contacted(told: Told) -> None:
    assert told.inner.connections == 0


def test_the_host_is_asked_at_its_pace(told: Told) -> None:
    times: dict[str, list[float]] = defaultdict(list)
    for seen in told.server.log:
        times[seen.host].append(seen.time)
    gaps = [after - before for each in times.values() for before, after in pairwise(each)]
    assert len(gaps) > 60
    assert min(gaps) >= INTERVAL


def test_what_is_cut_never_replaces_a_good_document(told: Told) -> None:
    repository = told.crawl.repository()
    assert told.second.code == 0, told.second.log
    for path in TURNING:
        url = told.server.url(path)
        record = told.crawl.one(url).record
        assert (
            repository.document(url, record.document or "") == f"<p>At first a good page: {path}</p>".encode()
        )
        latest = next(iter(repository.history(url, record.document)))
        assert latest.outcome in {Outcome.REFUSED, Outcome.FAILED}, path
        assert record.visits == 2

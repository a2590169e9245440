"""Conditional requests in a continuous crawl: what they save, and how lying servers are found out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from crawls import Crawl, Done, short_dir, until
from hostile import Exchange, HostileServer, redirect

from incrawl.core.records import Outcome
from incrawl.core.validators import Trust

VISITS = 24  # two full fetches among them, and time to draw conclusions
DATE = "Wed, 18 Nov 2026 00:00:00 GMT"


async def honest(exchange: Exchange) -> None:
    headers = exchange.seen.headers
    if headers.get("if-none-match") == '"1"' or headers.get("if-modified-since") == DATE:
        await exchange.reply(b"", "304 Not Modified")
    else:
        await exchange.reply("<p>never changes</p>", ETag='"1"', Last_Modified=DATE)


async def landing(exchange: Exchange) -> None:
    await exchange.reply("<p>where the redirect leads</p>", ETag='"1"', Last_Modified=DATE)


class Liar:
    """Says 304 to every condition, though its page is another one each time."""

    def __init__(self) -> None:
        self.version = 0

    async def __call__(self, exchange: Exchange) -> None:
        self.version += 1
        if "if-none-match" in exchange.seen.headers:
            await exchange.reply(b"", "304 Not Modified")
        else:
            await exchange.reply(f"<p>{'version ' * self.version}</p>", ETag='"same"')


async def restless(exchange: Exchange) -> None:
    """Another ETag each time, for the same page."""
    await exchange.reply("<p>never changes</p>", ETag=f'"{exchange.seen.time}"')


async def forward(exchange: Exchange) -> None:
    """Says "not modified" where it was not asked."""
    await exchange.reply(b"", "304 Not Modified")


async def part(exchange: Exchange) -> None:
    """Half a page, where the whole was asked for."""
    await exchange.reply("<p>the first half", "206 Partial Content", Content_Range="bytes 0-16/34")


@dataclass
class Told:
    honest: HostileServer
    liar: HostileServer
    restless: HostileServer
    crawl: Crawl
    done: Done


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    pages = {
        "/": honest,
        "/jump": redirect("/landing"),
        "/landing": landing,
        "/forward": forward,
        "/part": part,
    }
    with (
        short_dir() as state_dir,
        HostileServer(pages) as good,
        HostileServer({"/": Liar()}) as liar,
        HostileServer({"/": restless}) as other,
    ):
        crawl = Crawl(
            state_dir,
            INCRAWL_CONTINUOUS="1",
            INCRAWL_AVERAGE_REFRESH_TIME="0.05s",
            INCRAWL_MIN_REFRESH_TIME="0.05s",
            INCRAWL_MAX_REFRESH_TIME="0.1s",
        )
        urls = [
            good.url("/"),
            good.url("/jump"),
            good.url("/forward"),
            good.url("/part"),
            liar.url("/"),
            other.url("/"),
        ]
        with crawl.start(urls=",".join(f"{url} level=0" for url in urls)) as process:
            until(
                lambda: (
                    all(server.paths().count("/") >= VISITS for server in (good, liar, other))
                    or not process.running
                )
            )
            process.signal(signal.SIGTERM)
            yield Told(good, liar, other, crawl, process.wait())


async def linking(exchange: Exchange) -> None:
    if "if-none-match" in exchange.seen.headers:
        await exchange.reply(b"", "304 Not Modified")
    else:
        await exchange.reply("<a href=/landing>below</a>", ETag='"1"')


def test_a_page_that_is_closer_to_a_seed_now_is_asked_for_whole(state_dir: Path) -> None:
    """Its links are to be followed further, whether it has changed or not."""
    with HostileServer({"/": linking, "/landing": landing}) as server:
        crawl = Crawl(state_dir)
        crawl.run(urls=f"{server.url('/')} level=0")
        assert server.paths().count("/landing") == 0
        done = crawl.run(urls=f"{server.url('/')} level=1")
        assert done.visits() == {"unchanged": 1, "new": 1}
        assert conditions(server) == [False, False]


def conditions(server: HostileServer, path: str = "/") -> list[bool]:
    """For each request of a page, whether it was conditional."""
    return [
        bool({"if-none-match", "if-modified-since"} & seen.headers.keys())
        for seen in server.log
        if seen.path == path
    ]


def trust(told: Told, server: HostileServer) -> Trust:
    found: bytes | None = told.crawl.ask(
        lambda frontier: frontier.cache_get(f"127.0.0.1:{server.port}", "validators")
    )
    return Trust.unpack(found)


def test_the_crawl_ended_well(told: Told) -> None:
    assert told.done.code == 0, told.done.log
    assert "Traceback" not in told.done.log


def test_an_honest_server_is_asked_conditionally_but_for_every_tenth_visit(told: Told) -> None:
    assert conditions(told.honest)[:20] == [False, *[True] * 8, False, *[True] * 9, False]
    assert told.done.stats["incrawl/conditional/not_modified"] >= 17
    record = told.crawl.one(told.honest.url("/")).record
    assert (record.changes, record.change_probability()) == (0, 0.0)
    history = list(told.crawl.repository().history(record.url, record.document))
    assert {entry.outcome for entry in history} == {Outcome.NEW, Outcome.NOT_MODIFIED, Outcome.UNCHANGED}


def test_where_a_redirect_leads_is_never_asked_conditionally(told: Told) -> None:
    assert len(conditions(told.honest, "/landing")) > 5
    assert not any(conditions(told.honest, "/landing"))


@pytest.mark.parametrize("path", ["/forward", "/part"])
def test_a_304_or_206_that_was_not_asked_for_is_a_failure(told: Told, path: str) -> None:
    record = told.crawl.one(told.honest.url(path)).record
    assert record.document is None and record.failures > 0


def test_a_server_that_says_304_though_changed_is_found_out(told: Told) -> None:
    sent = conditions(told.liar)
    assert sent[:10] == [False, *[True] * 8, False]
    assert not any(sent[10:]), sent
    assert not trust(told, told.liar).honest
    assert told.done.stats["incrawl/conditional/liars"] == 1
    assert told.crawl.one(told.liar.url("/")).record.changes > 10


def test_etags_that_always_change_are_given_up(told: Told) -> None:
    sent = conditions(told.restless)
    assert sent[:6] == [False, *[True] * 5]
    assert not any(sent[6:]), sent
    assert trust(told, told.restless) == Trust(etag=False, useless=5)
    assert told.crawl.one(told.restless.url("/")).record.changes == 0

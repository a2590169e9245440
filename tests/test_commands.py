"""The operators' commands, on a real frontier and a real repository."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typed import Typed, typed

from incrawl.cli.namespaces import choose_namespace
from incrawl.core.records import Observation, Outcome, UrlRecord
from incrawl.errors import ConfigError
from incrawl.frontier import operations
from incrawl.frontier.connection import connect_embedded
from incrawl.frontier.frontier import Frontier
from incrawl.repository import Repository, Sidecar, VisitEntry, place_of

NAMESPACE = "shop/incremental"
SITE = "example.com"
PAGE = "https://example.com/news"
OTHER = "https://example.com/about"
ELSEWHERE = "http://localhost:8000/"
EVIL = "https://example.com/\x1b[31m\u202e[red]"


@dataclass
class Crawl:
    """A crawl's state as a command finds it."""

    state_dir: Path

    @property
    def repository(self) -> Repository:
        return Repository(self.state_dir / "repository", NAMESPACE)

    def frontier(self, work: Callable[[Frontier], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            client = await connect_embedded(self.state_dir)
            frontier = await Frontier.open(client, NAMESPACE, gap=0, lease_time=0.001)
            await frontier.bind_repository(self.repository.identity)
            try:
                return await work(frontier)
            finally:
                await frontier.close()

        return asyncio.run(run())

    def know(self, *records: UrlRecord) -> None:
        async def discover(frontier: Frontier) -> None:
            await frontier.discover(frontier.find(record) for record in records)

        self.frontier(discover)

    def look(self, url: str) -> operations.Known | None:
        known: operations.Known | None = self.frontier(lambda frontier: operations.look(frontier, url))
        return known

    def type(self, *words: str, project: str = "shop") -> Typed:
        return typed(*words, project=project, INCRAWL_STATE_DIR=self.state_dir)

    def json(self, *words: str) -> Any:
        return self.type(*words, "--json").json()


@pytest.fixture
def crawl(server: str, state_dir: Path) -> Crawl:
    return Crawl(state_dir)


def stored(crawl: Crawl, url: str = PAGE, **facts: Any) -> str:
    sidecar = Sidecar(**{"url": url, "time": 1e9, "outcome": Outcome.NEW, **facts})
    repository = crawl.repository
    staged = repository.stage(sidecar, b"<title>News</title>")
    repository.promote(staged)
    return staged.run


def test_status_counts(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE), UrlRecord(OTHER), UrlRecord(ELSEWHERE))
    crawl.frontier(lambda frontier: operations.reschedule(frontier, OTHER, 3600.0))
    status = crawl.json("status")
    assert (status["known"], status["due"], status["leased"], status["quarantined"]) == (3, 2, 0, 0)
    assert (status["hosts"], status["policy"], status["namespace"]) == (2, "self_adjusting", NAMESPACE)
    assert str(crawl.state_dir) in status["server"]
    assert status["next_due"] <= status["now"] + 1
    code, out, _ = crawl.type("status")
    assert code == 0
    assert "localhost:8000" in out


def test_status_of_nothing(crawl: Crawl) -> None:
    status = crawl.json("status")
    assert (status["known"], status["due"], status["hosts"], status["next_due"]) == (0, 0, 0, None)


def test_status_shows_what_is_held(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE))
    crawl.frontier(lambda frontier: frontier.block_host(SITE, 60, "429 Too Many \x1b[2J"))
    assert [host["name"] for host in crawl.json("status")["held"]] == [SITE]
    assert "\x1b" not in crawl.type("status")[1]


RECORD_KEYS = {
    "doc_id", "url", "refresh_time", "last_crawl_time", "status", "pl", "pg", "document", "fingerprint_key",
    "size", "type", "level", "ip", "visits", "changes", "pc", "category", "next_due", "history",
}  # fmt: skip


def test_record_has_every_field(crawl: Crawl) -> None:
    run = stored(crawl, title="News", ip="192.0.2.1", links=(OTHER,))
    crawl.repository.note_visit(PAGE, run, VisitEntry(1e9 + 60, Outcome.UNCHANGED, 200))
    history = (Observation(60, False), Observation(60, True))
    crawl.know(
        UrlRecord(
            PAGE,
            level=2,
            refresh_time=120.0,
            last_crawl=1e9 + 60,
            document=run,
            fingerprint=b"\xab",
            size=19,
            type="text/html",
            visits=3,
            changes=1,
            history=history,
        )
    )
    record = crawl.json("record", PAGE)
    assert set(record) >= RECORD_KEYS
    assert record["doc_id"] == place_of(PAGE).doc_id
    assert (record["status"], record["state"], record["level"]) == (0, "queued", 2)
    assert (record["refresh_time"], record["last_crawl_time"]) == (120.0, 1e9 + 60)
    assert (record["pl"], record["pg"], record["pc"], record["category"]) == (0.3, 0.7, 0.5, "regular")
    assert (record["fingerprint_key"], record["size"], record["type"]) == ("ab", 19, "text/html")
    assert (record["visits"], record["changes"], record["ip"]) == (3, 1, "192.0.2.1")
    assert record["next_due"] is not None
    assert Path(record["document"]).read_bytes() == b"<title>News</title>"
    assert [visit["outcome"] for visit in record["history"]] == ["unchanged", "new"]
    assert len(crawl.json("record", PAGE, "--visits", "1")["history"]) == 1
    code, out, _ = crawl.type("record", PAGE)
    assert code == 0
    assert "unchanged" in out


def test_record_of_a_page_not_yet_visited(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE))
    record = crawl.json("record", "HTTPS://EXAMPLE.com/news#top")
    assert (record["url"], record["document"], record["history"]) == (PAGE, None, [])
    assert (record["refresh_time"], record["pc"], record["category"]) == (86400.0, None, "unknown")


def test_record_shows_a_page_that_a_worker_has(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE))

    async def lease(frontier: Frontier) -> None:
        frontier.lease_time = 60
        await frontier.begin()
        for partition in range(frontier.partitions):
            await frontier.lease(partition, 1)

    crawl.frontier(lease)
    record = crawl.json("record", PAGE)
    assert (record["status"], record["state"], record["next_due"]) == (1, "leased", None)
    assert crawl.json("recrawl", PAGE)["being_visited"] == 1


def test_hostile_text_does_not_reach_the_terminal(crawl: Crawl) -> None:
    run = stored(crawl, EVIL, title="\x1b]0;owned\x07[bold]x", etag="\x9b31m")
    crawl.know(UrlRecord(EVIL, document=run))
    for words in (["record", EVIL], ["changes", "--new"], ["due"]):
        _, out, _ = crawl.type(*words)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(out)
        assert "[" in out  # markup is shown, not obeyed
    code, _, err = crawl.type("record", "https://example.com/\x1b[31m")
    assert code == 1
    assert "\x1b" not in err


def test_changes_come_newest_first_and_are_selected(crawl: Crawl) -> None:
    stored(crawl, time=1e9 - 1)
    for number, (kinds, size) in enumerate(
        [(("content",), "minor"), (("structural", "content"), "major"), (("presentation",), "minor")]
    ):
        url = f"https://{'shop.' if number == 1 else ''}example.com/{number}"
        stored(crawl, url, time=1e9 + number, outcome=Outcome.CHANGED, kinds=kinds, size=size)

    def numbers(*words: str) -> list[str]:
        code, out, err = crawl.type("changes", "--json", *words)
        assert (code, err) == (0, "")
        lines = [json.loads(line) for line in out.splitlines()]
        assert all({"url", "time", "kinds", "size", "run", "previous"} <= set(line) for line in lines)
        return [line["url"].rpartition("/")[2] for line in lines]

    assert numbers() == ["2", "1", "0"]
    assert numbers("--new") == ["2", "1", "0", "news"]
    assert numbers("--limit", "2") == ["2", "1"]
    assert numbers("--kind", "content") == ["1", "0"]
    assert numbers("--size", "minor") == ["2", "0"]
    assert numbers("--site", "shop.example.com") == ["1"]
    assert numbers("--since", "2001-09-09T01:46:41") == ["2", "1"]
    assert numbers("--since", "2h") == []
    assert "Nothing has changed" in crawl.type("changes", "--since", "2h")[1]


def test_forget_a_page_and_a_site(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE), UrlRecord(OTHER), UrlRecord(PAGE + "/1"), UrlRecord(ELSEWHERE))
    assert crawl.json("forget", PAGE) == {"target": PAGE, "forgotten": 1}
    assert crawl.json("forget", SITE) == {"target": SITE, "forgotten": 2}
    assert crawl.look(OTHER) is None
    assert crawl.look(ELSEWHERE) is not None
    assert crawl.json("forget", "LOCALHOST:8000")["forgotten"] == 1


def test_recrawl_a_page_and_a_site(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE), UrlRecord(OTHER), UrlRecord(ELSEWHERE))
    for url in (PAGE, OTHER, ELSEWHERE):
        crawl.frontier(lambda frontier, url=url: operations.reschedule(frontier, url, 3600.0))
    assert crawl.json("due")["due"] == 0
    assert crawl.json("recrawl", PAGE)["due_now"] == 1
    assert [page["url"] for page in crawl.json("due")["urls"]] == [PAGE]
    assert crawl.json("recrawl", SITE)["due_now"] == 2
    assert crawl.json("due")["due"] == 2


def test_quarantined_pages_come_free(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE))

    async def die_of_it(frontier: Frontier) -> None:
        await frontier.begin()
        partition = frontier.place(PAGE).host.partition
        for _ in range(5):
            await frontier.lease(partition, 1)
            await frontier.lease(partition, 1, alone=True)
            await asyncio.sleep(0.005)

    crawl.frontier(die_of_it)
    status = crawl.json("status")
    assert (status["quarantined"], status["quarantined_pages"]) == (1, [PAGE])
    shown = crawl.type("status")[1]
    assert PAGE in shown
    assert "--quarantined" in shown
    assert crawl.json("recrawl", "--quarantined")["due_now"] == 1
    assert crawl.json("status")["quarantined"] == 0
    assert crawl.json("due")["due"] == 1
    assert crawl.type("recrawl", "--quarantined")[0] == 1


def test_hold_and_release(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE))
    held = crawl.json("hold", SITE, "--for", "2h")
    assert held["site"] == SITE
    assert crawl.json("hold")["held"][0]["reason"] == "held by an operator"
    assert SITE in crawl.type("hold")[1]
    assert crawl.json("hold", "--release", SITE) == {"site": SITE, "released": True}
    assert crawl.json("hold")["held"] == []
    assert crawl.json("hold", SITE)["until_released"] is True
    assert "when released" in crawl.type("hold")[1]


def test_due_lists_and_changes_nothing(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE), UrlRecord(OTHER), UrlRecord(ELSEWHERE))
    due = crawl.json("due", "--limit", "2")
    assert due["due"] == 3
    assert {host["name"]: host["due"] for host in due["hosts"]} == {SITE: 2, "localhost:8000": 1}
    assert len(due["urls"]) == 2
    assert crawl.json("due")["due"] == 3
    code, out, _ = crawl.type("due", "--limit", "1")
    assert code == 0
    assert "2 more" in out


@pytest.mark.parametrize(
    "words",
    [
        ["record", PAGE],
        ["forget", PAGE],
        ["forget", SITE],
        ["recrawl", PAGE],
        ["recrawl", SITE],
        ["recrawl", "--quarantined"],
        ["hold", "--release", SITE],
    ],
)
def test_what_is_not_known_is_a_sentence_and_status_1(crawl: Crawl, words: list[str]) -> None:
    code, out, err = crawl.type(*words)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["record"],
        ["record", "news"],
        ["record", PAGE, OTHER],
        ["record", "http://[::1"],
        ["record", PAGE, "--visits", "-1"],
        ["forget"],
        ["forget", "exa mple.com"],
        ["forget", "example.com/page"],
        ["recrawl"],
        ["recrawl", PAGE, "--quarantined"],
        ["hold", SITE, "--for", "soon"],
        ["hold", SITE, "--for", "0"],
        ["hold", SITE, "--for", "2h", "--release"],
        ["hold", "--for", "2h"],
        ["hold", PAGE],
        ["changes", "--kind", "big"],
        ["changes", "--size", "huge"],
        ["changes", "--since", "yesterday"],
        ["changes", "--site", "a b"],
        ["changes", "--limit", "-1"],
        ["due", "--limit", "0"],
        ["status", "--colour"],
        ["status", "more"],
        ["status", "-s", "INCRAWL_PL=2"],
        ["status", "-s", "INCRAWL_STATEDIR=x"],
        ["status", "-s", "REDIS_URL=redis://127.0.0.1:1"],
    ],
)
def test_a_mistake_is_a_sentence_and_status_2(crawl: Crawl, words: list[str]) -> None:
    code, out, err = crawl.type(*words)
    assert (code, out) == (2, "")
    assert err.startswith("incrawl: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("known", "project", "spider", "chosen"),
    [
        (set(), "shop", None, "shop/incremental"),
        (set(), "shop", "books", "shop/books"),
        ({"shop/incremental", "shop/books"}, "shop", None, "shop/incremental"),
        ({"shop/incremental", "shop/books"}, "shop", "books", "shop/books"),
        ({"shop/books", "news/a"}, "shop", None, "shop/books"),
        ({"shop/books", "news/a"}, "scrapybot", "a", "news/a"),
        ({"shop/books"}, "scrapybot", None, "shop/books"),
        ({"shop/books", "incrawl/incremental"}, "scrapybot", None, "incrawl/incremental"),
    ],
)
def test_the_namespace_that_is_meant(known: set[str], project: str, spider: str | None, chosen: str) -> None:
    assert choose_namespace(known, project, spider) == chosen


@pytest.mark.parametrize(
    ("known", "spider"), [({"shop/a", "shop/b"}, None), ({"x/a", "y/a"}, "a"), ({"shop/a"}, "typo")]
)
def test_an_unclear_namespace_is_asked_for(known: set[str], spider: str | None) -> None:
    with pytest.raises(ConfigError, match="--spider"):
        choose_namespace(known, "shop", spider)


def test_commands_work_outside_a_project(crawl: Crawl) -> None:
    crawl.know(UrlRecord(PAGE))
    assert '"known": 1' in crawl.type("status", "--json", project="scrapybot")[1]


def test_changes_needs_no_server_and_stops_with_its_reader(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository", NAMESPACE)
    padding = "x" * 2000  # all lines together are more than a pipe holds
    for number in range(60):
        url = f"{PAGE}/{number}?{padding}"
        sidecar = Sidecar(url=url, time=1e9 + number, outcome=Outcome.CHANGED, size="minor")
        repository.promote(repository.stage(sidecar, b""))
    done = subprocess.run(
        f"{sys.executable} -m scrapy changes --json --limit 0 -s INCRAWL_STATE_DIR={tmp_path} | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.stderr == ""
    assert json.loads(done.stdout)["url"] == f"{PAGE}/59?{padding}"
    assert [path.name for path in tmp_path.iterdir()] == ["repository"]

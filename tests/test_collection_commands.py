"""`scrapy rank` and `scrapy interest`, as typed, on a real frontier and a real repository."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from crawls import short_dir
from shelves import Shelf, page
from typed import Typed, typed

from incrawl.core.values import Rate
from incrawl.frontier import shared
from incrawl.frontier.frontier import Frontier

HUB = page(0)
LEAVES = [page(number) for number in range(1, 10)]
EVIL = "http://site1.test/\x1b[31m[red]"


@dataclass
class Terminal:
    shelf: Shelf

    def type(self, *words: str) -> Typed:
        return typed(
            *words,
            INCRAWL_STATE_DIR=self.shelf.state_dir,
            INCRAWL_REPOSITORY_DIR=self.shelf.repository.root,
            INCRAWL_NAMESPACE=self.shelf.namespace,
        )

    def json(self, *words: str) -> Any:
        return self.type(*words, "--json").json()


@pytest.fixture(scope="module")
def server_dir() -> Iterator[Path]:
    with short_dir() as path:
        yield path


@pytest.fixture
def terminal(server_dir: Path, request: pytest.FixtureRequest) -> Terminal:
    shelf = Shelf(server_dir, request.node.name)
    shelf.visit({HUB: LEAVES} | {url: [HUB] for url in LEAVES}, last_modified="Mon, 02 Nov 2026 00:00:00 GMT")
    return Terminal(shelf)


def test_rank_tells_all_and_writes_it(terminal: Terminal) -> None:
    report = terminal.json("rank", "--top", "3")
    assert (report["pages"], report["documents"], report["links"]) == (10, 10, 18)
    assert (report["best"], report["rest"], report["amended"], report["number"]) == (2, 8, 10, 1)
    first, *others = report["top"]
    assert (first["url"], first["rank"], first["last_rank"], first["last_score"]) == (HUB, 10.0, 0.0, 0.0)
    assert (first["forward"], first["back"], first["pvalue"], first["collection"]) == (9, 9, 0, "20%")
    assert first["score"] == pytest.approx(first["rank"] / first["age"])
    assert [other["rank"] for other in others] == [0.0, 0.0]
    assert [each["number"] for each in report["passes"]] == [1]
    assert terminal.shelf.records()[HUB].rank == 10.0
    again = terminal.json("rank", "--by", "score", "--passes", "1")
    assert (again["amended"], again["top"][0]["last_rank"], again["entry_score"]) == (0, 10.0, 0.0)
    assert [each["number"] for each in again["passes"]] == [2]
    assert again["top"][0]["last_score"] == pytest.approx(first["score"], rel=0.01)


def test_rank_shows_tables_in_which_a_page_cannot_speak_to_the_terminal(terminal: Terminal) -> None:
    terminal.shelf.visit({EVIL: [HUB]})
    code, out, _ = terminal.type("rank")
    assert code == 0
    assert "20 % collection" in out and "Passes" in out and HUB in out
    assert "\x1b" not in out


def test_rank_without_writing(terminal: Terminal) -> None:
    report = terminal.json("rank", "--dry-run")
    assert (report["number"], report["amended"], report["passes"]) == (1, 0, [])
    assert terminal.shelf.records()[HUB].rank is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("--by", "size"), "--by cannot be 'size'"), (("--top", "-1"), "--top"), (("what",), "arguments")],
)
def test_mistakes_are_told_in_one_sentence(terminal: Terminal, words: tuple[str, ...], sentence: str) -> None:
    code, _, err = terminal.type("rank", *words)
    assert code == 2
    assert sentence in err and err.count("\n") == 1


def test_interest_is_written_for_all_pages(terminal: Terminal, tmp_path: Path) -> None:
    log = tmp_path / "readers.csv"
    asked = [(LEAVES[0], user) for user in range(5)] + [(LEAVES[1], 1), (LEAVES[1], 1), (LEAVES[2], 1)]
    log.write_text("url,user,time\n" + "".join(f"{url},{user},100\n" for url, user in asked))
    report = terminal.json("interest", str(log))
    assert report["written"] == {"pages": 10, "asked_for": 3, "done": 10, "busy": 0}
    interest = {url: record.interest for url, record in terminal.shelf.records().items()}
    assert interest[LEAVES[0]] == 1.0
    assert interest[LEAVES[1]] == interest[LEAVES[2]] == pytest.approx(7 / 9, abs=1e-4)
    assert interest[HUB] == 0.0
    code, out, _ = terminal.type("interest", str(log))
    assert code == 0 and "10 pages, 3 of them with readers" in out
    assert terminal.json("rank", "--top", "1")["top"][0]["interest"] == 0.0


def test_interest_without_writing(terminal: Terminal, tmp_path: Path) -> None:
    log = tmp_path / "readers.csv"
    log.write_text(f"{HUB},ann,100\n")
    assert terminal.json("interest", "--dry-run", str(log))["written"] is None
    assert terminal.shelf.records()[HUB].interest is None


def test_status_tells_what_is_left_of_the_budget(terminal: Terminal) -> None:
    assert terminal.json("status")["budget"] is None

    async def spend(frontier: Frontier) -> None:
        await shared.spend(frontier, Rate(10, 3600), 3)

    terminal.shelf.ask(spend)
    status = terminal.json("status", "-s", "INCRAWL_BUDGET=10/h")
    assert status["budget"] == {"requests": 10, "within": 3600, "left": 7}
    assert "7 of 10 left (1h)" in terminal.type("status", "-s", "INCRAWL_BUDGET=10/h")[1]

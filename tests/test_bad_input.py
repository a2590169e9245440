"""A user's mistakes: each ends in one sentence and an exit code, before anything is written."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from crawls import ROOT, Crawl, Done, Process, short_dir
from scrapy.settings import Settings

from incrawl.errors import IncrawlError
from incrawl.preflight import check
from incrawl.spiders.incremental import IncrementalSpider

PROJECT = Path(__file__).parent / "example_project"


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


NOBODY = f"redis://:secret@127.0.0.1:{unused_port()}/0"

SETTINGS = [
    ({"INCRAWL_LEASE_TIME": "soon"}, "INCRAWL_LEASE_TIME cannot be 'soon'"),
    ({"INCRAWL_LEASE_TIMES": "60"}, "Did you mean INCRAWL_LEASE_TIME?"),
    ({"INCRAWL_PL": "0.8"}, "INCRAWL_PL (0.8) must be below INCRAWL_PG (0.7)"),
    ({"INCRAWL_REFRESH_POLICY": "psychic"}, "INCRAWL_REFRESH_POLICY cannot be 'psychic'"),
    ({"INCRAWL_FILTERS": "/no/such/file"}, "The filter file /no/such/file cannot be read"),
    ({"INCRAWL_STATE_DIR": "/proc/incrawl"}, "The state directory /proc/incrawl cannot be used"),
    ({"REDIS_URL": NOBODY}, "cannot be reached: Connection refused"),
    ({"REDIS_URL": "somewhere"}, "REDIS_URL is no Redis URL"),
    ({"INCRAWL_REPOSITORY_DIR": __file__}, "cannot be used (Not a directory)"),
    ({"INCRAWL_REPOSITORY_DIR": f"{__file__}/below"}, "cannot be used (Not a directory)"),
]
ARGUMENTS = [
    ({"seeds": "/no/such/file"}, "The seed file /no/such/file cannot be read: No such file"),
    ({"seeds": "~nobody-of-this-name/seeds"}, "cannot be read: Could not determine home directory"),
    ({"seeds": "a\0b"}, "cannot be read: embedded null byte"),
    ({"seeds": "/proc"}, "The seed file /proc cannot be read: Is a directory"),
    ({"seeds": "binary.txt"}, "it is not UTF-8 text"),
    (
        {"seeds": "bad.txt"},
        "bad.txt cannot be used: line 2: 'ftp://example.com/' is not an http or https URL",
    ),
    ({"seeds": "empty.txt"}, "it names no URL"),
    ({"urls": "http://127.0.0.1/,nonsense"}, "urls cannot be used: 'nonsense' is not an http or https URL"),
    ({"urls": "http://10.0.0.1/"}, "10.0.0.1 is no public address: INCRAWL_ALLOW_NETWORKS"),
    ({"seeds": ""}, "The argument seeds is empty"),
    ({"urls": " "}, "The argument urls is empty"),
    ({"seed": "seeds.txt"}, "takes the arguments seeds and urls, not seed"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "bad.txt").write_text("# my sites\nftp://example.com/\nhttp:///nowhere\n")
    (tmp_path / "empty.txt").write_text("# nothing yet\n\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(state_dir: Path, settings: dict[str, str], arguments: dict[str, str]) -> str:
    """The sentence that a crawl would end with."""
    project = Settings({"INCRAWL_STATE_DIR": str(state_dir)} | settings)
    with pytest.raises(IncrawlError) as error:
        check(project, IncrementalSpider, arguments)
    return str(error.value)


@pytest.mark.parametrize(("settings", "sentence"), SETTINGS)
def test_a_wrong_setting_is_named(tmp_path: Path, settings: dict[str, str], sentence: str) -> None:
    told = said(tmp_path / "state", settings, {})
    assert sentence in told
    assert "secret" not in told and "\n" not in told
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("arguments", "sentence"), ARGUMENTS)
def test_a_wrong_argument_is_named(folder: Path, arguments: dict[str, str], sentence: str) -> None:
    told = said(folder / "state", {}, arguments)
    assert sentence in told
    assert not (folder / "state").exists()


def test_a_worker_with_another_repository_is_refused(state_dir: Path, tmp_path: Path) -> None:
    check(Settings({"INCRAWL_STATE_DIR": str(state_dir)}), IncrementalSpider, {})
    told = said(state_dir, {"INCRAWL_REPOSITORY_DIR": str(tmp_path)}, {})
    assert "belongs to repository" in told and "INCRAWL_REPOSITORY_DIR" in told


@dataclass(frozen=True)
class Mistake:
    """A command line, and what the process has to say about it."""

    sentence: str
    settings: dict[str, str] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    spider: str = "incremental"
    project: Path = ROOT


MISTAKES = {
    "seeds": Mistake("The seed file /no/\ufffd[31m cannot be read", {}, {"seeds": "/no/\x1b[31m"}),
    "server": Mistake("cannot be reached: Connection refused", {"REDIS_URL": NOBODY}),
    "spider": Mistake("there is no spider 'incremantal'", spider="incremantal"),
    "add-on": Mistake("INCRAWL_PL (0.7) must be below", {"INCRAWL_PL": "0.7"}, {}, "books", PROJECT),
    "start": Mistake(
        "The spider's start() failed: RuntimeError: nobody has written this yet (unfinished.py, line 14).",
        spider="unfinished",
        project=PROJECT,
    ),
    "of Scrapy": Mistake("The run could not start: ValueError: ", {"CONCURRENT_REQUESTS": "some"}),
}


@pytest.fixture(scope="module")
def ended() -> Iterator[dict[str, tuple[Done, list[Path]]]]:
    """All of them at once: what each process said, and what it has written."""
    with ExitStack() as stack:
        states = {name: stack.enter_context(short_dir()) for name in MISTAKES}
        started = {name: stack.enter_context(start(MISTAKES[name], states[name])) for name in MISTAKES}
        done = {name: process.wait() for name, process in started.items()}
        yield {name: (done[name], written(states[name])) for name in MISTAKES}


def start(mistake: Mistake, state_dir: Path) -> Process:
    crawl = Crawl(state_dir, project=mistake.project, fresh=True, **mistake.settings)
    return crawl.start(mistake.spider, "-L", "WARNING", **mistake.arguments)


def written(state_dir: Path) -> list[Path]:
    return [path for path in state_dir.iterdir() if not path.name.startswith("process-")]


@pytest.mark.parametrize("name", ["seeds", "server", "spider", "add-on"])
def test_a_mistake_ends_the_command_with_a_sentence(
    name: str, ended: dict[str, tuple[Done, list[Path]]]
) -> None:
    done, files = ended[name]
    assert done.code == 2, done.log
    assert MISTAKES[name].sentence in done.log.splitlines()[-1]
    assert len(done.log.splitlines()) == 1 or name == "spider"  # there, Scrapy tells how it is used
    assert "Traceback" not in done.log
    assert done.out == ""
    assert files == []


@pytest.mark.parametrize("name", ["start", "of Scrapy"])
def test_what_only_the_run_finds_out_is_a_sentence_too(
    name: str, ended: dict[str, tuple[Done, list[Path]]]
) -> None:
    done, _ = ended[name]
    assert done.code == 1
    assert done.log.splitlines()[-1].startswith(f"incrawl: {MISTAKES[name].sentence}")
    assert "Traceback" not in done.log


def test_a_run_whose_start_failed_says_so_in_its_stats(ended: dict[str, tuple[Done, list[Path]]]) -> None:
    """After which Scrapy itself exits with 0."""
    assert ended["start"][0].stats["finish_reason"] == "start_error"

"""Whatever dies, and wherever: acknowledged versions stay, others vanish, no change is told twice."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from incrawl.core.records import Outcome
from incrawl.repository import Repository, RepositoryError, Sidecar, Staged

PAGE = "https://example.com/news"
START = 1_794_983_569.0

WORKER = """
import sys
from pathlib import Path
from incrawl.core.records import Outcome
from incrawl.repository import Repository, Sidecar

repository = Repository(Path(sys.argv[1]))
number = 0
while True:
    number += 1
    url = f"https://example.com/{sys.argv[2]}/{number}"
    staged = repository.stage(Sidecar(url=url, time=1e9 + number, outcome=Outcome.NEW), url.encode())
    if number % 3:
        print(url, staged.run, flush=True)  # this is the acknowledgement
        repository.promote(staged)
    elif number % 2:
        repository.discard(staged)
"""


def start_worker(root: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(root), name], stdout=subprocess.PIPE, text=True
    )


def killed_after(worker: subprocess.Popen[str], pages: int) -> dict[str, str]:
    """What the worker had acknowledged when it was killed."""
    assert worker.stdout is not None
    lines = [worker.stdout.readline() for _ in range(pages)]
    worker.kill()
    rest, _ = worker.communicate()
    whole = "".join(lines) + rest[: rest.rfind("\n") + 1]
    return dict(tuple(line.split(" ")) for line in whole.splitlines())  # type: ignore[misc]


def named_by(records: dict[str, str]) -> Callable[[str, str], Awaitable[bool]]:
    async def is_current(url: str, run: str) -> bool:
        return records.get(url) == run

    return is_current


def left_in_staging(root: Path) -> list[str]:
    return [path.name for path in root.glob("*/.staged/*")]


@pytest.mark.parametrize("pages", [1, 2, 5, 9, 17])
def test_killed_workers_lose_nothing_that_was_acknowledged(tmp_path: Path, pages: int) -> None:
    workers = [start_worker(tmp_path, name) for name in ("one", "two")]
    acknowledged = {url: run for worker in workers for url, run in killed_after(worker, pages).items()}
    repository = Repository(tmp_path)
    asyncio.run(repository.sweep(named_by(acknowledged)))

    assert left_in_staging(tmp_path) == []
    assert all(repository.document(url, run) == url.encode() for url, run in acknowledged.items())
    told = Counter((change.url, change.run) for change in repository.changes())
    assert told == Counter(acknowledged.items())
    assert len(list(tmp_path.rglob("*.htm"))) == len(acknowledged)


def test_a_sweeper_leaves_a_living_worker_alone(tmp_path: Path) -> None:
    living = Repository(tmp_path)
    staged = living.stage(Sidecar(url=PAGE, time=START, outcome=Outcome.NEW), b"one")
    assert asyncio.run(Repository(tmp_path).sweep(named_by({}))) == (0, 0)
    living.promote(staged)
    assert living.document(PAGE, staged.run) == b"one"


def test_a_sweeper_leaves_other_namespaces_alone(tmp_path: Path) -> None:
    """Its frontier does not know their pages, so it would take every one of them for an orphan."""
    staged = Repository(tmp_path, "shop/a").stage(Sidecar(url=PAGE, time=START, outcome=Outcome.NEW), b"one")
    run = staged.run
    del staged
    for other in ("news/b", ""):
        assert asyncio.run(Repository(tmp_path, other).sweep(named_by({}))) == (0, 0)
    assert asyncio.run(Repository(tmp_path, "shop/a").sweep(named_by({PAGE: run}))) == (1, 0)


def test_a_run_lives_as_long_as_one_of_its_versions_is_staged(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    staged = repository.stage(Sidecar(url=PAGE, time=START, outcome=Outcome.NEW), b"one")
    repository.stage(Sidecar(url=PAGE + "/2", time=START + 1e6, outcome=Outcome.NEW), b"two")
    assert asyncio.run(Repository(tmp_path).sweep(named_by({}))) == (0, 0)
    del staged
    assert asyncio.run(Repository(tmp_path).sweep(named_by({}))) == (0, 1)


class Died(BaseException):
    """Stands for the end of the process at this very call."""


def die_at(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Lets the next `calls` calls that change something on disk through, and no more."""
    left = iter(range(calls))

    def guarded(real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            if next(left, None) is None:
                raise Died
            return real(*args, **options)

        return call

    for name in ("rename", "write", "fsync", "mkdir"):
        monkeypatch.setattr(os, name, guarded(getattr(os, name)))


def promote_until_death(repository: Repository, staged: Staged, calls: int) -> bool:
    with pytest.MonkeyPatch.context() as monkeypatch:
        die_at(monkeypatch, calls)
        try:
            repository.promote(staged)
        except Died:
            return True
        return False


@pytest.mark.parametrize("again", ["owner", "reader", "sweeper"])
def test_promoting_goes_on_from_wherever_it_stopped(tmp_path: Path, again: str) -> None:
    deaths, calls = True, 0
    while deaths:
        root = tmp_path / str(calls)
        owner = Repository(root)
        staged = owner.stage(Sidecar(url=PAGE, time=START, outcome=Outcome.NEW), b"one")
        deaths = promote_until_death(owner, staged, calls)
        run, reader = staged.run, Repository(root)
        if again == "owner":
            owner.promote(staged)
        elif again == "sweeper":
            del staged, owner
            asyncio.run(reader.sweep(named_by({PAGE: run})))
        sidecar = reader.sidecar(PAGE, run)
        assert sidecar is not None
        assert reader.document(PAGE, run) == b"one"
        assert [change.url for change in reader.changes()] == [PAGE]
        calls += 1
    assert calls > 5


def test_a_torn_line_of_the_journal_is_told_again(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    staged = repository.stage(Sidecar(url=PAGE, time=START, outcome=Outcome.NEW), b"one")
    # mkdir for the host's folder and the rename of the document go through, then the journal's write.
    assert promote_until_death(repository, staged, 3)
    journal = tmp_path / staged.run / "changes.jsonl"
    journal.write_bytes(journal.read_bytes()[:-3])
    repository.promote(staged)
    assert [change.url for change in repository.changes()] == [PAGE]


NO_ROOM = """
import resource, sys
from pathlib import Path
from incrawl.core.records import Outcome
from incrawl.repository import Repository, RepositoryError, Sidecar

repository = Repository(Path(sys.argv[1]))
sidecar = Sidecar(url="https://a.example/", time=1e9, outcome=Outcome.NEW, signatures=bytes(int(sys.argv[3])))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    repository.stage(sidecar, bytes(int(sys.argv[2])))
except RepositoryError as error:
    sys.exit(str(error))
"""


@pytest.mark.parametrize(("document", "signatures"), [(100_000, 10), (10, 100_000)])
def test_a_version_that_does_not_fit_leaves_no_rest(tmp_path: Path, document: int, signatures: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NO_ROOM, str(tmp_path), str(document), str(signatures)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "cannot be used (File too large)" in done.stderr
    assert "Traceback" not in done.stderr
    assert left_in_staging(tmp_path) == ["alive"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_repository_is_told_in_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RepositoryError, match="Permission denied"):
        Repository(tmp_path).stage(Sidecar(url=PAGE, time=START, outcome=Outcome.NEW), b"one")

"""Whatever dies, and wherever: acknowledged versions stay, others vanish, no change is told twice."""

from __future__ import annotations

import asyncio
import os
import resource
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


def promote_until_death(repository: Repository, staged: list[Staged], calls: int) -> bool:
    with pytest.MonkeyPatch.context() as monkeypatch:
        die_at(monkeypatch, calls)
        try:
            repository.promote_all(staged)
        except Died:
            return True
        return False


PAGES = (PAGE, "https://example.com/old/news", "https://example.org/")


def versions_of(urls: tuple[str, ...]) -> list[tuple[Sidecar, bytes]]:
    return [(Sidecar(url=url, time=START, outcome=Outcome.NEW), url.encode()) for url in urls]


def staged_by(repository: Repository, urls: tuple[str, ...]) -> list[Staged]:
    staged = repository.stage_all(versions_of(urls))
    return [each for each in staged if isinstance(each, Staged)]


@pytest.mark.parametrize("again", ["owner", "reader", "sweeper"])
@pytest.mark.parametrize("urls", [PAGES[:1], PAGES], ids=["one", "together"])
def test_promoting_goes_on_from_wherever_it_stopped(
    tmp_path: Path, urls: tuple[str, ...], again: str
) -> None:
    deaths, calls = True, 0
    while deaths:
        root = tmp_path / str(calls)
        owner = Repository(root)
        staged = staged_by(owner, urls)
        deaths = promote_until_death(owner, staged, calls)
        run, reader = staged[0].run, Repository(root)
        if again == "owner":
            owner.promote_all(staged)
        elif again == "sweeper":
            del staged, owner
            asyncio.run(reader.sweep(named_by(dict.fromkeys(urls, run))))
        for url in urls:
            assert reader.sidecar(url, run) is not None
            assert reader.document(url, run) == url.encode()
        assert sorted(change.url for change in reader.changes()) == sorted(urls)
        calls += 1
    assert calls > 5


def test_a_torn_line_of_the_journal_is_told_again(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    staged = staged_by(repository, PAGES)
    # mkdir for three folders and the renames of the documents go through, then the journal's write.
    assert promote_until_death(repository, staged, 7)
    journal = tmp_path / staged[0].run / "changes.jsonl"
    journal.write_bytes(journal.read_bytes()[:-3])
    repository.promote_all(staged)
    assert sorted(change.url for change in repository.changes()) == sorted(PAGES)


def test_staging_many_together_leaves_nothing_where_it_dies(tmp_path: Path) -> None:
    deaths, calls = True, 0
    while deaths:
        repository = Repository(tmp_path / str(calls))
        with pytest.MonkeyPatch.context() as monkeypatch:
            die_at(monkeypatch, calls)
            try:
                repository.stage_all(versions_of(PAGES))
                deaths = False
            except Died:
                assert set(left_in_staging(tmp_path / str(calls))) <= {"alive"}
        calls += 1
    assert calls > 10


def test_no_sidecar_is_written_before_its_document_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever finds a sidecar after a power cut takes the version for whole."""
    repository = Repository(tmp_path)
    repository.stage(Sidecar(url="https://example.com/", time=START, outcome=Outcome.NEW), b"")
    sidecars: list[int] = []  # there are at each wait for the disk
    wait = os.fsync

    def fsync(file: int) -> None:
        sidecars.append(sum(name.endswith(".meta") for name in left_in_staging(tmp_path)))
        wait(file)

    monkeypatch.setattr(os, "fsync", fsync)
    repository.stage_all(versions_of(PAGES))
    assert sidecars == [1, 1, 1, 4, 4, 4, 4]  # documents, sidecars, folder


def test_a_version_that_cannot_be_staged_is_in_nobodys_way(tmp_path: Path) -> None:
    """One sidecar is longer than a file may be: the disk refuses it and no other."""
    repository = Repository(tmp_path)
    before = repository.stage(Sidecar(url="https://example.com/", time=START, outcome=Outcome.NEW), b"")
    too_long = Sidecar(url=PAGES[1], time=START, outcome=Outcome.NEW, signatures=bytes(5000))
    first, *_, last = versions_of(PAGES)
    size = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, size[1]))
    try:
        staged = repository.stage_all([first, (too_long, b""), last])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, size)
    assert [type(each) for each in staged] == [Staged, RepositoryError, Staged]
    good = [before, *(each for each in staged if isinstance(each, Staged))]
    assert repository.promote_all(good) == [None, None, None]
    assert {change.url for change in repository.changes()} == {each.url for each in good}


def test_two_versions_of_a_page_staged_together_are_in_two_runs(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    staged = staged_by(repository, (PAGE, PAGES[1], PAGE))
    assert len({each.run for each in staged if each.url == PAGE}) == 2
    repository.promote_all(staged)
    assert Counter(change.url for change in repository.changes()) == {PAGE: 2, PAGES[1]: 1}


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

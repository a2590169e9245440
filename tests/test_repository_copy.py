"""Copies of a repository in use, for back-ups and back: whole, told once, and no living run is touched."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from incrawl.core.records import Outcome
from incrawl.recovery.copying import copy_repository
from incrawl.repository import Repository, RepositoryError, Sidecar, Staged, staging
from incrawl.repository.folders import begin_new, finish_new

PAGE = "https://example.com/news"
OTHER = "https://example.com/old"
START = 1_794_983_569.0


def staged_in(repository: Repository, url: str = PAGE, body: bytes = b"one") -> Staged:
    return repository.stage(Sidecar(url=url, time=START, outcome=Outcome.NEW, length=len(body)), body)


def assert_whole(root: Path, staged: Staged, body: bytes = b"one") -> None:
    reader = Repository(root)
    assert reader.sidecar(staged.url, staged.run) == staged.sidecar
    assert reader.document(staged.url, staged.run) == body
    assert [change.url for change in reader.changes()].count(staged.url) == 1


async def is_wanted(url: str, run: str) -> bool:
    return True


@pytest.mark.parametrize("then", ["read", "sweep"])
def test_a_version_that_is_half_way_to_its_place_is_copied_whole(tmp_path: Path, then: str) -> None:
    source, copy = Repository(tmp_path / "source"), tmp_path / "copy"
    staged = staged_in(source)
    with pytest.MonkeyPatch.context() as monkeypatch:

        def die(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(staging, "append_line", die)
        with pytest.raises(KeyboardInterrupt):
            source.promote(staged)
    copy_repository(source.root, copy)
    if then == "sweep":
        asyncio.run(Repository(copy).sweep(is_wanted))
    assert_whole(copy, staged)


@pytest.mark.parametrize("missing", ["document", "nothing"])
def test_a_version_that_was_promoted_while_it_was_copied_is_whole_and_told_once(
    tmp_path: Path, missing: str
) -> None:
    """The staging folder was copied before, the journal after; of the rest all was seen or the sidecar."""
    source, copy = Repository(tmp_path / "source"), tmp_path / "copy"
    staged = staged_in(source)
    copy_repository(source.root, copy)
    source.promote(staged)
    place = copy / staged.run / "example.com"
    place.mkdir()
    for name in ("news.htm", "news.htm.meta"):
        shutil.copy(source.root / staged.run / "example.com" / name, place / name)
    if missing == "document":
        (place / "news.htm").unlink()
    copy_repository(source.root, copy)
    assert [path.name for path in (copy / staged.run / ".staged").iterdir()] == ["alive"]
    assert_whole(copy, staged)


def test_a_version_in_the_journal_whose_files_are_still_staged_is_told_once(tmp_path: Path) -> None:
    """A power cut or a copy may leave the journal ahead of the files."""
    source, copy = Repository(tmp_path / "source"), tmp_path / "copy"
    staged = staged_in(source)
    copy_repository(source.root, copy)
    source.promote(staged)
    shutil.copy(source.root / staged.run / "changes.jsonl", copy / staged.run)
    asyncio.run(Repository(copy).sweep(is_wanted))
    assert_whole(copy, staged)


def test_a_run_that_is_being_written_is_left_alone_by_a_copy_of_it(tmp_path: Path) -> None:
    living, backup = Repository(tmp_path / "living"), tmp_path / "backup"
    first = staged_in(living)
    copy_repository(living.root, backup)
    living.promote(first)
    # The next version is on its way: its document is there, its sidecar is not yet.
    run = living._run
    assert run is not None
    half = begin_new("0" * 24, b"two", run.staging)
    assert copy_repository(backup, living.root) == 0
    finish_new(half)
    assert (living.root / run.id / ".staged" / ("0" * 24)).read_bytes() == b"two"
    assert_whole(living.root, first)


def test_a_link_in_the_place_of_a_run_is_not_followed(tmp_path: Path) -> None:
    source, copy = Repository(tmp_path / "source"), tmp_path / "copy"
    source.promote(staged_in(source))
    private = tmp_path / "private"
    (private / "example.com").mkdir(parents=True)
    (private / "example.com" / "key").write_text("secret")
    (source.root / "20260101T000000Z-aaaa").symlink_to(private)
    copy_repository(source.root, copy)
    assert not list(copy.rglob("key"))


def test_a_repository_that_is_moved_away_is_missed_at_once(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    repository = Repository(root)
    assert repository.identity
    staged = staged_in(repository)
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(RepositoryError, match="No such file"):
        staged_in(repository, OTHER)
    with pytest.raises(RepositoryError, match="No such file"):
        repository.promote(staged)
    assert not root.exists()
    (tmp_path / "elsewhere").rename(root)
    repository.promote(staged)
    assert_whole(root, staged)
    repository.promote(staged_in(repository, OTHER))


def test_a_run_that_is_deleted_is_followed_by_another(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    assert repository.identity
    first = staged_in(repository)
    shutil.rmtree(repository.root / first.run)
    second = staged_in(repository)
    assert second.run != first.run
    repository.promote(second)
    assert_whole(repository.root, second)

"""Copies a repository that may be in use. What the copy has already is not copied again.

Files in a repository are written once or only grow: of two with one name the larger has all that the
other has. A version that is promoted meanwhile moves from the staging folder to its place: staging
folders are copied first, so that it is found in one of them. Documents are gone through again behind the
journal: what it tells of is there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from incrawl.repository import sameness, staging
from incrawl.repository.folders import folder, told
from incrawl.repository.identity import IDENTITY
from incrawl.repository.runs import STAGING, is_alive, lock_dead, run_ids

_DRAFT = ".copying"


def copy_repository(source: Path, target: Path) -> int:
    """Brings `target` up to date with `source`; returns how many files were copied."""
    with told(target):
        target.mkdir(parents=True, exist_ok=True)
        copied = int(_copy(source / IDENTITY, target / IDENTITY))
        for run in run_ids(source):
            if (source / run).is_symlink() or is_alive(target, run):
                continue  # nobody's run; or its process looks after it, and it has all that a copy can have
            for file in _files(source / run):
                copied += _copy(file, target / file.relative_to(source))
            _tidy(target, run)
        for file in _files_below(source / sameness.FOLDER):
            copied += _copy(file, target / file.relative_to(source))
        return copied


def _files(run: Path) -> Iterator[Path]:
    """Staged files, documents with their sidecars and visits, the run's own files, new documents."""
    may_grow = (run / STAGING).exists()
    yield from _files_below(run / STAGING)
    yield from _documents(run)
    yield from (entry for entry in run.iterdir() if entry.is_file() and not entry.is_symlink())
    if may_grow:
        yield from _documents(run)


def _documents(run: Path) -> Iterator[Path]:
    homes = sorted(entry for entry in run.iterdir() if entry.is_dir() and not entry.is_symlink())
    for home in homes:
        if home.name != STAGING:
            yield from _files_below(home)


def _files_below(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        return
    for place, folders, names in os.walk(folder):
        folders.sort()
        files = (Path(place, name) for name in sorted(names))
        yield from (file for file in files if not file.is_symlink())


def _copy(source: Path, target: Path) -> bool:
    """Whether the file was copied; one that is there, or that has gone meanwhile, is not."""
    try:
        if target.exists() and target.stat().st_size >= source.stat().st_size:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(_DRAFT)
        shutil.copy2(source, draft)
    except FileNotFoundError:
        return False
    draft.replace(target)
    return True


def _tidy(target: Path, run: str) -> None:
    """Settles staged copies of versions that have been promoted meanwhile, and copied in their place."""
    lock = lock_dead(target, run)
    if lock is None:
        return  # nothing is staged there
    try:
        with folder(target, [run]) as run_folder:
            for staged in list(staging.left_behind(target, run)):
                staging.settle_copy(run_folder, staged)
    finally:
        os.close(lock)

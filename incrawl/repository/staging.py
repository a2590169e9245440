"""How a version comes into being: staged, then promoted once the frontier has acknowledged it, or discarded.

A staged version is two files in the run's staging folder, named by Doc ID: the document first, then
its sidecar, which makes it whole. Promoting renames them in the same order. So at every moment a
version is found either under its final name or in the staging folder, whatever dies in between.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from incrawl.repository.folders import append_line, exists, folder, names, read, remove, write_new
from incrawl.repository.journal import has_line, journal_line, open_journal
from incrawl.repository.paths import SIDECAR_ENDING, Place, place_of
from incrawl.repository.runs import ALIVE, STAGING, Run
from incrawl.repository.sidecar import Sidecar


@dataclass(frozen=True, slots=True)
class Staged:
    """A version on disk that nobody sees yet. `run` is what the record's `document` becomes."""

    run: str
    sidecar: Sidecar
    keeper: Run | None = field(
        default=None, repr=False
    )  # keeps the run's lock; None for a version found on disk

    @property
    def url(self) -> str:
        return self.sidecar.url


def write(root: Path, run: Run, sidecar: Sidecar, body: bytes) -> Staged | None:
    """Puts a version on disk; None if the run has one of this page already. What fails leaves nothing."""
    place = place_of(sidecar.url)
    if has_version(root, run.id, place):
        return None
    with folder(root, [run.id, STAGING]) as staging, ExitStack() as undo:
        try:
            for name, data in ((place.doc_id, body), (place.doc_id + SIDECAR_ENDING, sidecar.pack())):
                write_new(name, data, staging)
                undo.callback(remove, name, staging)
            os.fsync(staging)
        except FileExistsError:
            return None
        undo.pop_all()
    return Staged(run.id, sidecar, run)


def has_version(root: Path, run: str, place: Place) -> bool:
    with suppress(FileNotFoundError), folder(root, [run, *place.folders]) as home:
        return exists(place.name, home)
    return False


def promote(root: Path, staged: Staged) -> None:
    """Gives a version its final name and its line in the journal, once, whoever else tries the same."""
    place = place_of(staged.url)
    run, gone = staged.run, suppress(FileNotFoundError)
    with gone, _locked_journal(root, run) as journal, folder(root, [run, STAGING]) as staging:
        if not exists(place.doc_id + SIDECAR_ENDING, staging):
            return
        with folder(root, [run, *place.folders], create=True) as home:
            _move_and_tell(staged, place, staging, home, journal)


@contextmanager
def _locked_journal(root: Path, run: str) -> Iterator[int]:
    with folder(root, [run]) as run_folder:
        journal = open_journal(run_folder)
    try:
        fcntl.flock(journal, fcntl.LOCK_EX)
        yield journal
    finally:
        os.close(journal)


def _move_and_tell(staged: Staged, place: Place, staging: int, home: int, journal: int) -> None:
    """Document, journal, sidecar. Only a version whose document has moved before can have its line."""
    moved = _rename(place.doc_id, staging, place.name, home)
    if moved or not has_line(place.doc_id, journal):
        append_line(journal_line(staged.sidecar, place.doc_id), journal)
        os.fsync(journal)
    _rename(place.doc_id + SIDECAR_ENDING, staging, place.name + SIDECAR_ENDING, home)


def _rename(name: str, staging: int, final: str, home: int) -> bool:
    try:
        os.rename(name, final, src_dir_fd=staging, dst_dir_fd=home)
    except FileNotFoundError:
        return False
    return True


def discard(root: Path, staged: Staged) -> None:
    """Removes a version that was not acknowledged."""
    with suppress(FileNotFoundError), folder(root, [staged.run, STAGING]) as staging:
        doc_id = place_of(staged.url).doc_id
        remove(doc_id + SIDECAR_ENDING, staging)
        remove(doc_id, staging)


def find(root: Path, run: str, place: Place) -> Staged | None:
    """The version of a page that waits in the staging folder of `run`."""
    with suppress(FileNotFoundError), folder(root, [run, STAGING]) as staging:
        sidecar = Sidecar.unpack(read(place.doc_id + SIDECAR_ENDING, staging))
        return None if sidecar is None else Staged(run, sidecar)
    return None


def left_behind(root: Path, run: str) -> Iterator[Staged]:
    """The whole versions in a dead run's staging folder; files that were never whole are removed."""
    with folder(root, [run, STAGING]) as staging:
        files = set(names(staging))
        sidecars = {name for name in files if name.endswith(SIDECAR_ENDING)}
        for name in sidecars:
            sidecar = Sidecar.unpack(read(name, staging))
            if sidecar is None:
                remove(name, staging)
            else:
                files.discard(name.removesuffix(SIDECAR_ENDING))
                yield Staged(run, sidecar)
        for name in files - sidecars - {ALIVE}:
            remove(name, staging)

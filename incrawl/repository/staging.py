"""How a version comes into being: staged, then promoted once the frontier has acknowledged it, or discarded.

A staged version is two files in the run's staging folder, named by Doc ID: the document first, then
its sidecar, which makes it whole. Promoting renames them in the same order. So at every moment a
version is found either under its final name or in the staging folder, whatever dies in between.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from incrawl.repository.folders import (
    append_line,
    begin_new,
    exists,
    finish_new,
    folder,
    folder_in,
    names,
    read,
    remove,
)
from incrawl.repository.journal import has_line, journal_line, open_journal
from incrawl.repository.paths import SIDECAR_ENDING, Place, place_of
from incrawl.repository.runs import ALIVE, STAGING, Run
from incrawl.repository.sidecar import Sidecar


@dataclass(frozen=True, slots=True)
class Staged:
    """A version on disk that nobody sees yet. `run` is what the record's `document` becomes."""

    run: str
    sidecar: Sidecar
    # Keeps the run's lock; None for a version found on disk.
    keeper: Run | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return self.sidecar.url


def write(run: Run, versions: Sequence[tuple[Sidecar, bytes]]) -> list[Staged | None]:
    """Puts versions on disk, with one wait for all documents and one for all sidecars; None for one whose
    page the run has already. What fails leaves nothing of any.
    """
    staged: list[Staged | None] = []
    with ExitStack() as undo:
        with ExitStack() as documents:
            for sidecar, body in versions:
                is_ours = _begin_document(place_of(sidecar.url), body, run, documents, undo)
                staged.append(Staged(run.id, sidecar, run) if is_ours else None)
        with ExitStack() as sidecars:
            for version in filter(None, staged):
                name = place_of(version.url).doc_id + SIDECAR_ENDING
                _begin(name, version.sidecar.pack(), run, sidecars, undo)
        os.fsync(run.staging)
        undo.pop_all()
    return staged


def _begin_document(place: Place, body: bytes, run: Run, files: ExitStack, undo: ExitStack) -> bool:
    """False if the run has a version of the page, at its place or on its way there."""
    if has_version(run.inside, place) or exists(place.doc_id + SIDECAR_ENDING, run.staging):
        return False
    try:
        _begin(place.doc_id, body, run, files, undo)
    except FileExistsError:
        return False
    return True


def _begin(name: str, data: bytes, run: Run, files: ExitStack, undo: ExitStack) -> None:
    """Writes a file; `files` waits for the disk, `undo` removes it."""
    file = begin_new(name, data, run.staging)
    undo.callback(remove, name, run.staging)
    files.callback(finish_new, file)


def has_version(run_folder: int, place: Place) -> bool:
    with suppress(FileNotFoundError), folder_in(run_folder, place.folders) as home:
        return exists(place.name, home)
    return False


def promote(root: Path, run: str, versions: Iterable[Staged]) -> None:
    """Gives versions of a run their final names and their lines in the journal, once, whoever else tries
    the same. What was interrupted can be done again."""
    places = {place_of(version.url): version for version in versions}
    with ExitStack() as stack:
        try:
            run_folder = stack.enter_context(folder(root, [run]))
            journal = stack.enter_context(_locked_journal(run_folder))
            staging = stack.enter_context(folder_in(run_folder, [STAGING]))
        except FileNotFoundError:
            if any(version.keeper is not None for version in places.values()):
                raise  # while its process lives, a run has its folders
            return
        homes = {
            folders: stack.enter_context(folder_in(run_folder, folders, create=True))
            for folders in {place.folders for place in places}
        }
        news = [
            (place, version)
            for place, version in places.items()
            if _is_news(place, version, staging, homes[place.folders], journal)
        ]
        if news:
            lines = (journal_line(version.sidecar, place.doc_id) for place, version in news)
            append_line(b"\n".join(lines), journal)
            os.fsync(journal)
        for place in places:
            _rename(place.doc_id + SIDECAR_ENDING, staging, place.name + SIDECAR_ENDING, homes[place.folders])


def _is_news(place: Place, version: Staged, staging: int, home: int, journal: int) -> bool:
    """Moves a document; whether the journal has to tell of it.

    It may have its line already if the document was moved before, or if this is a copy, or what a power cut
    has left, where the journal may be ahead of the document.
    """
    if _rename(place.doc_id, staging, place.name, home):
        return version.keeper is not None or not has_line(place.doc_id, journal)
    return exists(place.doc_id + SIDECAR_ENDING, staging) and not has_line(place.doc_id, journal)


def settle_copy(run_folder: int, staged: Staged) -> None:
    """Of a version that was promoted while it was copied, what is at its place is not kept as staged."""
    place = place_of(staged.url)
    sidecar, final = place.doc_id + SIDECAR_ENDING, place.name + SIDECAR_ENDING
    with suppress(FileNotFoundError), ExitStack() as stack:
        staging = stack.enter_context(folder_in(run_folder, [STAGING]))
        home = stack.enter_context(folder_in(run_folder, place.folders))
        if exists(place.name, home):
            remove(place.doc_id, staging)
        if exists(final, home):  # only then was the whole version at its place
            _rename(place.doc_id, staging, place.name, home)
            remove(sidecar, staging)


@contextmanager
def _locked_journal(run_folder: int) -> Iterator[int]:
    journal = open_journal(run_folder)
    try:
        fcntl.flock(journal, fcntl.LOCK_EX)
        yield journal
    finally:
        os.close(journal)


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

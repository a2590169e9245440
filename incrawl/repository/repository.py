"""The archive of documents: all versions of all pages, in dated run directories.

    20261118T063249Z-a1b2/            a run: one process, at most a day
      run.json                        whose run it is
      changes.jsonl                   what this run found new or changed
      .staged/                        versions not yet acknowledged
      example.com/news/today.htm      the document, as received
      example.com/news/today.htm.meta    its sidecar
      example.com/news/today.htm.visits  later visits that found it unchanged, a line each

Only new and changed documents are written. Which version is current is told by the URL record (its
`document` is a run id), never by a listing. Methods may be called from several threads, and several
processes may use one repository. All of them block on the disk; those that write may raise
RepositoryError, and a version that could not be staged leaves nothing behind.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from incrawl.repository import sameness, staging
from incrawl.repository.folders import (
    append_line,
    folder,
    lines_backwards,
    open_existing,
    open_log,
    read,
    told,
)
from incrawl.repository.identity import IDENTITY, check_place, identity_of
from incrawl.repository.journal import Change, newest_first
from incrawl.repository.paths import SIDECAR_ENDING, VISITS_ENDING, place_of
from incrawl.repository.runs import MAX_AGE, Run, is_run_id, lock_dead, namespace_of, retire, run_ids
from incrawl.repository.sidecar import Sidecar, VisitEntry
from incrawl.repository.staging import Staged

Result = TypeVar("Result")


class Repository:
    """Reads and writes the documents below `root`, which is made when something is written.

    Frontiers may share a repository: a `namespace` has runs of its own, and sweeps no others.
    """

    def __init__(self, root: Path, namespace: str = "") -> None:
        self.root = root
        self.namespace = namespace
        self._identity: str | None = None  # once somebody has asked for it
        self._run: Run | None = None
        self._choosing_run = threading.Lock()

    def check(self) -> None:
        """Raises RepositoryError where nothing could be written, and writes nothing itself."""
        with told(self.root):
            check_place(self.root)

    @property
    def identity(self) -> str:
        """A random id, made once: workers of one frontier must all see the same."""
        with told(self.root):
            self._identity = identity_of(self.root)
            return self._identity

    def stage(self, sidecar: Sidecar, body: bytes) -> Staged:
        """Puts a new version safely on disk, where nobody sees it before `promote`."""
        with told(self.root):
            [staged] = self._stage([(sidecar, body)])
            return staged

    def stage_all(self, versions: Sequence[tuple[Sidecar, bytes]]) -> list[Staged | Exception]:
        """The same for many, with one wait for the disk. One that cannot be staged is in nobody's way."""
        try:
            return [*self._stage(versions)]
        except Exception:
            return [_outcome(self.stage, *version) for version in versions]

    def _stage(self, versions: Sequence[tuple[Sidecar, bytes]]) -> list[Staged]:
        staged: dict[int, Staged] = {}
        while len(staged) < len(versions):
            left = [number for number in range(len(versions)) if number not in staged]
            run = self._current_run(versions[left[0]][0].time)
            written = staging.write(run, [versions[number] for number in left])
            staged |= {number: each for number, each in zip(left, written, strict=True) if each is not None}
            if None in written:
                self._leave(run)  # it has a version of that page
        return [staged[number] for number in range(len(versions))]

    def promote(self, staged: Staged) -> None:
        """Makes an acknowledged version visible. Does nothing if a reader has done so."""
        with told(self.root):
            staging.promote(self.root, staged.run, [staged])

    def promote_all(self, versions: Sequence[Staged]) -> list[Exception | None]:
        """The same for many, with one wait for the disk for each run. For each version what went wrong."""
        try:
            for run in {version.run for version in versions}:
                staging.promote(self.root, run, [version for version in versions if version.run == run])
        except Exception:
            return [_outcome(self.promote, version) for version in versions]
        return [None] * len(versions)

    def discard(self, staged: Staged) -> None:
        """Takes a version back whose acknowledgement was refused."""
        with told(self.root):
            staging.discard(self.root, staged)

    def document(self, url: str, run: str) -> bytes | None:
        """The bytes of a version, as received."""
        return self._read(url, run, "")

    def sidecar(self, url: str, run: str) -> Sidecar | None:
        """The facts of a version; None also where they are damaged."""
        data = self._read(url, run, SIDECAR_ENDING)
        return None if data is None else Sidecar.unpack(data)

    def note_visit(self, url: str, run: str, entry: VisitEntry) -> None:
        """Adds a visit that brought no new version to the history of the one it found."""
        place, pruned = place_of(url), suppress(FileNotFoundError)
        with told(self.root), pruned, folder(self.root, [_checked(run), *place.folders]) as home:
            log = open_log(place.name + VISITS_ENDING, home)
            try:
                append_line(entry.line(), log)
            finally:
                os.close(log)

    def volatility(self, url: str, run: str) -> bytes:
        """What was last known of the volatile parts of a version: by its latest visit, or when it came."""
        place, none = place_of(url), suppress(FileNotFoundError)
        with told(self.root), none, folder(self.root, [_checked(run), *place.folders]) as home:
            log = open_existing(place.name + VISITS_ENDING, home)
            try:
                entries = (VisitEntry.from_line(line, run) for line in lines_backwards(log))
                latest = next((entry for entry in entries if entry is not None), None)
            finally:
                os.close(log)
            if latest is not None:
                return latest.volatility
        sidecar = self.sidecar(url, run)
        return sidecar.volatility if sidecar is not None else b""

    def versions(self, url: str, run: str | None) -> Iterator[tuple[str, Sidecar]]:
        """The versions of a page with their runs, newest first, from `run` back to the first one kept.

        A version lies under its sidecar's URL, which is another one before the page has moved.
        """
        seen: set[tuple[str, str]] = set()
        while run is not None and (url, run) not in seen and (sidecar := self.sidecar(url, run)) is not None:
            yield run, sidecar
            seen.add((url, run))
            url, run = sidecar.previous_url or url, sidecar.previous

    def history(self, url: str, run: str | None) -> Iterator[VisitEntry]:
        """All visits of a page that are kept, newest first."""
        for version, sidecar in self.versions(url, run):
            lines = (self._read(sidecar.url, version, VISITS_ENDING) or b"").split(b"\n")
            entries = (VisitEntry.from_line(line, version) for line in reversed(lines))
            yield from (entry for entry in entries if entry is not None)
            yield sidecar.visit(version)

    def said_before(self, site: str, digest: bytes, url: str) -> list[str]:
        """Notes what a new page of a site says; returns the pages that said the same before it."""
        key = sameness.key_of(self.namespace, site, digest)
        with told(self.root):
            return sameness.said_before(self.root, key, url)

    def changes(self) -> Iterator[Change]:
        """New versions in all runs of the namespace (without one: of all), newest first."""
        with told(self.root):
            yield from newest_first(self.root, self._runs() if self.namespace else run_ids(self.root))

    async def sweep(self, is_current: Callable[[str, str], Awaitable[bool]]) -> tuple[int, int]:
        """Clears up after processes that died: how many versions were promoted and how many discarded.

        `is_current(url, run)` says whether the page's record names this run.
        """
        promoted = discarded = 0
        for staged in self._orphans():
            if await is_current(staged.url, staged.run):
                self.promote(staged)
                promoted += 1
            else:
                self.discard(staged)
                discarded += 1
        return promoted, discarded

    def _orphans(self) -> Iterator[Staged]:
        with told(self.root):
            for run in self._runs():
                lock = lock_dead(self.root, run)
                if lock is not None:
                    try:
                        yield from staging.left_behind(self.root, run)
                        retire(self.root, run)
                    except FileNotFoundError:  # another sweeper was here first
                        continue
                    finally:
                        os.close(lock)

    def namespaces(self) -> set[str]:
        """Who has runs in this repository."""
        with told(self.root):
            found = {namespace_of(self.root, run) for run in run_ids(self.root)}
        return {name for name in found if name}

    def _runs(self) -> list[str]:
        """The runs of this namespace; without one, those that belong to none."""
        return [run for run in run_ids(self.root) if namespace_of(self.root, run) == self.namespace]

    def _current_run(self, now: float) -> Run:
        with self._choosing_run:
            run = self._run
            if run is not None and not run.is_below(self.root):
                run = None
                self._check_presence()
            if run is None or now - run.started >= MAX_AGE:
                self.root.mkdir(parents=True, exist_ok=True)
                run = self._run = Run.begin(self.root, now, self.namespace)
            return run

    def _check_presence(self) -> None:
        """A repository that was moved away while we write it, or unmounted, is not begun anew."""
        if self._identity is not None and not (self.root / IDENTITY).exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    def _leave(self, run: Run) -> None:
        with self._choosing_run:
            if self._run is run:
                self._run = None

    def _read(self, url: str, run: str, ending: str) -> bytes | None:
        """A file of a version. One that the record names while it is still staged is promoted here."""
        with told(self.root):
            data = self._read_final(url, run, ending)
            if data is None and ending != VISITS_ENDING:
                staged = staging.find(self.root, _checked(run), place_of(url))
                if staged is not None:
                    staging.promote(self.root, run, [staged])
                data = self._read_final(url, run, ending)
            return data

    def _read_final(self, url: str, run: str, ending: str) -> bytes | None:
        place = place_of(url)
        try:
            with folder(self.root, [_checked(run), *place.folders]) as home:
                return read(place.name + ending, home)
        except FileNotFoundError:
            return None


def _outcome(step: Callable[..., Result], *arguments: Any) -> Result | Exception:
    try:
        return step(*arguments)
    except Exception as error:
        return error


def _checked(run: str) -> str:
    """A run id comes from Redis: anything else than one must not become a path."""
    return run if is_run_id(run) else "no-such-run"

"""A run: one process's dated directory, for one namespace. While the process lives, it holds a lock in it.

Inside a run a page has one version at most. A run that meets a page for the second time, or gets a
day old, is followed by another one.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import weakref
from datetime import UTC, datetime
from pathlib import Path

from incrawl.repository.folders import folder, make_folder, names, read, remove, write_new

STAGING = ".staged"
ALIVE = "alive"
FACTS = "run.json"
MAX_AGE = 86400.0
_RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{4}")


class Run:
    """A run that this process writes; its lock is given back when nobody refers to it any more.

    `inside` and `staging` are open descriptors of its folder and of its staging folder.
    """

    def __init__(self, root: Path, run_id: str, started: float, lock: int) -> None:
        self.id = run_id
        self.started = started
        weakref.finalize(self, os.close, lock)
        self.inside = self._open(root, [run_id])
        self.staging = self._open(root, [run_id, STAGING])

    def _open(self, root: Path, parts: list[str]) -> int:
        with folder(root, parts) as descriptor:
            ours = os.dup(descriptor)
        weakref.finalize(self, os.close, ours)
        return ours

    def is_below(self, root: Path) -> bool:
        """Whether its folders are still those that a reader finds; somebody may have moved them away."""
        try:
            found = (root / self.id / STAGING).stat()
        except OSError:
            return False
        return os.path.samestat(found, os.fstat(self.staging))

    @classmethod
    def begin(cls, root: Path, now: float, namespace: str) -> Run:
        """Makes a new run directory, named by `now` in UTC and a random suffix."""
        while True:
            run_id = f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"
            with folder(root, []) as inside:
                if not make_folder(run_id, inside):
                    continue
                os.fsync(inside)
            with folder(root, [run_id]) as inside:
                write_new(FACTS, json.dumps({"namespace": namespace}).encode() + b"\n", inside)
            lock = _lock_new(root, run_id)
            if lock is not None:
                return cls(root, run_id, now, lock)


def is_run_id(name: str) -> bool:
    return _RUN_ID.fullmatch(name) is not None


def run_ids(root: Path) -> list[str]:
    """All runs of the repository, newest first."""
    try:
        with folder(root, []) as inside:
            return sorted((name for name in names(inside) if is_run_id(name)), reverse=True)
    except FileNotFoundError:
        return []


def namespace_of(root: Path, run_id: str) -> str | None:
    """Whose run this is; None where its process died before it could tell."""
    try:
        with folder(root, [run_id]) as inside:
            return str(json.loads(read(FACTS, inside))["namespace"])
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None


def is_alive(root: Path, run_id: str) -> bool:
    """Whether a process is writing this run."""
    lock = _lock_file(root, run_id)
    if lock is None:
        return False
    try:
        return not _try_lock(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def lock_dead(root: Path, run_id: str) -> int | None:
    """The lock of a run whose process is gone; None if it lives, or has left nothing to look after."""
    lock = _lock_file(root, run_id)
    if lock is None or _try_lock(lock, fcntl.LOCK_EX):
        return lock
    os.close(lock)
    return None


def _lock_file(root: Path, run_id: str) -> int | None:
    try:
        with folder(root, [run_id, STAGING]) as staging:
            return os.open(ALIVE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=staging)
    except FileNotFoundError:
        return None


def _try_lock(lock: int, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def retire(root: Path, run_id: str) -> None:
    """Takes the empty staging folder of a dead run away; its lock must be held."""
    with folder(root, [run_id]) as inside, folder(root, [run_id, STAGING]) as staging:
        if names(staging) == [ALIVE]:
            remove(ALIVE, staging)
            os.rmdir(STAGING, dir_fd=inside)


def _lock_new(root: Path, run_id: str) -> int | None:
    """The lock of a run just made; None if a sweeper took the run for a dead one in this moment."""
    with folder(root, [run_id, STAGING], create=True) as staging:
        lock = os.open(ALIVE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=staging)
    with folder(root, [run_id]) as inside:
        os.fsync(inside)
    fcntl.flock(lock, fcntl.LOCK_EX)
    if os.fstat(lock).st_nlink == 0:
        os.close(lock)
        return None
    return lock

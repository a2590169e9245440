"""Where an embedded server lives: its directory, its lock, its socket, the note of its version.

    <state directory>/server/      mode 0700
      lock                         flock'ed by the server itself for as long as it runs
      valkey.sock                  its socket, unless the path is too long for one
      server.log, server.pid, appendonlydir/
      version                      what wrote the append-only file, such as `valkey 9.1`

The lock answers "does it run?" without trusting a pid: the kernel frees it when the server dies,
however it dies, and another directory's server cannot hold it.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from incrawl.errors import ServerError
from incrawl.frontier.binary import ServerVersion

LONGEST_SOCKET_PATH = 100
"""Bytes. Linux takes 107, macOS 103."""
_LOG_TAIL = 4000


class ServerDir:
    """The directory of one embedded server; knows names, starts nothing."""

    def __init__(self, state_dir: Path) -> None:
        self.state_dir = state_dir
        self.path = state_dir / "server"
        self.lock_file = self.path / "lock"
        self.log_file = self.path / "server.log"
        self.version_file = self.path / "version"

    def make(self) -> None:
        """Makes it, private to this user; one that is not ours or cannot be used raises ServerError."""
        try:
            self.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_private(self.path)
            self.lock_file.touch(mode=0o600)
        except OSError as error:
            self._unusable(error)

    def socket(self) -> Path:
        """The socket's path, always short enough.

        A long one is replaced by a name in a private directory below /tmp, which hangs on the
        directory's own identity: it survives a move, and a copy of the directory gets another.
        """
        natural = self.path.absolute() / "valkey.sock"
        if len(os.fsencode(natural)) <= LONGEST_SOCKET_PATH:
            return natural
        found = self.path.stat()
        digest = blake2b(f"{found.st_dev}:{found.st_ino}".encode(), digest_size=8).hexdigest()
        return self._runtime_dir() / f"{digest}.sock"

    def url(self) -> str:
        return f"unix://{quote(str(self.socket()))}"

    @contextmanager
    def try_lock(self) -> Iterator[int | None]:
        """The lock's descriptor, to be inherited by a server; None where one runs or starts already."""
        try:
            descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            self._unusable(error)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield descriptor
        except BlockingIOError:
            yield None
        finally:
            os.close(descriptor)

    def runs(self) -> bool:
        """Whether a server holds the lock (or is being started this very moment)."""
        if not self.lock_file.exists():
            return False
        with self.try_lock() as free:
            return free is None

    def written_by(self) -> ServerVersion | None:
        try:
            return ServerVersion.parse(self.version_file.read_text())
        except FileNotFoundError:
            return None

    def note_version(self, version: ServerVersion) -> None:
        self.version_file.write_text(f"{version}\n")

    def last_words(self) -> str:
        """The line of the log that most likely says why the server ended."""
        try:
            tail = self.log_file.read_bytes()[-_LOG_TAIL:].decode(errors="replace")
        except OSError:
            return "it left no log"
        lines = [line for line in tail.splitlines() if line.strip()]
        alarming = [line for line in lines if " # " in line and "overcommit" not in line]
        return (alarming or lines or ["its log is empty"])[-1].strip()

    def _runtime_dir(self) -> Path:
        runtime = Path("/tmp", f"incrawl-{os.getuid()}")
        try:
            _make_private(runtime)
        except OSError as error:
            raise ServerError(
                f"The path of {self.state_dir} is too long for a socket, and {runtime} cannot be used "
                f"instead ({error.strerror or error}): set INCRAWL_STATE_DIR to a shorter path."
            ) from None
        return runtime

    def _unusable(self, error: OSError) -> NoReturn:
        raise ServerError(
            f"The state directory {self.state_dir} cannot be used ({error.strerror or error}): set "
            "INCRAWL_STATE_DIR to a directory of your own, or REDIS_URL to a server."
        ) from None


def _make_private(path: Path) -> None:
    """A directory that is ours and closed to others; a link or another user's directory raises OSError."""
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(0, "not a directory")
    if found.st_uid != os.geteuid():
        raise PermissionError(0, "it belongs to another user")
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(0o700)

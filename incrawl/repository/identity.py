"""Who a repository is: a random id in a file, made once and never changed."""

from __future__ import annotations

import errno
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

from incrawl.repository.folders import RepositoryError, folder, read, remove, write_new

IDENTITY = "repository.json"
LAYOUT = 1


def check_place(root: Path) -> None:
    """Raises OSError unless there is a directory at `root` that we may write to, or one could be made."""
    place = next(place for place in (root, *root.parents) if place.exists())
    if not place.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def identity_of(root: Path) -> str:
    """The id of the repository at `root`, made together with the directory if need be."""
    root.mkdir(parents=True, exist_ok=True)
    with folder(root, []) as inside:
        try:
            return _parse(read(IDENTITY, inside), root)
        except FileNotFoundError:
            _make(inside)
        return _parse(read(IDENTITY, inside), root)


def _make(inside: int) -> None:
    """Whole or not at all; of several processes that try, one wins."""
    identity = secrets.token_hex(8)
    draft = f".{identity}"
    write_new(draft, json.dumps({"id": identity, "layout": LAYOUT}).encode() + b"\n", inside)
    with suppress(FileExistsError):
        os.link(draft, IDENTITY, src_dir_fd=inside, dst_dir_fd=inside)
    remove(draft, inside)
    os.fsync(inside)


def _parse(data: bytes, root: Path) -> str:
    try:
        known = json.loads(data)
        identity, layout = str(known["id"]), known["layout"]
    except (ValueError, TypeError, KeyError):
        raise RepositoryError(
            f"{root / IDENTITY} is damaged: restore it, or name another repository."
        ) from None
    if layout != LAYOUT:
        raise RepositoryError(
            f"The repository {root} has layout {layout}: it needs a newer version of incrawl."
        )
    return identity

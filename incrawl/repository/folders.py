"""Files and folders below the repository's root, reached step by step and never through a link.

Every step opens the next folder inside the one before it and refuses symbolic links, so nothing
that lies in the repository can lead a reader or a writer out of it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from incrawl.errors import IncrawlError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 8192
_FULL = {errno.ENOSPC, errno.EDQUOT}


class RepositoryError(IncrawlError):
    """The repository cannot be read or written."""


@contextmanager
def told(root: Path) -> Iterator[None]:
    """Turns what the system says about the disk into a sentence for the operator."""
    try:
        yield
    except OSError as error:
        hint = "Free some space" if error.errno in _FULL else "Check its owner and mode"
        raise RepositoryError(
            f"The repository {root} cannot be used ({error.strerror}). {hint}, "
            "or name another directory in INCRAWL_REPOSITORY_DIR."
        ) from error


@contextmanager
def folder(root: Path, parts: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """An open descriptor of a folder below `root`; raises FileNotFoundError where there is none."""
    top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with folder_in(top, parts, create=create) as descriptor:
            yield descriptor
    finally:
        os.close(top)


@contextmanager
def folder_in(above: int, parts: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """The same below a folder that is open."""
    descriptor = above
    try:
        for part in parts:
            inner = _enter(part, descriptor, create)
            if descriptor != above:
                os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        if descriptor != above:
            os.close(descriptor)


def _enter(part: str, inside: int, create: bool) -> int:
    try:
        return os.open(part, _FOLDER, dir_fd=inside)
    except FileNotFoundError:
        if not create:
            raise
    make_folder(part, inside)
    return os.open(part, _FOLDER, dir_fd=inside)


def make_folder(name: str, inside: int) -> bool:
    """Whether this call made the folder; False if it was there."""
    try:
        os.mkdir(name, dir_fd=inside)
    except FileExistsError:
        return False
    return True


def write_new(name: str, data: bytes, inside: int) -> None:
    """Writes a file that must not exist yet (FileExistsError) and waits until it is on the disk.

    A failure leaves no file.
    """
    file = begin_new(name, data, inside)
    try:
        finish_new(file)
    except BaseException:
        remove(name, inside)
        raise


def begin_new(name: str, data: bytes, inside: int) -> int:
    """The same without the wait: the open file, for `finish_new`."""
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o666, dir_fd=inside)
    try:
        _write_all(descriptor, data)
        if hasattr(os, "posix_fadvise"):
            # Linux starts to write at once: of many files the first wait then takes in nearly all the others.
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    except BaseException:
        os.close(descriptor)
        remove(name, inside)
        raise
    return descriptor


def finish_new(file: int) -> None:
    """Waits until a new file is on the disk, and closes it."""
    try:
        os.fsync(file)
    finally:
        os.close(file)


def read(name: str, inside: int) -> bytes:
    with os.fdopen(os.open(name, os.O_RDONLY | _FILE, dir_fd=inside), "rb") as file:
        return file.read()


def names(inside: int) -> list[str]:
    with os.scandir(inside) as entries:
        return [entry.name for entry in entries]


def exists(name: str, inside: int) -> bool:
    try:
        os.stat(name, dir_fd=inside, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def remove(name: str, inside: int) -> None:
    """Removes a file, or finds that it is gone."""
    try:
        os.unlink(name, dir_fd=inside)
    except FileNotFoundError:
        return


def open_log(name: str, inside: int) -> int:
    """A descriptor for `append_line`; the file is made where there is none."""
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND | _FILE, 0o666, dir_fd=inside)


def open_existing(name: str, inside: int) -> int:
    """A descriptor for reading; raises FileNotFoundError where there is no such file."""
    return os.open(name, os.O_RDONLY | _FILE, dir_fd=inside)


def append_line(line: bytes, log: int) -> None:
    """Adds one line in one write. A line that a crash has cut off before it stays a line of its own."""
    size = os.fstat(log).st_size
    torn = size > 0 and os.pread(log, 1, size - 1) != b"\n"
    _write_all(log, (b"\n" if torn else b"") + line + b"\n")


def lines_backwards(file: int) -> Iterator[bytes]:
    """Lines from the last to the first, a block at a time, so that a long log costs no memory."""
    position, rest = os.fstat(file).st_size, b""
    while position:
        start = max(position - _BLOCK, 0)
        first, *lines = (os.pread(file, position - start, start) + rest).split(b"\n")
        position, rest = start, first
        yield from (line for line in reversed(lines) if line)
    if rest:
        yield rest


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]

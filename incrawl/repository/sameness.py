"""Which pages of a site said the same when they were first seen.

    .same/3fa    lines of `<what it says> <URL>`, in the order in which the pages were first kept

What a page says is a key of 64 bits; its first digits name the file. A page gets its line once, so the
files grow with the pages and not with the visits, and cost the frontier no memory. Lines may be out of
date: readers check what they find against the records.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from incrawl.repository.folders import append_line, folder, open_log

FOLDER = ".same"
_SHARD_DIGITS = 3


def key_of(namespace: str, site: str, digest: bytes) -> str:
    """What stands for one content of one site."""
    named = b"\0".join((namespace.encode(), site.encode("utf-8", "surrogatepass"), digest))
    return blake2b(named, digest_size=8).hexdigest()


def said_before(root: Path, key: str, url: str) -> list[str]:
    """Takes down that `url` says this, and returns the pages that said so before it, earliest first."""
    with folder(root, [FOLDER], create=True) as home:
        log = open_log(key[:_SHARD_DIGITS], home)
        try:
            earlier = list(_urls(log, key))
            if url not in earlier:
                append_line(f"{key} {url}".encode("utf-8", "surrogatepass"), log)
                earlier = list(_urls(log, key))  # another worker may have come first
        finally:
            os.close(log)
    return earlier[: earlier.index(url)] if url in earlier else earlier


def _urls(log: int, key: str) -> Iterator[str]:
    mark = f"{key} ".encode()
    data = os.pread(log, os.fstat(log).st_size, 0)
    if mark in data:
        lines = (line for line in data.split(b"\n") if line.startswith(mark))
        yield from (line.removeprefix(mark).decode("utf-8", "surrogatepass") for line in lines)

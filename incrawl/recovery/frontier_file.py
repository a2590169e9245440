"""A frontier in a file: every URL record with its due time, and the hosts that are held.

The file is a msgpack stream: a head that says what it is, then one entry for each page or host, then
the number of entries, by which a file that was cut off is known. It does not depend on the kind
of server, nor on the number of partitions.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgpack

from incrawl.core.records import UrlRecord
from incrawl.errors import IncrawlError
from incrawl.frontier import operations
from incrawl.frontier.adoption import NEVER, QUARANTINED, Adopted
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.operations import Known
from incrawl.frontier.packing import level_of, pack, read
from incrawl.recovery.seen_ids import SeenIds

SCHEMA = 1
KIND = "incrawl frontier"


class BackupError(IncrawlError):
    """A back-up that cannot be read."""


@dataclass(frozen=True, slots=True)
class Head:
    namespace: str
    repository: str  # id of the repository that the records' documents are in
    time: float


@dataclass(frozen=True, slots=True)
class Hold:
    """A host that is not to be visited before `until`, server's time in seconds."""

    host: str
    until: float
    reason: str


Entry = Adopted | Hold


async def entries_of(frontier: Frontier) -> AsyncIterator[Entry]:
    """All pages and held hosts of a frontier that may be in use: each page as it is when it is read.

    A page that is read after its visit may have links that became known, or were found closer to a seed,
    behind the reader's back. They are found by going through once more.
    """
    now, seen = frontier.now(), SeenIds()
    async for _, bucket in operations.buckets(frontier):
        for id_, known in (await _look_at(frontier, bucket)).items():
            yield Adopted(pack(known.record), _due(known, now))
            seen.add(id_, known.record.level)
    async for _, bucket in operations.buckets(frontier):
        unseen = {id_: packed for id_, packed in bucket.items() if not seen.has(id_, level_of(packed))}
        for known in (await _look_at(frontier, unseen)).values():
            yield _with_its_links_to_find(known, now)
    async for host in operations.hosts(frontier):
        if host.reason and host.next_allowed is not None and host.next_allowed > now:
            yield Hold(host.name, host.next_allowed, host.reason)


async def _look_at(frontier: Frontier, bucket: dict[bytes, bytes]) -> dict[bytes, Known]:
    records = {id_: record for id_, packed in bucket.items() if (record := read(packed)) is not None}
    looks = (operations.look(frontier, record.url) for record in records.values())
    found = zip(records, await asyncio.gather(*looks), strict=True)
    return {id_: known for id_, known in found if known is not None}


def _with_its_links_to_find(known: Known, now: float) -> Adopted:
    """A page that became known while the frontier was read: if it was visited, too, as if it had not been."""
    record = known.record
    if record.visits and not record.barred and known.state != "quarantined":
        fresh = UrlRecord(
            record.url, record.level, list=record.list, pl=record.pl, pg=record.pg, request=record.request
        )
        return Adopted(pack(fresh), round(now * 1000))
    return Adopted(pack(record), _due(known, now))


def _due(known: Known, now: float) -> int:
    """A page that a worker has now is due at once wherever the back-up is restored."""
    if known.state == "queued" and known.time is not None:
        return round(known.time * 1000)
    return {"retired": NEVER, "quarantined": QUARANTINED}.get(known.state, round(now * 1000))


class FrontierFile:
    """Writes under another name first, so that a file with its own name is whole."""

    def __init__(self, path: Path, head: Head) -> None:
        self._path = path
        self._draft = path.with_name(path.name + ".part")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = self._draft.open("wb")
        self._count = 0
        self._write([KIND, SCHEMA, head.namespace, head.repository, head.time])

    def add(self, entry: Entry) -> None:
        if isinstance(entry, Adopted):
            self._write([entry.packed, entry.due])
        else:
            self._write([entry.host, entry.until, entry.reason])
        self._count += 1

    def finish(self) -> int:
        """Puts the file on the disk and gives it its name; returns the number of entries."""
        self._write(self._count)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._draft.replace(self._path)
        return self._count

    def _write(self, value: Any) -> None:
        self._file.write(msgpack.packb(value))


def read_head(path: Path) -> Head:
    """Raises BackupError for a file that cannot be restored as a whole."""
    values = _values(path)
    head = next(values, None)
    if not isinstance(head, list) or len(head) != 5 or head[0] != KIND:
        raise BackupError(f"{path} is no back-up of a frontier.")
    if head[1] > SCHEMA:
        raise BackupError(f"{path} has schema {head[1]}: it needs a newer version of incrawl.")
    count, last = 0, None
    for last in values:  # noqa: B007 - the last one is looked at below
        count += 1
    if last != count - 1:
        raise BackupError(f"{path} is not whole: the back-up was cut off.")
    return Head(*head[2:])


def read_entries(path: Path) -> Iterator[Entry]:
    """The entries of a file that `read_head` has found whole."""
    for value in _values(path):
        if not isinstance(value, list) or len(value) > 3:
            continue
        yield Adopted(*value) if len(value) == 2 else Hold(*value)


def _values(path: Path) -> Iterator[Any]:
    try:
        with path.open("rb") as file:
            yield from msgpack.Unpacker(file, max_buffer_size=2**27)
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, msgpack.UnpackException) as error:
        raise BackupError(f"{path} is damaged: {error}.") from None

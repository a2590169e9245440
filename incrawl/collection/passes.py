"""Passes over the 20 % collection (paper 002): what of it is still to be visited, and the log of passes."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict, dataclass

from incrawl.collection.numbers import Ids
from incrawl.frontier import keys
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.places import UrlPlace
from incrawl.repository import Repository
from incrawl.repository.folders import append_line, folder, open_log, read, told

LOG = "passes.jsonl"
SHORT = 8  # bytes of a URL id that name a page here
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Scored:
    """A page as the log of passes shows it."""

    url: str
    rank: float
    age: int  # hours
    score: float


@dataclass(frozen=True, slots=True)
class PassEntry:
    """One line of the log: the collections that the next pass starts from."""

    namespace: str
    number: int
    time: float
    pages: int
    best: int  # size of the 20 % collection
    entry: float  # least score in it
    top: tuple[Scored, ...]  # its first pages, by falling score

    def line(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @classmethod
    def from_line(cls, line: bytes) -> PassEntry | None:
        """None for a line that was cut off by a crash."""
        try:
            known = json.loads(line)
            return cls(**{**known, "top": tuple(Scored(**page) for page in known["top"])})
        except (ValueError, TypeError, KeyError):
            return None


async def begin_pass(frontier: Frontier, best: dict[int, Ids]) -> None:
    """From now on these pages, given by partition, are to be visited."""
    for partition in range(frontier.partitions):
        key = _key(frontier, partition)
        await frontier.command("DEL", key)
        ids = best.get(partition)
        for start in range(0, 0 if ids is None else len(ids), CHUNK):
            assert ids is not None
            names = [int(short_id).to_bytes(SHORT) for short_id in ids[start : start + CHUNK]]
            await frontier.command("SADD", key, *names)


async def note_visit(frontier: Frontier, place: UrlPlace) -> None:
    await frontier.command("SREM", _key(frontier, place.host.partition), place.id[:SHORT])


async def pages_left(frontier: Frontier) -> int:
    """Pages of the 20 % collection that this pass has still to visit."""
    partitions = range(frontier.partitions)
    counts = await asyncio.gather(*(frontier.command("SCARD", _key(frontier, p)) for p in partitions))
    return sum(counts)


def append_to_log(repository: Repository, entry: PassEntry) -> None:
    with told(repository.root), folder(repository.root, []) as home:
        log = open_log(LOG, home)
        try:
            append_line(entry.line(), log)
        finally:
            os.close(log)


def read_log(repository: Repository, namespace: str) -> list[PassEntry]:
    """The passes of a namespace, oldest first."""
    with told(repository.root):
        try:
            with folder(repository.root, []) as home:
                lines = read(LOG, home).split(b"\n")
        except FileNotFoundError:
            return []
    entries = map(PassEntry.from_line, lines)
    return [entry for entry in entries if entry is not None and entry.namespace == namespace]


def _key(frontier: Frontier, partition: int) -> bytes:
    return keys.current_pass(keys.namespace_prefix(partition, frontier.namespace))

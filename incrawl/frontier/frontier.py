"""The URL queues, in Redis: the verbs that workers use. What operators use is in `operations.py`.

Every verb is one Lua script on one partition. A server that is away is waited for: callers see a
slow answer, not an error. Times given and returned are seconds; the scripts count milliseconds.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgpack

from incrawl.core.records import UrlRecord
from incrawl.errors import ServerError
from incrawl.frontier import keys
from incrawl.frontier.caller import Caller
from incrawl.frontier.leases import Ending, Find, Grant, Lease, read_leases
from incrawl.frontier.packing import pack, unpack
from incrawl.frontier.places import HostPlace, UrlPlace, place_host, place_url
from incrawl.frontier.replicas import replicas_of
from incrawl.frontier.scripts import script

__all__ = ["BATCH", "SCHEMA", "Ending", "Find", "Frontier", "Grant", "Lease"]

SCHEMA = 1
BATCH = 100  # URLs in one script call: more would make the server's other clients wait


class Frontier:
    """One namespace of one server. `open` it; share it freely among the tasks of a process."""

    def __init__(
        self, client: Any, namespace: str, *, partitions: int, lease_time: float, gap: float, continuous: bool
    ) -> None:
        self.client = client
        self._caller = Caller(client)
        self._replicas = replicas_of(client)
        self.namespace = namespace
        self.partitions = partitions
        self.lease_time = lease_time
        self.gap_ms = round(gap * 1000)
        self.continuous = continuous
        self._clock_offset = time.time() - time.monotonic()

    @classmethod
    async def open(
        cls,
        client: Any,
        namespace: str,
        *,
        partitions: int = 16,
        lease_time: float = 60.0,
        gap: float = 10.0,
        continuous: bool = False,
    ) -> Frontier:
        """Agrees with the server on schema and partitions, which its first user fixes."""
        command = Caller(client).command
        schema, agreed = await command("HMGET", keys.SERVER, b"schema", b"partitions")
        if schema is None or agreed is None:
            await command("HSETNX", keys.SERVER, b"schema", SCHEMA)
            await command("HSETNX", keys.SERVER, b"partitions", partitions)
            schema, agreed = await command("HMGET", keys.SERVER, b"schema", b"partitions")
        if int(schema) > SCHEMA:
            raise ServerError(
                f"The frontier has schema {int(schema)}, newer than this incrawl reads ({SCHEMA})."
            )
        frontier = cls(
            client, namespace, partitions=int(agreed), lease_time=lease_time, gap=gap, continuous=continuous
        )
        frontier._set_clock(await frontier.run("clock", 0))
        return frontier

    async def is_bound(self) -> bool:
        """Whether this namespace has a repository on this server: not where it has never been used."""
        return await self._caller.command("HGET", keys.NAMESPACES, self.namespace) is not None

    async def bind_repository(self, identity: str) -> None:
        """Remembers the repository of this namespace; another one is refused."""
        command = self._caller.command
        if not await self.is_bound():
            await command("HSETNX", keys.NAMESPACES, self.namespace, identity)
        bound: bytes = await command("HGET", keys.NAMESPACES, self.namespace)
        if bound != identity.encode():
            raise ServerError(
                f"The frontier of {self.namespace} belongs to repository {bound.decode()}, but "
                f"INCRAWL_REPOSITORY_DIR holds repository {identity}: use the same directory for all workers."
            )

    def now(self) -> float:
        """The server's time as of its last answer, moved on by this process's monotonic clock."""
        return time.monotonic() + self._clock_offset

    def place(self, url: str) -> UrlPlace:
        return place_url(url, self.partitions)

    def find(self, record: UrlRecord) -> Find:
        """The record, ready for `discover`."""
        return Find(record.url, self.place(record.url), pack(record))

    def place_host(self, name: str) -> HostPlace:
        return place_host(name, self.partitions)

    async def begin(self) -> None:
        """A run starts: what is due by now, and what is discovered from now on, is its work."""
        answers = await asyncio.gather(*(self.run("begin", p) for p in range(self.partitions)))
        self._set_clock(max(answers))

    async def discover(self, finds: Iterable[Find]) -> int:
        """Makes URLs known and due; those already known stay as they are. Returns how many were new."""
        by_partition: dict[int, list[Find]] = defaultdict(list)
        for find in finds:
            by_partition[find.place.host.partition].append(find)
        counts = await asyncio.gather(
            *(
                self._discover_batch(partition, batch[start : start + BATCH])
                for partition, batch in by_partition.items()
                for start in range(0, len(batch), BATCH)
            )
        )
        return sum(counts)

    async def _discover_batch(self, partition: int, finds: Sequence[Find]) -> int:
        by_host: dict[bytes, tuple[bytes, str, list[bytes]]] = {}
        for find in finds:
            host = find.place.host
            by_host.setdefault(host.id, (host.id, host.name, []))[2].extend((find.place.id, find.packed))
        found = _words(word for entry in by_host.values() for word in entry)
        replies = await self.run_kept("discover", partition, int(self.continuous), found)
        return sum(new for new, _ in replies)

    async def lease(self, partition: int, count: int, *, alone: bool = False, wait: float = 0.0) -> Grant:
        """Up to `count` due URLs, or with `alone` one suspect. `wait`: how far ahead is in sight.

        However many are asked for, a call gives no more than BATCH.
        """
        token = os.urandom(8)
        now, wait_ms, leased, suspects, given = await self.run(
            "lease", partition, token, min(count, BATCH), round(self.lease_time * 1000), self.gap_ms,
            int(self.continuous), int(alone), round(wait * 1000),
        )  # fmt: skip
        self._set_clock(now)
        return Grant(
            read_leases(token, partition, given), None if wait_ms < 0 else wait_ms / 1000, leased, suspects
        )

    async def renew(self, leases: Sequence[Lease]) -> list[Lease]:
        """Keeps the leases; returns those that are lost."""
        by_partition: dict[int, list[Lease]] = defaultdict(list)
        for lease in leases:
            by_partition[lease.place.host.partition].append(lease)
        answers = await asyncio.gather(
            *(
                self._renew_batch(partition, batch[start : start + BATCH])
                for partition, batch in by_partition.items()
                for start in range(0, len(batch), BATCH)
            )
        )
        return [lease for lost in answers for lease in lost]

    async def _renew_batch(self, partition: int, leases: Sequence[Lease]) -> list[Lease]:
        args: list[Any] = [round(self.lease_time * 1000)]
        for lease in leases:
            args += (lease.place.id, lease.token)
        kept = await self.run("renew", partition, *args)
        return [lease for lease, still_ours in zip(leases, kept, strict=True) if not still_ours]

    async def complete(
        self, lease: Lease, record: UrlRecord, *, delay: float | None, since_response: float | None
    ) -> bool:
        """Ends a visit: the record, its next due time (None: never), lease and host, all in one.

        False when the lease was lost: then nothing was written.
        """
        partition = lease.place.host.partition
        return (await self._complete_batch(partition, [Ending(lease, record, delay, since_response)]))[0]

    async def complete_all(self, endings: Sequence[Ending]) -> list[bool]:
        """Ends many visits at once; for each whether it was accepted, partition by partition."""
        by_partition: dict[int, list[Ending]] = defaultdict(list)
        for ending in endings:
            by_partition[ending.lease.place.host.partition].append(ending)
        answers = await asyncio.gather(
            *(
                self._complete_batch(partition, batch[start : start + BATCH])
                for partition, batch in by_partition.items()
                for start in range(0, len(batch), BATCH)
            )
        )
        return [accepted for batch in answers for accepted in batch]

    async def _complete_batch(self, partition: int, endings: Sequence[Ending]) -> list[bool]:
        ended: list[Any] = []
        for ending in endings:
            times = (_ms_or(ending.delay, -1), _ms_or(ending.since_response, -1))
            ended += (ending.lease.place.id, ending.lease.token, pack(ending.record), *times)
        replies = await self.run("complete", partition, self.gap_ms, _words(ended))
        return [
            bool(done) or await self._was_completed(ending)
            for done, ending in zip(replies, endings, strict=True)
        ]

    async def _was_completed(self, ending: Ending) -> bool:
        """The server may have gone away after the write and before its answer: then it was ours."""
        place = ending.lease.place
        known = await self.run("look", place.host.partition, place.id, place.host.id)
        if known is None:
            return False
        found, ours, before = unpack(known[0]), unpack(pack(ending.record)), ending.lease.record
        # A version that only this visit can have named stays ours, whoever has visited the page since. A
        # visit that found nothing leaves nothing to tell it by: another's may have failed just like it.
        brought = ours.document != before.document and found.document == ours.document
        return brought or (ours.last_crawl != before.last_crawl and _same_visit(found, ours))

    async def release(
        self, lease: Lease, *, delay: float | None = None, since_response: float | None = None
    ) -> bool:
        """Gives a lease back, due as before or after `delay`."""
        return bool(
            await self.run(
                "release", lease.place.host.partition, lease.place.id, lease.token,
                _ms_or(delay, -1), _ms_or(since_response, -1), self.gap_ms,
            )
        )  # fmt: skip

    async def reserve_host(self, host: HostPlace, token: bytes) -> float:
        """Asks for a host outside a lease's first request. 0: granted; else seconds to wait."""
        wait = await self.run(
            "reserve_host", host.partition, host.id, host.name, token,
            round(self.lease_time * 1000), self.gap_ms,
        )  # fmt: skip
        return float(wait) / 1000

    async def free_host(self, host: HostPlace, token: bytes, since_response: float | None) -> None:
        """Ends a reservation; the host is left in peace for its gap."""
        await self.run("free_host", host.partition, host.id, token, _ms_or(since_response, -1), self.gap_ms)

    async def block_host(self, host: str, seconds: float, reason: str) -> None:
        """Nobody visits the host for that long; 0 seconds lifts the block."""
        place = self.place_host(host)
        await self.run("block_host", place.partition, place.id, host, round(seconds * 1000), reason)

    async def set_gap(self, host: str, seconds: float | None) -> None:
        """Gives a host its own interval (robots.txt, the user's table); None: the default again."""
        place = self.place_host(host)
        key = keys.host(place.partition, place.id)
        if seconds is None:
            await self._caller.command("HDEL", key, b"gap")
        else:
            await self._caller.command("HSET", key, b"gap", round(seconds * 1000), b"name", host)

    async def cache_get(self, host: str, name: str) -> bytes | None:
        """What workers share about a host for a while, such as its robots.txt."""
        place = self.place_host(host)
        key = keys.cache(place.partition, place.id, name.encode())
        value: bytes | None = await self._caller.command("GET", key)
        return value

    async def cache_set(self, host: str, name: str, value: bytes, seconds: float) -> None:
        place = self.place_host(host)
        key = keys.cache(place.partition, place.id, name.encode())
        await self._caller.command("SET", key, value, "PX", max(1, round(seconds * 1000)))

    async def close(self) -> None:
        await self.client.aclose()

    def _set_clock(self, now_ms: int) -> None:
        self._clock_offset = now_ms / 1000 - time.monotonic()

    async def command(self, *words: Any) -> Any:
        """Runs a plain command, however long the server is away."""
        return await self._caller.command(*words)

    async def run_kept(self, verb: str, partition: int, *args: Any) -> list[Any]:
        """Runs a script whose writes must outlive their primary, because what comes next counts on them.

        It is run until a replica has them, perhaps several times: all its replies.
        """
        replies, kept = [], False
        while not kept:
            primary = await self._replicas.primary(partition)
            replies.append(await self.run(verb, partition, *args))
            # Even where nothing was new: the call may have been made before, and only its answer lost.
            kept = primary is None or await self._replicas.has_reached_one(primary, partition)
        return replies

    async def run(self, verb: str, partition: int, *args: Any) -> Any:
        """The answer of one script on a partition, however long the server is away."""
        prefix = keys.namespace_prefix(partition, self.namespace)
        reply = await self._caller.call(script(verb), 2, keys.tag(partition), prefix, *args)
        return msgpack.unpackb(reply, raw=True) if isinstance(reply, bytes) else reply


def _words(words: Iterable[Any]) -> bytes:
    """Many arguments as one, in the older msgpack that scripts read: text and bytes are one there."""
    packed: bytes = msgpack.packb([*words], use_bin_type=False)
    return packed


def _ms_or(seconds: float | None, otherwise: int) -> int:
    return otherwise if seconds is None else max(0, round(seconds * 1000))


def _same_visit(known: UrlRecord, ours: UrlRecord) -> bool:
    """Whether a record is as our visit left it; a batch job may have amended other fields since."""
    return (known.visits, known.last_crawl, known.document) == (ours.visits, ours.last_crawl, ours.document)

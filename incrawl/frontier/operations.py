"""What operators and batch jobs do to a frontier: look, count, move, forget, amend."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from incrawl.core.records import UrlRecord
from incrawl.frontier import keys
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.packing import LISTS, pack, read, unpack
from incrawl.frontier.places import place_url

State = Literal["queued", "leased", "suspect", "quarantined", "retired"]
HOSTS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Known:
    """What the frontier knows of one URL. `time`: due, lease expiry, or from when a suspect may be had."""

    record: UrlRecord
    state: State
    time: float | None
    deaths: int  # workers that died while it was their only page

    @property
    def next_due(self) -> float | None:
        return self.time if self.state == "queued" else None


@dataclass(frozen=True, slots=True)
class HostStatus:
    name: str
    queued: int
    due: int
    next_allowed: float | None
    reason: str  # why it is blocked; empty when it is not


@dataclass(frozen=True, slots=True)
class Counts:
    """Totals over all partitions."""

    known: int
    due: int
    leased: int
    suspects: int
    quarantined: int
    next_due: float | None


async def look(frontier: Frontier, url: str) -> Known | None:
    place = frontier.place(url)
    reply = await frontier.run("look", place.host.partition, place.id, place.host.id)
    if reply is None:
        return None
    packed, state, time_ms, deaths = reply
    time = None if time_ms < 0 else time_ms / 1000
    return Known(unpack(packed), cast(State, state.decode()), time, deaths)


async def reschedule(
    frontier: Frontier, url: str, delay: float | None
) -> Literal["moved", "unknown", "leased"]:
    """Moves the next visit to `delay` seconds from now (None: never); frees a quarantined page."""
    place = frontier.place(url)
    ms = -1 if delay is None else round(delay * 1000)
    reply = await frontier.run("reschedule", place.host.partition, place.id, place.host.id, ms)
    return ("unknown", "moved", "leased")[reply]


async def forget(frontier: Frontier, url: str) -> bool:
    place = frontier.place(url)
    return bool(await frontier.run("forget", place.host.partition, place.id, place.host.id))


async def amend(frontier: Frontier, before: UrlRecord, **changes: Any) -> bool:
    """Changes fields of a record if it still is `before`; False when a visit came in between."""
    place = place_url(before.url, frontier.partitions)
    where = (place.host.partition, place.id, place.host.id)
    after = pack(before._replace(**changes))
    if await frontier.run("amend", *where, pack(before), after):
        return True
    known = await frontier.run("look", *where)
    if known is not None and known[0] == after:
        return True  # the call was carried out, and only its answer lost
    # An older incrawl may have packed the same record in other bytes.
    if known is None or known[0] == pack(before) or unpack(known[0]) != before:
        return False
    return bool(await frontier.run("amend", *where, known[0], after))


async def buckets(frontier: Frontier) -> AsyncIterator[tuple[int, dict[bytes, bytes]]]:
    """All records as they are kept, for batch jobs: a partition, and URL id → packed record.

    Those added meanwhile may be missing; none that was known before is, and none comes twice.
    """
    for partition in range(frontier.partitions):
        async for bucket in _buckets_of(frontier, partition):
            yield partition, bucket


async def _buckets_of(frontier: Frontier, partition: int) -> AsyncIterator[dict[bytes, bytes]]:
    """A bucket that is split hands records to a later one only, so going up misses none."""
    counts: list[int] = []  # buckets there were when each one was read; 0: it was passed over
    existing = 1
    while (number := len(counts)) < existing:
        if number and counts[number - (1 << number.bit_length() - 1)] <= number:
            counts.append(0)  # it was split off since that one was read, and has been read there
            continue
        existing, words = await frontier.run("read_bucket", partition, number)
        counts.append(existing)
        yield dict(zip(words[::2], words[1::2], strict=True))


async def records(frontier: Frontier) -> AsyncIterator[UrlRecord]:
    """All records, in no order; see `buckets`."""
    async for _, packed_records in buckets(frontier):
        for packed in packed_records.values():
            record = read(packed)
            if record is not None:
                yield record


async def hosts(frontier: Frontier) -> AsyncIterator[HostStatus]:
    """Every host that has URLs waiting."""
    for partition in range(frontier.partitions):
        async for queues in _queues(frontier, partition):
            pipeline = frontier.client.pipeline(transaction=False)
            for host_id in queues:
                pipeline.hmget(keys.host(partition, host_id), b"name", b"next", b"reason")
            for waiting, facts in zip(queues.values(), await pipeline.execute(), strict=True):
                name, next_allowed, reason = facts
                free = float(next_allowed) / 1000 if next_allowed else None
                told = ((name or b"").decode(), (reason or b"").decode())
                yield HostStatus(told[0], waiting.queued, waiting.due, free, told[1])


async def due_urls(frontier: Frontier, limit: int) -> AsyncIterator[tuple[str, float]]:
    """URLs that are due, with their due times, oldest first within a host."""
    now_ms, left = frontier.now() * 1000, limit
    client = frontier.client
    for partition in range(frontier.partitions):
        prefix = keys.namespace_prefix(partition, frontier.namespace)
        for list_ in range(LISTS):
            for host_id in await client.zrange(keys.ready(prefix, list_), 0, -1):
                queue = keys.queue(prefix, list_, host_id)
                entries = await client.zrangebyscore(queue, "-inf", now_ms, 0, left, withscores=True)
                for url_id, score in entries:
                    packed = await frontier.run("look", partition, url_id, host_id)
                    record = read(packed[0]) if packed is not None else None
                    if record is not None:
                        yield record.url, keys.due_seconds(score)
                        left -= 1
                    if left <= 0:
                        return


async def counts(frontier: Frontier) -> Counts:
    totals = Counts(0, 0, 0, 0, 0, None)
    client = frontier.client
    for partition in range(frontier.partitions):
        prefix = keys.namespace_prefix(partition, frontier.namespace)
        waiting = [w async for queues in _queues(frontier, partition) for w in queues.values()]
        heads = [w.next_due for w in waiting if w.next_due is not None]
        totals = Counts(
            totals.known + int(await client.hget(keys.meta(prefix), b"urls") or 0),
            totals.due + sum(w.due for w in waiting),
            totals.leased + await client.zcard(keys.leases(prefix)),
            totals.suspects + await client.zcard(keys.suspects(prefix)),
            totals.quarantined + await client.hlen(keys.quarantine(prefix)),
            min(heads if totals.next_due is None else [*heads, totals.next_due], default=None),
        )
    return totals


@dataclass(frozen=True, slots=True)
class _Waiting:
    """What waits at one host."""

    queued: int
    due: int
    next_due: float | None


async def _queues(frontier: Frontier, partition: int) -> AsyncIterator[dict[bytes, _Waiting]]:
    """The queues of a partition's hosts, some hundred hosts in each round trip."""
    prefix, now_ms = keys.namespace_prefix(partition, frontier.namespace), frontier.now() * 1000
    ids: set[bytes] = set()
    for list_ in range(LISTS):
        ids.update(await frontier.client.zrange(keys.ready(prefix, list_), 0, -1))
    for chunk in batched(sorted(ids), HOSTS_AT_ONCE):
        pipeline = frontier.client.pipeline(transaction=False)
        for host_id in chunk:
            for list_ in range(LISTS):
                queue = keys.queue(prefix, list_, host_id)
                pipeline.zcard(queue).zcount(queue, "-inf", now_ms).zrange(queue, 0, 0, withscores=True)
        replies = await pipeline.execute()
        each = 3 * LISTS
        yield {id_: _waiting(replies[at * each : (at + 1) * each]) for at, id_ in enumerate(chunk)}


def _waiting(replies: Sequence[Any]) -> _Waiting:
    """From the replies of one host: for each list its length, how many are due, its head."""
    heads = [keys.due_seconds(head[0][1]) for head in replies[2::3] if head]
    return _Waiting(sum(replies[0::3]), sum(replies[1::3]), min(heads, default=None))


def batched(items: Sequence[bytes], size: int) -> Iterator[Sequence[bytes]]:
    return (items[start : start + size] for start in range(0, len(items), size))

"""The pages that will be due next, of all hosts together; and making them due now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest

from incrawl.core.records import UrlRecord
from incrawl.frontier import keys
from incrawl.frontier.frontier import BATCH, Frontier
from incrawl.frontier.operations import HOSTS_AT_ONCE, batched
from incrawl.frontier.packing import LISTS, read


@dataclass(frozen=True, slots=True, order=True)
class Coming:
    """A page that is waiting for its due time."""

    due: float
    partition: int
    id: bytes
    host: bytes


async def coming(frontier: Frontier, limit: int) -> list[Coming]:
    """The pages that are due soonest from now on, `limit` at most."""
    now_ms, client = frontier.now() * 1000, frontier.client
    found: list[Coming] = []
    for partition in range(frontier.partitions):
        prefix = keys.namespace_prefix(partition, frontier.namespace)
        for list_ in range(LISTS):
            hosts = await client.zrange(keys.ready(prefix, list_), 0, -1)
            for chunk in batched(hosts, HOSTS_AT_ONCE):
                pipeline = client.pipeline(transaction=False)
                for host in chunk:
                    queue = keys.queue(prefix, list_, host)
                    pipeline.zrangebyscore(queue, now_ms, "+inf", 0, limit, withscores=True)
                for host, entries in zip(chunk, await pipeline.execute(), strict=True):
                    found += [Coming(keys.due_seconds(score), partition, id_, host) for id_, score in entries]
                found = nsmallest(limit, found)
    return found


async def records_of(frontier: Frontier, pages: Sequence[Coming]) -> dict[Coming, UrlRecord]:
    """What is known of these pages; those that were forgotten meanwhile are left out."""
    by_partition: dict[int, list[Coming]] = defaultdict(list)
    for page in pages:
        by_partition[page.partition].append(page)
    found: dict[Coming, UrlRecord] = {}
    for partition, there in by_partition.items():
        for start in range(0, len(there), BATCH):
            batch = there[start : start + BATCH]
            ids = [part for page in batch for part in (page.id, page.host)]
            reply = await frontier.run("look_many", partition, *ids)
            pairs = zip(batch, reply[::2], strict=True)
            records = {page: read(packed) for page, packed in pairs if packed}
            found |= {page: record for page, record in records.items() if record is not None}
    return found


async def hasten(frontier: Frontier, page: Coming) -> bool:
    """Makes a page due now; False where a worker has it, or it is no longer known."""
    return bool(await frontier.run("reschedule", page.partition, page.id, page.host, 0) == 1)

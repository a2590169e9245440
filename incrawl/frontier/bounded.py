"""A collection of bounded size: who is in it, and what becomes of URLs that find no place.

In the collection is what waits for a visit or is having one. What is known besides is at rest: `look`
calls it retired.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from incrawl.frontier import keys
from incrawl.frontier.frontier import BATCH, Find, Frontier
from incrawl.frontier.glance import look_many
from incrawl.frontier.packing import LISTS
from incrawl.frontier.shared import home, home_prefix


async def discover_within(frontier: Frontier, finds: Sequence[Find], size: int) -> int:
    """Makes URLs known. New ones are due as long as there are places left; the others are at rest."""
    glances = await look_many(frontier, (find.url for find in finds))
    known = {frontier.place(glance.record.url).id for glance in glances}
    fresh = {find.place.id: find for find in finds if find.place.id not in known}
    placed = await _take_places(frontier, list(fresh), size)
    outside = [find for id_, find in fresh.items() if id_ not in placed]
    # Known ones come along: they may be closer to a seed now.
    visited = known | placed
    new = await frontier.discover(find for find in finds if find.place.id in visited)
    return new + await _shelve(frontier, outside)


async def admit(frontier: Frontier, places: int) -> None:
    """Takes places without asking whether there are any."""
    if places:
        await frontier.run("admit", home(frontier), -1, places, os.urandom(8))


async def _take_places(frontier: Frontier, ids: Sequence[bytes], size: int) -> set[bytes]:
    """Takes a place for each URL as long as there are any; those that have one.

    Places go by id: how many `discover` calls new says nothing once its answer was lost and it was repeated.
    """
    placed: set[bytes] = set()
    for start in range(0, len(ids), BATCH):
        batch = ids[start : start + BATCH]
        replies = await frontier.run("admit", home(frontier), size, 1, *batch)
        placed.update(id_ for id_, has_place in zip(batch, replies, strict=True) if has_place)
    return placed


async def set_places(frontier: Frontier, taken: int) -> None:
    """Puts the count of places right: a batch job has counted."""
    await frontier.command("SET", _places_key(frontier), taken)


async def are_places_counted(frontier: Frontier) -> bool:
    return bool(await frontier.command("EXISTS", _places_key(frontier)))


async def waiting_ids(frontier: Frontier) -> AsyncIterator[list[bytes]]:
    """Ids of the URLs that wait for a visit, host by host."""
    for partition in range(frontier.partitions):
        prefix = keys.namespace_prefix(partition, frontier.namespace)
        for list_ in range(LISTS):
            for host_id in await frontier.command("ZRANGE", keys.ready(prefix, list_), 0, -1):
                yield await frontier.command("ZRANGE", keys.queue(prefix, list_, host_id), 0, -1)


async def engaged_ids(frontier: Frontier) -> AsyncIterator[list[bytes]]:
    """Ids of the URLs that a worker has or had: leased, suspect, quarantined."""
    for partition in range(frontier.partitions):
        prefix = keys.namespace_prefix(partition, frontier.namespace)
        yield await frontier.command("ZRANGE", keys.leases(prefix), 0, -1)
        yield await frontier.command("ZRANGE", keys.suspects(prefix), 0, -1)
        yield await frontier.command("HKEYS", keys.quarantine(prefix))


async def count_members(frontier: Frontier) -> int:
    waiting = [len(ids) async for ids in waiting_ids(frontier)]
    engaged = [len(ids) async for ids in engaged_ids(frontier)]
    return sum(waiting) + sum(engaged)


async def _shelve(frontier: Frontier, finds: Sequence[Find]) -> int:
    by_partition: dict[int, list[Find]] = defaultdict(list)
    for find in finds:
        by_partition[find.place.host.partition].append(find)
    calls = [
        frontier.run_kept("shelve", partition, *_words(batch[start : start + BATCH]))
        for partition, batch in by_partition.items()
        for start in range(0, len(batch), BATCH)
    ]
    return sum(sum(replies) for replies in await asyncio.gather(*calls))


def _words(finds: Sequence[Find]) -> list[bytes | str]:
    places = ((find.place, find.packed) for find in finds)
    return [word for place, packed in places for word in (place.id, place.host.id, place.host.name, packed)]


def _places_key(frontier: Frontier) -> bytes:
    return keys.places(home_prefix(frontier))

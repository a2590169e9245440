"""Many records at one glance, for decisions that hang on more than one page."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from incrawl.core.records import UrlRecord
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.packing import read

BATCH = 200  # ids and hosts in one script call


@dataclass(frozen=True, slots=True)
class Glance:
    """A record, and its due time if it is waiting for a visit."""

    record: UrlRecord
    due: float | None


async def look_many(frontier: Frontier, urls: Iterable[str]) -> list[Glance]:
    """What is known of many URLs; those that are not known are left out."""
    by_partition: dict[int, list[bytes]] = defaultdict(list)
    for place in {frontier.place(url) for url in urls}:
        by_partition[place.host.partition] += (place.id, place.host.id)
    calls = [
        frontier.run("look_many", partition, *ids[start : start + BATCH])
        for partition, ids in by_partition.items()
        for start in range(0, len(ids), BATCH)
    ]
    return [
        Glance(record, None if reply[at + 1] < 0 else reply[at + 1] / 1000)
        for reply in await asyncio.gather(*calls)
        for at in range(0, len(reply), 2)
        if reply[at] and (record := read(reply[at])) is not None
    ]

"""Puts URLs back into a frontier that a back-up or the repository knows, with their due times."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from incrawl.frontier.frontier import Frontier
from incrawl.frontier.packing import unpack
from incrawl.frontier.places import place_url

NEVER, QUARANTINED = -1, -2
BATCH = 100


@dataclass(frozen=True, slots=True)
class Adopted:
    """A packed record and when it is due: server's time in ms, or NEVER, or QUARANTINED."""

    packed: bytes
    due: int


async def adopt(frontier: Frontier, pages: Iterable[Adopted]) -> int:
    """Makes the pages known as they are; known ones are left alone. Returns how many were not known."""
    by_partition: dict[int, list[Any]] = defaultdict(list)
    for page in pages:
        place = place_url(unpack(page.packed).url, frontier.partitions)
        by_partition[place.host.partition].append(
            (place.id, place.host.id, place.host.name, page.packed, page.due)
        )
    counts = await asyncio.gather(
        *(
            frontier.run("adopt", partition, *(word for entry in entries[at : at + BATCH] for word in entry))
            for partition, entries in by_partition.items()
            for at in range(0, len(entries), BATCH)
        )
    )
    return sum(counts)

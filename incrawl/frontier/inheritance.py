"""A page that has moved: its new address takes over its record.

The two addresses may lie in different partitions, so this is a write of its own, made before the visit
of the old address is completed. Made twice, or by two workers, it is made once: an address that has been
visited takes over nothing.
"""

from __future__ import annotations

from incrawl.core.records import UrlRecord
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.packing import pack, unpack


async def inherit(frontier: Frontier, record: UrlRecord, delay: float | None) -> bool:
    """Whether `record.url` has taken over the record: not if it has a history of its own or is leased."""
    place = frontier.place(record.url)
    where = (place.host.partition, place.id, place.host.id)
    known = await frontier.run("look", *where)
    before = b"" if known is None else bytes(known[0])
    if before:
        there = unpack(before)
        if there.visits > 0:
            return False
        record = record._replace(level=max(record.level, there.level))
    after = pack(record)
    ms = -1 if delay is None else max(0, round(delay * 1000))
    if any(await frontier.run_kept("inherit", *where, place.host.name, before, after, ms)):
        return True
    # The server may have gone away after the write and before its answer: then it was ours.
    known = await frontier.run("look", *where)
    return known is not None and known[0] == after

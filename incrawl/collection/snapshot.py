"""What a ranking leaves for all workers: the values that policies read, and when they were taken."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import msgpack

from incrawl.core.refresh.policy import Collection
from incrawl.frontier import shared
from incrawl.frontier.frontier import Frontier


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`time` is that of the server, `number` counts the rankings."""

    collection: Collection = Collection()
    time: float | None = None  # None: never ranked
    number: int = 0

    def pack(self) -> bytes:
        packed: bytes = msgpack.packb(asdict(self))
        return packed

    @classmethod
    def unpack(cls, data: bytes) -> Snapshot:
        """Fields that this version does not know are left out; those it misses have their defaults."""
        values: dict[str, Any] = msgpack.unpackb(data, use_list=False)
        known = {item.name for item in fields(Collection)}
        collection = {name: value for name, value in values["collection"].items() if name in known}
        return cls(Collection(**collection), values["time"], values["number"])


async def load(frontier: Frontier) -> Snapshot:
    data = await shared.read_collection(frontier)
    return Snapshot() if data is None else Snapshot.unpack(data)


async def save(frontier: Frontier, snapshot: Snapshot) -> None:
    await shared.write_collection(frontier, snapshot.pack())

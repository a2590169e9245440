"""Writes what a batch job has found into records, while a crawl may be going on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from incrawl.core.records import UrlRecord
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier

PATIENCE = 30.0  # seconds that pages get which a worker has just now
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


@dataclass(frozen=True, slots=True)
class Amended:
    """How many records were written, and how many were with a worker all the time: left to the next job."""

    done: int = 0
    busy: int = 0


class Amender:
    """Takes new values for records, batch by batch, and in the end writes those that were busy meanwhile."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._done = 0
        self._busy: list[tuple[UrlRecord, dict[str, Any]]] = []  # never more than workers have pages

    async def amend(self, records: Iterable[tuple[UrlRecord, dict[str, Any]]]) -> None:
        """Sets fields of records to new values; those that have them already are left alone."""
        moved = [(record, new) for record, values in records if (new := _differing(record, values))]
        done = await asyncio.gather(*(self._amend(record, new) for record, new in moved))
        self._done += sum(done)
        self._busy += [each for each, was_done in zip(moved, done, strict=True) if not was_done]

    async def finish(self, patience: float = PATIENCE) -> Amended:
        """Tries those that were busy again and again, for a while."""
        deadline, pause = time.monotonic() + patience, FIRST_PAUSE
        while self._busy and time.monotonic() < deadline:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            again, self._busy = self._busy, []
            await self.amend(again)
        return Amended(self._done, len(self._busy))

    async def _amend(self, record: UrlRecord, changes: dict[str, Any]) -> bool:
        """Amends a record, also when a visit has ended since it was read; False while a worker has it."""
        if await operations.amend(self._frontier, record, **changes):
            return True
        known = await operations.look(self._frontier, record.url)
        if known is None:
            return True  # forgotten meanwhile
        return known.state != "leased" and await operations.amend(self._frontier, known.record, **changes)


def _differing(record: UrlRecord, values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if getattr(record, name) != value}

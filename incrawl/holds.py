"""Leaves a host in peace, for all workers, and remembers how often that was needed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from incrawl.core.retry_after import hold_time

if TYPE_CHECKING:
    from incrawl.worker import Worker

MEMORY = 24 * 3600.0  # seconds after its latest trouble in which a host's next one counts as another in a row
_NAME = "troubles"


async def hold_host(worker: Worker, host: str, reason: str, retry_after: str = "") -> float:
    """Blocks a host for as long as it asks, else for longer each time; returns the seconds."""
    frontier = worker.frontier
    times = await troubles(worker, host) + 1
    await frontier.cache_set(host, _NAME, str(times).encode(), MEMORY)
    seconds = hold_time(retry_after, times, random.random(), frontier.now())
    await frontier.block_host(host, seconds, reason)
    return seconds


async def troubles(worker: Worker, host: str) -> int:
    """How many times in a row a host has been held."""
    known = await worker.frontier.cache_get(host, _NAME)
    return int(known) if known and known.isdigit() else 0

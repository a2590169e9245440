"""What all workers of a namespace share besides its pages: the budget, values of the collection as a
whole, and who is at a batch job. It lives in one partition, the namespace's home."""

from __future__ import annotations

from dataclasses import dataclass

from incrawl.core.urls import partition_of
from incrawl.core.values import Rate
from incrawl.frontier import keys
from incrawl.frontier.frontier import Frontier


def home(frontier: Frontier) -> int:
    return partition_of(frontier.namespace, frontier.partitions)


def home_prefix(frontier: Frontier) -> bytes:
    return keys.namespace_prefix(home(frontier), frontier.namespace)


async def read_collection(frontier: Frontier) -> bytes | None:
    """What a batch job has written last; None before the first one."""
    value: bytes | None = await frontier.command("GET", keys.collection(home_prefix(frontier)))
    return value


async def write_collection(frontier: Frontier, value: bytes) -> None:
    await frontier.command("SET", keys.collection(home_prefix(frontier)), value)


async def read_filters(frontier: Frontier) -> bytes:
    """The digest of the filters that the pages were last sorted by; empty where there were none."""
    return bytes(await frontier.command("GET", keys.filters(home_prefix(frontier))) or b"")


async def write_filters(frontier: Frontier, digest: bytes) -> None:
    await frontier.command("SET", keys.filters(home_prefix(frontier)), digest)


async def claim(frontier: Frontier, job: str, token: bytes, seconds: float) -> bool:
    """Takes or keeps a job for that long (0: gives it back); False when another worker is at it."""
    return bool(await frontier.run("claim", home(frontier), job, token, round(seconds * 1000)))


@dataclass(frozen=True, slots=True)
class Spending:
    """The answer of the budget. `stamp` names the time at which the granted requests were counted."""

    granted: int
    stamp: bytes
    left: int  # may be sent now
    wait: float  # seconds until more may be sent; 0 while some are left


async def spend(frontier: Frontier, budget: Rate, wanted: int, stamp: bytes = b"") -> Spending:
    """Takes up to `wanted` requests out of the budget; none wanted only asks what is left.

    With the `stamp` of an earlier request: moves it to now (wanted 1), or takes it back (wanted 0).
    """
    granted, counted_at, left, wait_ms = await frontier.run(
        "spend", home(frontier), budget.count, round(budget.span * 1000), wanted, stamp
    )
    return Spending(granted, counted_at, left, wait_ms / 1000)

"""The frontier alone: speed of its verbs and memory per URL, on one server and one client process.

    python benchmarks/frontier.py [--urls 1000000] [--small 10000]

Speeds depend on the machine; the cost of a lease is also given as a ratio, large frontier to small.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from incrawl.core.records import Observation, UrlRecord
from incrawl.core.urls import url_id
from incrawl.frontier.connection import connect_embedded
from incrawl.frontier.embedded import stop_server
from incrawl.frontier.frontier import Ending, Find, Frontier
from incrawl.frontier.packing import pack_new
from incrawl.frontier.places import UrlPlace, place_host

HOSTS = 200
BATCH = 5_000
LEASES = 100
HISTORY = tuple(Observation(random.Random(n).uniform(600, 1e6), n % 3 == 0) for n in range(20))


def url_of(number: int) -> str:
    """A URL of 70 characters."""
    return f"https://host{number % HOSTS:03d}.example.com/section/page-number-{number:08d}/index.html"[:70]


def finds(frontier: Frontier, numbers: range) -> list[Find]:
    """URLs ready for discovery; their ids are worked out here, as a crawl does while it parses."""
    made = []
    for number in numbers:
        url = url_of(number)
        host = place_host(f"host{number % HOSTS:03d}.example.com", frontier.partitions)
        made.append(Find(url, UrlPlace(url_id(url), host), pack_new(url, 2)))
    return made


async def discover(frontier: Frontier, batches: Iterator[list[Find]]) -> float:
    """URLs per second, without the time it takes to make the batches."""
    count, spent = 0, 0.0
    for batch in batches:
        started = time.perf_counter()
        await frontier.discover(batch)
        spent += time.perf_counter() - started
        count += len(batch)
    return count / spent


def batches(frontier: Frontier, count: int) -> Iterator[list[Find]]:
    return (finds(frontier, range(at, min(at + BATCH, count))) for at in range(0, count, BATCH))


async def used(client: Any) -> int:
    return int((await client.info("memory"))["used_memory"])


def visited(record: UrlRecord) -> UrlRecord:
    """The record after 20 visits."""
    return UrlRecord(
        record.url,
        level=2,
        refresh_time=86400 * 3.21,
        last_crawl=time.time(),
        document="20261118T070728Z-d68d",
        fingerprint=random.randbytes(8),
        size=20481,
        type="text/html",
        visits=21,
        changes=7,
        history=HISTORY,
    )


async def lease_and_complete(frontier: Frontier, count: int) -> tuple[float, float]:
    """Pages per second through lease and complete, and seconds per lease."""
    done, leasing, spent = 0, 0.0, 0.0
    while done < count:
        started = time.perf_counter()
        grants = await asyncio.gather(*(frontier.lease(p, LEASES) for p in range(frontier.partitions)))
        leasing += time.perf_counter() - started
        leases = [lease for grant in grants for lease in grant.leases]
        if not leases:
            break
        endings = [Ending(lease, visited(lease.record), 86400.0 * 9, 0.0) for lease in leases]
        started = time.perf_counter()
        await frontier.complete_all(endings)
        spent += time.perf_counter() - started
        done += len(leases)
    return done / (leasing + spent), leasing / done


async def measure(urls: int, state: Path) -> dict[str, float]:
    client = await connect_embedded(state)
    frontier = await Frontier.open(client, "incrawl/incremental", gap=0)
    await frontier.begin()
    empty = await used(client)
    new = await discover(frontier, batches(frontier, urls))
    known_bytes = (await used(client) - empty) / urls
    known = await discover(frontier, batches(frontier, min(urls, 200_000)))
    rate, lease_cost = await lease_and_complete(frontier, min(urls, 50_000))
    if urls > 50_000:
        await lease_and_complete(frontier, urls - 50_000)
    visited_bytes = (await used(client) - empty) / urls
    await frontier.close()
    return {
        "new": new,
        "known": known,
        "rate": rate,
        "lease": lease_cost,
        "known_bytes": known_bytes,
        "visited_bytes": visited_bytes,
    }


def run(urls: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="incrawl-bench") as folder:
        try:
            return asyncio.run(measure(urls, Path(folder)))
        finally:
            stop_server(Path(folder))


def show(results: dict[int, dict[str, float]]) -> None:
    table = Table(title="The frontier alone")
    table.add_column("")
    for urls in results:
        table.add_column(f"{urls:,} URLs", justify="right")
    rows = {
        "discover new URLs, per second": ("new", "{:,.0f}"),
        "discover known URLs, per second": ("known", "{:,.0f}"),
        "lease + complete, per second": ("rate", "{:,.0f}"),
        "one lease, µs": ("lease", "{:.1f}"),
        "memory, known, bytes per URL": ("known_bytes", "{:.0f}"),
        "memory, after 20 visits, bytes per URL": ("visited_bytes", "{:.0f}"),
    }
    for label, (key, form) in rows.items():
        scale = 1e6 if key == "lease" else 1
        table.add_row(label, *(form.format(result[key] * scale) for result in results.values()))
    Console().print(table)
    sizes = sorted(results)
    ratio = results[sizes[-1]]["lease"] / results[sizes[0]]["lease"]
    Console().print(f"A lease at {sizes[-1]:,} URLs costs {ratio:.2f} × one at {sizes[0]:,}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--small", type=int, default=10_000)
    options = parser.parse_args()
    show({size: run(size) for size in (options.small, options.urls)})

"""The frontier alone: speed of its verbs and memory per URL, on one server and one client process.

    python benchmarks/frontier.py [--urls 1000000]

Speeds depend on the machine, and on who else uses it: the yardstick, a bare write of the same bytes by the
same client to the same server, tells how fast it was meanwhile. What a lease costs in a large frontier and in
a small one is measured by turns, with both servers running, of pages that have been visited before in both.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aims import tell
from rich.console import Console
from rich.table import Table

from incrawl.core.records import Observation, UrlRecord
from incrawl.core.urls import url_id
from incrawl.frontier.connection import connect_embedded
from incrawl.frontier.embedded import stop_server
from incrawl.frontier.frontier import Ending, Find, Frontier, Lease
from incrawl.frontier.packing import pack
from incrawl.frontier.places import HostPlace, UrlPlace, place_host

HOSTS = 200
SMALL = 10_000  # URLs of the frontier that the other one is compared with
ROUNDS = 20  # of leases by turns in the two
BATCH = 5_000
LEASES = 100
MADE_AHEAD = 50_000  # URLs whose ids are worked out while the clock stands
AT_ONCE = 4  # tasks, or calls for each partition, under way: client and server work at the same time
YARDSTICK = 16_000  # records
SAMPLE = 50_000  # pages that are leased and completed to see how long that takes
HISTORY = tuple(Observation(random.Random(n).uniform(600, 1e6), n % 3 == 0) for n in range(20))


def url_of(number: int) -> str:
    """A URL of 70 characters."""
    return f"https://host{number % HOSTS:03d}.example.com/section/page-number-{number:011d}/index.html"


BEFORE_NEW = pack(UrlRecord(url_of(0), level=2)).removesuffix(url_of(0).encode())


def finds(frontier: Frontier, numbers: range) -> list[Find]:
    """URLs ready for discovery; their ids are worked out here, as a crawl does while it parses."""
    made = []
    for number in numbers:
        url = url_of(number)
        host = place_host(f"host{number % HOSTS:03d}.example.com", frontier.partitions)
        made.append(Find(url, UrlPlace(url_id(url), host), BEFORE_NEW + url.encode()))
    return made


@dataclass
class Cost:
    """What one step of the benchmark takes, all calls together."""

    client: Any
    count: int = 0
    wall: float = 0.0
    cpu: float = 0.0  # of this process
    server: float = 0.0  # CPU of the server

    async def of(self, step: Awaitable[Any]) -> Any:
        server, cpu, wall = await self._server_cpu(), time.process_time(), time.perf_counter()
        result = await step
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu
        self.server += await self._server_cpu() - server
        return result

    async def _server_cpu(self) -> float:
        used = await self.client.info("cpu")
        return float(used["used_cpu_user"] + used["used_cpu_sys"])

    @property
    def rate(self) -> float:
        return self.count / self.wall

    def row(self) -> str:
        cpu, server = (value / self.count * 1e6 for value in (self.cpu, self.server))
        return f"{self.rate:>9,.0f}/s {server:6.1f} + {cpu:.1f} µs"


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


async def discover(frontier: Frontier, count: int, cost: Cost) -> None:
    """Discovers URLs, a few batches under way at once: one is packed while the server is at another."""
    for start in range(0, count, MADE_AHEAD):
        made = finds(frontier, range(start, min(start + MADE_AHEAD, count)))
        batches = (made[at : at + BATCH] for at in range(0, len(made), BATCH))
        await cost.of(side_by_side(*(each_in_turn(frontier.discover, batches) for _ in range(AT_ONCE))))
        cost.count += len(made)


async def each_in_turn(step: Callable[[list[Find]], Awaitable[Any]], batches: Iterator[list[Find]]) -> None:
    for batch in batches:
        await step(batch)


async def side_by_side(*tasks: Awaitable[None]) -> None:
    await asyncio.gather(*tasks)


async def yardstick(client: Any, cost: Cost) -> None:
    """What the server and its client need for the least there is: a record into a hash, 100 in a pipeline."""

    async def write(numbers: Iterator[int]) -> None:
        for first in numbers:
            pipeline = client.pipeline(transaction=False)
            for number in range(first, first + LEASES):
                pipeline.hset(b"yardstick:%d" % (number % 1000), b"%012d" % number, SOME)
            await pipeline.execute()

    numbers = iter(range(0, YARDSTICK, LEASES))
    await cost.of(side_by_side(*(write(numbers) for _ in range(AT_ONCE))))
    cost.count += YARDSTICK
    await client.delete(*(b"yardstick:%d" % number for number in range(1000)))


async def settle(client: Any) -> None:
    """Waits while the server rewrites its log, during which every page of memory that it touches is copied.
    From now on it rewrites no more: what is measured next would depend on when it does."""
    await client.config_set("auto-aof-rewrite-percentage", 0)
    while (await client.info("persistence"))["aof_rewrite_in_progress"]:  # noqa: ASYNC110
        await asyncio.sleep(0.2)


async def work(frontier: Frontier, count: int, lease: Cost, complete: Cost) -> None:
    """Leases pages and completes them by turns, a hundred in a call, to see what each of the two costs."""
    calls = [*range(frontier.partitions)] * AT_ONCE
    while lease.count < count:
        asked = (frontier.lease(partition, LEASES) for partition in calls)
        leases = [each for grant in await lease.of(asyncio.gather(*asked)) for each in grant.leases]
        if not leases:
            raise SystemExit(f"only {lease.count} of {count} pages were due")
        await complete.of(frontier.complete_all(endings(leases)))
        lease.count += len(leases)
        complete.count += len(leases)


async def lease_by_turns(small: Frontier, large: Frontier, rounds: int) -> float:
    """What a lease costs the large frontier's server; the small one's = 1."""
    costs = {frontier: Cost(frontier.client) for frontier in (small, large)}
    for _ in range(rounds):
        for frontier, cost in costs.items():
            await frontier.begin()
            asked = (frontier.lease(partition, LEASES) for partition in range(frontier.partitions))
            leases = [each for grant in await cost.of(asyncio.gather(*asked)) for each in grant.leases]
            cost.count += len(leases)
            await frontier.complete_all(endings(leases))
    in_small, in_large = (cost.server / cost.count for cost in costs.values())
    return in_large / in_small


async def work_side_by_side(frontier: Frontier, count: int, cost: Cost) -> None:
    """The same at the same time: while the next pages are leased, those before them are completed."""
    calls = [*range(frontier.partitions)] * AT_ONCE
    leases: list[Lease] = []
    while cost.count < count:
        ended = endings(leases)  # what the pages' visits have found: made while the clock stands
        asked = (frontier.lease(partition, LEASES) for partition in calls)
        *grants, _ = await cost.of(asyncio.gather(*asked, frontier.complete_all(ended)))
        leases = [each for grant in grants for each in grant.leases]
        cost.count += len(ended)
        if not ended and not leases:
            return  # no more pages are due
    await frontier.complete_all(endings(leases))


def endings(leases: list[Lease]) -> list[Ending]:
    """Ends of visits whose pages are due again in the next run."""
    return [Ending(each, visited(each.record), 0.0, 0.0) for each in leases]


SOME = pack(visited(UrlRecord(url_of(0))))


async def visit_all(frontier: Frontier, urls: int) -> None:
    await work_side_by_side(frontier, urls, Cost(frontier.client))
    await asyncio.sleep(1.1)  # hosts without any page of this run are looked at again after a second


async def look(frontier: Frontier, rounds: int, cost: Cost) -> None:
    """Looks at partitions that have nothing to give, as idle workers do."""
    looked_at = [*range(frontier.partitions)] * 20
    for _ in range(rounds):
        asked = (frontier.lease(partition, 1, wait=60) for partition in looked_at)
        await cost.of(asyncio.gather(*asked))
        cost.count += len(looked_at)


async def reserve(frontier: Frontier, rounds: int, cost: Cost) -> None:
    """Reserves hosts and frees them, as redirects and robots.txt do."""
    hosts = [frontier.place_host(f"reserved{number}.example.com") for number in range(64)]

    async def once(place: HostPlace) -> None:
        token = random.randbytes(8)
        await frontier.reserve_host(place, token)
        await frontier.free_host(place, token, 0.0)

    for _ in range(rounds):
        await cost.of(asyncio.gather(*map(once, hosts)))
        cost.count += len(hosts)


async def warm_up(client: Any) -> Frontier:
    """The server has seen all scripts before anything is measured; in this frontier nothing is due."""
    other = await Frontier.open(client, "warm/up", gap=0)
    await other.begin()
    await other.discover(finds(other, range(HOSTS)))
    await work(other, HOSTS, Cost(client), Cost(client))
    return other


async def measure(urls: int, state: Path, small_state: Path | None = None) -> dict[str, Any]:
    """`small_state`: the directory of a server for a small frontier to be measured beside this one."""
    client = await connect_embedded(state)
    frontier = await Frontier.open(client, "incrawl/incremental", gap=0)
    await frontier.begin()
    idle = await warm_up(client)
    names = ("yardstick", "new", "known", "both", "lease", "complete", "look", "reserve")
    cost = {name: Cost(client) for name in names}
    await yardstick(client, cost["yardstick"])
    empty = await used(client)
    await discover(frontier, urls, cost["new"])
    known_bytes = (await used(client) - empty) / urls
    await settle(client)
    await discover(frontier, min(urls, 200_000), cost["known"])
    await work(frontier, min(urls // 4, SAMPLE), cost["lease"], cost["complete"])
    await work_side_by_side(frontier, min(urls // 4, SAMPLE), cost["both"])
    for name, each in cost.items():
        if each.count:
            print(f"{urls:,} URLs: {name} {each.row()}", file=sys.stderr)
    await visit_all(frontier, urls)
    visited_bytes = (await used(client) - empty) / urls
    ratio = await beside_a_small_one(frontier, small_state) if small_state else 1.0
    await look(idle, 5, cost["look"])
    await reserve(frontier, 20, cost["reserve"])
    await frontier.close()
    return {**cost, "known_bytes": known_bytes, "visited_bytes": visited_bytes, "lease_ratio": ratio}


async def beside_a_small_one(large: Frontier, state: Path) -> float:
    small = await Frontier.open(await connect_embedded(state), "incrawl/incremental", gap=0)
    await small.begin()
    await discover(small, SMALL, Cost(small.client))
    await visit_all(small, SMALL)
    await settle(small.client)
    await lease_by_turns(small, large, 2)
    ratio = await lease_by_turns(small, large, ROUNDS)
    await small.close()
    return ratio


def run(urls: int, *, beside_small: bool = False) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="incrawl-bench") as folder:
        large, small = (Path(folder) / name for name in ("a", "b"))
        try:
            return asyncio.run(measure(urls, large, small if beside_small else None))
        finally:
            stop_server(large)
            stop_server(small)


def show(results: dict[str, dict[str, Any]]) -> None:
    table = Table(title="The frontier alone: calls per second; CPU of server + client for each")
    table.add_column("")
    for urls in results:
        table.add_column(f"{urls} URLs", justify="right")
    rows = {
        "yardstick: HSET of a record": lambda result: result["yardstick"].row(),
        "discover new URLs": lambda result: result["new"].row(),
        "discover known URLs": lambda result: result["known"].row(),
        "lease": lambda result: result["lease"].row(),
        "complete": lambda result: result["complete"].row(),
        "lease + complete": lambda result: result["both"].row(),
        "look in vain at a partition": lambda result: result["look"].row(),
        "reserve and free a host": lambda result: result["reserve"].row(),
        "memory of a known URL": lambda result: f"{result['known_bytes']:.0f} bytes",
        "memory after 20 visits": lambda result: f"{result['visited_bytes']:.0f} bytes",
    }
    for label, text in rows.items():
        table.add_row(label, *(text(result) for result in results.values()))
    Console(width=110).print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=1_000_000)
    options = parser.parse_args()
    small, large = run(SMALL), run(options.urls, beside_small=True)
    show({f"{SMALL:,}": small, f"{options.urls:,}": large})
    there = f"at {options.urls:,} URLs"
    tell(f"new URLs a second {there}", large["new"].rate, least=50_000)
    tell(f"known URLs a second {there}", large["known"].rate, least=150_000)
    tell(f"pages leased and completed a second {there}", large["both"].rate, least=20_000)
    tell(f"bytes of a known URL {there}", large["known_bytes"], most=250)
    tell(f"bytes after 20 visits {there}", large["visited_bytes"], most=300)
    tell(f"a lease {there}, by turns; at {SMALL:,} = 1", large["lease_ratio"], most=1.2)

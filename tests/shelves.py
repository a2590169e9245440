"""A frontier and its repository, filled without a crawl, for tests of what is done to all pages together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrawl.collection.job import Ranked, RankingJob
from incrawl.core.records import Outcome, UrlRecord
from incrawl.frontier import operations
from incrawl.frontier.connection import connect_embedded
from incrawl.frontier.frontier import Frontier, Lease
from incrawl.repository import Repository, Sidecar


@dataclass
class Shelf:
    """A frontier and its repository, filled without a crawl."""

    state_dir: Path
    namespace: str

    @property
    def repository(self) -> Repository:
        return Repository(self.state_dir / self.namespace, self.namespace)

    def ask(self, question: Callable[[Frontier], Awaitable[Any]], **options: Any) -> Any:
        async def asked() -> Any:
            client = await connect_embedded(self.state_dir)
            frontier = await Frontier.open(client, self.namespace, gap=0, **options)
            try:
                return await question(frontier)
            finally:
                await frontier.close()

        return asyncio.run(asked())

    def visit(self, pages: dict[str, Iterable[str]], request: str = "", **facts: Any) -> None:
        """Makes the pages known and visits them: each gets a version with these links."""

        async def work(frontier: Frontier) -> None:
            await frontier.discover(frontier.find(UrlRecord(url, request=request)) for url in pages)
            await asyncio.gather(*(operations.reschedule(frontier, url, 0.0) for url in pages))
            await frontier.begin()
            leases = await take_all(frontier)
            after = [
                lease.record._replace(document=self.store(lease.record, pages[lease.record.url], **facts))
                for lease in leases
            ]
            await asyncio.gather(
                *(
                    frontier.complete(lease, record, delay=3600.0, since_response=None)
                    for lease, record in zip(leases, after, strict=True)
                )
            )

        self.ask(work)

    def store(self, record: UrlRecord, links: Iterable[str], **facts: Any) -> str:
        repository = self.repository
        outcome = Outcome.CHANGED if record.document else Outcome.NEW
        sidecar = Sidecar(url=record.url, time=1e9, outcome=outcome, links=tuple(links), **facts)
        staged = repository.stage(sidecar, b"<title>A page</title>")
        repository.promote(staged)
        return staged.run

    def rank(self, **options: Any) -> Ranked:
        shown = options.pop("shown", 0)
        ranked: Ranked = self.ask(lambda f: RankingJob(f, self.repository, **options).run(shown=shown))
        return ranked

    def records(self) -> dict[str, UrlRecord]:
        async def read(frontier: Frontier) -> dict[str, UrlRecord]:
            return {record.url: record async for record in operations.records(frontier)}

        found: dict[str, UrlRecord] = self.ask(read)
        return found


async def take_all(frontier: Frontier) -> list[Lease]:
    leases: list[Lease] = []
    for partition in range(frontier.partitions):
        while found := (await frontier.lease(partition, 100)).leases:
            leases += found
    return leases


def page(number: int) -> str:
    return f"http://site{number % 7}.test/page/{number}"

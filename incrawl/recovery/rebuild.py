"""Rebuilds a frontier from the repository alone: pages with their history first, then their links.

Journals are read newest first, so a page is met at its current version; the frontier itself says
which pages it knows by then. What is known is left alone: a rebuild can be repeated at any time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from incrawl.core.links import inside_site
from incrawl.core.records import UrlRecord
from incrawl.frontier import operations
from incrawl.frontier.adoption import Adopted, adopt
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.operations import Known
from incrawl.recovery.replay import Replay
from incrawl.repository import Change, Repository, Sidecar

BATCH = 200


@dataclass(frozen=True, slots=True)
class Rebuilt:
    pages: int  # with documents, not known to the frontier before
    links: int  # pages that were known by a link only


async def rebuild(frontier: Frontier, repository: Repository, replay: Replay) -> Rebuilt:
    """Makes all known that the repository knows; pages are due when they were, links at once."""
    await repository.sweep(partial(_is_wanted, frontier))
    pages = 0
    async for changes, found in _batches(frontier, repository):
        missing: dict[str, Change] = {}
        for change, known in zip(changes, found, strict=True):
            if known is None:
                missing.setdefault(change.url, change)
        pages += await adopt(frontier, await asyncio.to_thread(_replayed, replay, missing.values()))
    links = 0
    async for changes, found in _batches(frontier, repository):
        for change, known in zip(changes, found, strict=True):
            if known is not None and known.record.document == change.run:
                links += await _follow(frontier, repository, change)
    return Rebuilt(pages, links)


async def _is_wanted(frontier: Frontier, url: str, run: str) -> bool:
    """Whether a version that was staged when its process died is a document all the same: where the frontier
    knows its page, if that has it."""
    known = await operations.look(frontier, url)
    return known is None or known.record.document == run


async def _batches(
    frontier: Frontier, repository: Repository
) -> AsyncIterator[tuple[list[Change], list[Known | None]]]:
    """All versions, newest first, and what the frontier knows of their pages."""
    changes = repository.changes()
    while batch := list(islice(changes, BATCH)):
        yield batch, await asyncio.gather(*(operations.look(frontier, change.url) for change in batch))


def _replayed(replay: Replay, changes: Iterable[Change]) -> list[Adopted]:
    pages = (replay.page(change.url, change.run) for change in changes)
    return [page for page in pages if page is not None]


async def _follow(frontier: Frontier, repository: Repository, change: Change) -> int:
    sidecar = await asyncio.to_thread(repository.sidecar, change.url, change.run)
    if sidecar is None:
        return 0
    return await frontier.discover([frontier.find(record) for record in _linked(sidecar)])


def _linked(sidecar: Sidecar) -> Iterator[UrlRecord]:
    """The pages that a page asked for: by an add-on spider's requests, or by links one level down."""
    if sidecar.requests:
        asked = zip(sidecar.links, sidecar.requests, strict=True)
        yield from (UrlRecord(link, request=request) for link, request in asked)
    elif sidecar.level > 0:
        for link in inside_site(sidecar.url, sidecar.links):
            yield UrlRecord(link, sidecar.level - 1, pl=sidecar.pl, pg=sidecar.pg)

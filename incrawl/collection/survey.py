"""Reads what a ranking needs of all pages, in two passes over the records, into arrays by page number."""

from __future__ import annotations

import asyncio
import math
from array import array
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrawl.collection.graph import LinkGraph
from incrawl.collection.numbers import PageNumbers, short_id
from incrawl.core.records import UrlRecord
from incrawl.core.sitemaps import REQUEST as SITEMAP_REQUEST
from incrawl.core.values import parse_http_date
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.packing import read
from incrawl.repository import Repository

BATCH = 256  # pages whose sidecars are read in one go, in a thread


class Entry(NamedTuple):
    """A record as the frontier keeps it."""

    partition: int
    id: bytes
    record: UrlRecord


@dataclass(slots=True)
class Survey:
    """All known pages, by page number."""

    pages: PageNumbers
    graph: LinkGraph
    partitions: NDArray[np.uint16]
    stored: NDArray[np.bool_]  # has a document
    may_enter: NDArray[np.bool_]  # if it is at rest, then not for good: `may_enter`
    listings: NDArray[np.bool_]  # sitemaps and feeds: visited, but no pages of the collection
    modified: NDArray[np.float64]  # Last-Modified of the current version, Unix seconds; NaN: unknown

    @classmethod
    def empty(cls, pages: PageNumbers) -> Survey:
        count = len(pages)
        unknown = np.full(count, math.nan)
        partitions = np.zeros(count, dtype=np.uint16)
        stored, may_enter, listings = (np.zeros(count, dtype=bool) for _ in range(3))
        return cls(pages, LinkGraph(pages), partitions, stored, may_enter, listings, unknown)


async def take_survey(frontier: Frontier, repository: Repository) -> Survey:
    """The current versions' links and dates. Pages that come meanwhile are left to the next survey."""
    survey = Survey.empty(await number_pages(frontier))
    async for batch in batches(frontier):
        await asyncio.to_thread(_add, survey, repository, batch)
    return survey


async def number_pages(frontier: Frontier) -> PageNumbers:
    ids = array("Q")
    async for _, packed in operations.buckets(frontier):
        ids.extend(map(short_id, packed))
    return PageNumbers(ids)


async def batches(frontier: Frontier) -> AsyncIterator[list[Entry]]:
    """All records, about `BATCH` at a time; one that moves meanwhile may come twice."""
    batch: list[Entry] = []
    async for partition, packed in operations.buckets(frontier):
        batch.extend(
            Entry(partition, url_id, record)
            for url_id, data in packed.items()
            if (record := read(data)) is not None
        )
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def numbered(pages: PageNumbers, batch: Iterable[Entry]) -> Iterator[tuple[int, Entry]]:
    """The entries that have a number."""
    for entry in batch:
        number = pages.of(short_id(entry.id))
        if number is not None:
            yield number, entry


def may_enter(record: UrlRecord) -> bool:
    """Whether a page at rest was only put aside: not gone, and not one that is never to be visited."""
    never = record.visits > 0 and record.refresh_time is None
    return record.failures == 0 and not never


def _add(survey: Survey, repository: Repository, batch: list[Entry]) -> None:
    for number, entry in numbered(survey.pages, batch):
        survey.partitions[number] = entry.partition
        record = entry.record
        survey.may_enter[number] = may_enter(record)
        survey.listings[number] = record.request == SITEMAP_REQUEST
        if record.document is None or survey.listings[number]:
            continue
        sidecar = repository.sidecar(record.url, record.document)
        if sidecar is not None:
            survey.stored[number] = True
            survey.graph.add(number, sidecar.links)
            modified = parse_http_date(sidecar.last_modified)
            survey.modified[number] = math.nan if modified is None else modified

"""Writes into the records how much readers care for each page: its interest, 0…1 (paper 001).

A record without any log has no interest at all (None); one that nobody in the log asked for has 0.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrawl.collection.amending import Amended, Amender
from incrawl.collection.numbers import short_id
from incrawl.collection.survey import batches
from incrawl.core.urls import url_id
from incrawl.frontier.frontier import Frontier

DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Interests:
    """From a page's number of users to its interest, as `core.ranking.interest.percentiles` has it."""

    sorted_users: NDArray[np.int64]  # of all pages of the collection

    def of(self, users: int) -> float:
        """The share of the other pages of the collection that have fewer users."""
        fewer = int(np.searchsorted(self.sorted_users, users))
        return round(min(fewer / max(len(self.sorted_users) - 1, 1), 1.0), DECIMALS)


@dataclass(frozen=True, slots=True)
class ReadersWritten:
    pages: int  # in the collection
    asked_for: int  # of them, pages with readers
    amended: Amended


async def write_interest(frontier: Frontier, users: Mapping[str, int]) -> ReadersWritten:
    """`users`: canonical URL → distinct users. The collection is all pages that have a document."""
    asked = {short_id(url_id(url)): count for url, count in users.items()}
    counts = array("q")
    async for batch in batches(frontier):
        counts.extend(asked.get(short_id(entry.id), 0) for entry in batch if entry.record.document)
    interests = Interests(np.sort(np.array(counts, dtype=np.int64)))
    amender = Amender(frontier)
    async for batch in batches(frontier):
        await amender.amend(
            (entry.record, {"interest": interests.of(asked.get(short_id(entry.id), 0))}) for entry in batch
        )
    readers = int((interests.sorted_users > 0).sum())
    return ReadersWritten(len(counts), readers, await amender.finish())

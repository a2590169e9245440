"""A filter file that has changed, applied to what is already known, at the next start.

Pages that it refuses leave the queue, with their history, and come back when another file accepts them.
The frontier remembers by which file its pages were last sorted; that is written last, so that a pass
which was cut short is made again. Counted as `incrawl/filters/left` and `…/returned`.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from incrawl.frontier import operations, shared

if TYPE_CHECKING:
    from incrawl.core.records import UrlRecord
    from incrawl.worker import Worker

logger = logging.getLogger(__name__)

FILTERS = "filters"  # what a record says that such a page is barred by
_JOB, _CLAIM = "filters", 600.0  # seconds: one worker at a time


async def apply_filters(worker: Worker) -> None:
    """Sorts all known pages anew where the filters are not those of the last time."""
    frontier, digest = worker.frontier, worker.admission.filters.digest
    if await shared.read_filters(frontier) == digest:
        return
    token = os.urandom(8)
    if not await shared.claim(frontier, _JOB, token, _CLAIM):
        return  # another worker is at it; until it is done, pages are stopped when they are due
    left = returned = 0
    async for record in operations.records(frontier):
        if not worker.admission.filters.accepts(record.url):
            left += await _bar(worker, record)
        elif record.barred == FILTERS:
            returned += await _return(worker, record)
    await shared.write_filters(frontier, digest)
    await shared.claim(frontier, _JOB, token, 0.0)
    worker.count("incrawl/filters/left", left)
    worker.count("incrawl/filters/returned", returned)
    if left or returned:
        logger.info("The filters have changed: %d known pages leave the queue, %d return", left, returned)


async def _bar(worker: Worker, record: UrlRecord) -> bool:
    """The mark comes first: without it nobody would know that the page may come back."""
    if record.barred and record.barred != FILTERS:
        return False  # out already, by another rule
    marked = record.barred == FILTERS or await operations.amend(worker.frontier, record, barred=FILTERS)
    return marked and await operations.reschedule(worker.frontier, record.url, None) == "moved"


async def _return(worker: Worker, record: UrlRecord) -> bool:
    moved = await operations.reschedule(worker.frontier, record.url, 0.0) == "moved"
    return moved and await operations.amend(worker.frontier, record, barred="")

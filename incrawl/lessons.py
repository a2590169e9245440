"""What the crawl learns from a visit that has ended, besides the page's own record.

Whether the host's validators and sitemaps tell the truth, whether its new pages are a trap, and whether
something is wrong with the host as a whole: a wave of errors pauses it, so that one bad day does not
retire its pages. Counted as `incrawl/waves/held`, `incrawl/lessons/failed`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING

from incrawl.core.records import COMPARED, Outcome
from incrawl.frontier.trapped import tell_traps
from incrawl.holds import hold_host

if TYPE_CHECKING:
    from incrawl.page_visit import PageVisit
    from incrawl.worker import Worker

logger = logging.getLogger(__name__)

WAVE = 10  # pages in a row that failed, or that were there and are gone or lead to another page
MAX_HOSTS = 10_000


class Lessons:
    """One per worker; `learn` is called once for each visit, after it was acknowledged."""

    def __init__(self, worker: Worker):
        self._worker = worker
        self._errors: OrderedDict[str, int] = OrderedDict()

    async def learn(self, visit: PageVisit, outcome: Outcome) -> None:
        """Never raises: the visit is over, and nothing that goes wrong here may undo it."""
        try:
            await self._learn(visit, outcome)
        except Exception:
            self._worker.count("incrawl/lessons/failed")
            logger.exception("Nothing could be learnt from the visit of %s", visit.url)

    async def _learn(self, visit: PageVisit, outcome: Outcome) -> None:
        worker, page = self._worker, visit.page
        await worker.trust.judge(visit, outcome)
        await worker.sitemaps.judge(visit, outcome)
        if outcome is Outcome.NEW and page is not None and page.analysis is not None:
            fresh = [find.url for find in visit.finds]
            trapped = worker.admission.saw_new_page(visit.url, page.analysis.texts, fresh)
            await tell_traps(worker.frontier, trapped, visit.url)
        if page is not None and page.sitemap is not None:
            await worker.sitemaps.bring_forward(page.sitemap, visit)
        await self._watch_for_waves(visit, outcome)

    async def _watch_for_waves(self, visit: PageVisit, outcome: Outcome) -> None:
        host = visit.host
        if outcome in COMPARED or outcome is Outcome.NEW:
            self._errors.pop(host, None)
        elif outcome is Outcome.FAILED or was_lost(visit, outcome):
            errors = self._errors.pop(host, 0) + 1
            if errors < WAVE:
                self._errors[host] = errors
                while len(self._errors) > MAX_HOSTS:
                    self._errors.popitem(last=False)
                return
            self._worker.count("incrawl/waves/held")
            await hold_host(self._worker, host, f"{WAVE} errors in a row")


def was_lost(visit: PageVisit, outcome: Outcome) -> bool:
    """Whether a page that was there is gone, or now leads to another one."""
    moved = visit.elsewhere is not None and visit.elsewhere.settled
    missing = outcome is Outcome.GONE or (outcome is Outcome.MOVED and not moved)
    return missing and visit.record.document is not None

"""Selective recrawl (paper 004): what a visit to a page means for the pages that it leads to.

A page that has not changed is still gone through when enough of its internal pages have changed since its
own last crawl: those that nobody has looked at since then are visited in this run. A page that changes
all the time while its internal pages stand still is fetched, but links that are new on it are left alone.
"""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING

from incrawl.core.links import inside_site
from incrawl.core.records import COMPARED, Outcome, Visit
from incrawl.core.refresh.selective import goes_through, internal_share
from incrawl.core.refresh.visit_frequency import VisitFrequency
from incrawl.frontier import operations
from incrawl.frontier.glance import Glance, look_many

if TYPE_CHECKING:
    from incrawl.page_visit import PageVisit
    from incrawl.worker import Worker

MOST = 200  # internal pages that are looked at: the first ones of a page, in the order of its links


class GoingThrough:
    """Asked before a page's links are made known. Off, it does nothing and costs nothing."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        setting = worker.config.selective_recrawl
        self.enabled = isinstance(worker.policy, VisitFrequency) if setting is None else setting

    async def follow(self, visit: PageVisit) -> float | None:
        """Does to the page's internal pages what the visit asks for, and narrows its finds.

        Returns the share of its internal pages that changed since its last crawl; None where nothing
        can be said.
        """
        record, outcome = visit.record, visit.outcome
        if not self.enabled or visit.failed or outcome not in COMPARED or record.last_crawl is None:
            return None
        links = await self._kept_links(visit)
        known = await look_many(self._worker.frontier, islice(inside_site(record.url, links), MOST))
        share = internal_share((page.record for page in known), record.last_crawl)
        seen = Visit(self._worker.frontier.now(), outcome, visit.status, internal_changes=share)
        goes = goes_through(record.counted(seen), seen, self._worker.policy)
        if outcome is Outcome.CHANGED and not goes:
            self._leave_new_links(visit, links)
        elif outcome is not Outcome.CHANGED and goes:
            await self._visit_the_others(known, record.last_crawl)
        return share

    async def _kept_links(self, visit: PageVisit) -> tuple[str, ...]:
        """The links of the version that was current before this visit."""
        record, page = visit.record, visit.page
        if page is not None and page.previous is not None:
            return page.previous.links
        if visit.kept is not None:
            return visit.kept.links
        if record.document is None:
            return ()
        kept = await self._worker.shelf.do(self._worker.repository.sidecar, record.url, record.document)
        return () if kept is None else kept.links

    def _leave_new_links(self, visit: PageVisit, known_links: tuple[str, ...]) -> None:
        self._worker.count("incrawl/through/left")
        before = set(known_links)
        visit.finds[:] = [find for find in visit.finds if find.url in before]

    async def _visit_the_others(self, pages: list[Glance], last_crawl: float) -> None:
        """Internal pages that wait, and that nobody has visited since the page's own last crawl."""
        self._worker.count("incrawl/through/gone")
        now = self._worker.frontier.now()
        waiting = [
            page.record.url
            for page in pages
            if page.due is not None and page.due > now and (page.record.last_crawl or 0.0) <= last_crawl
        ]
        moves = (operations.reschedule(self._worker.frontier, url, 0.0) for url in waiting)
        moved = (await asyncio.gather(*moves)).count("moved")
        self._worker.count("incrawl/through/hastened", moved)
        if moved:
            places = (self._worker.frontier.place(url) for url in waiting)
            self._worker.on_discovered({place.host.partition for place in places})

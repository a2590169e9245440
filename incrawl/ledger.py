"""The visits of this process that are under way: opened, kept alive, acknowledged.

The order in which a page is acknowledged is what makes a crawl safe to kill at any point:
links known → document staged → `complete` → document renamed into place. Whatever is interrupted
before `complete` is done again by the next worker; whatever comes after it, readers finish.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from incrawl.core.changes import Volatility, learn_unchanged
from incrawl.core.records import Outcome, Visit
from incrawl.core.values import parse_http_date
from incrawl.frontier.frontier import Lease
from incrawl.page_visit import HostLock, PageVisit
from incrawl.pages import stage_or_fail
from incrawl.repository import Repository, RepositoryError, VisitEntry
from incrawl.twins import version_of
from incrawl.visits import Step, Version, after_visit

if TYPE_CHECKING:
    from incrawl.items import Page
    from incrawl.worker import Worker

logger = logging.getLogger(__name__)

LONGEST_VISIT = 600.0  # seconds after which a page that has not ended is given up
BROUGHT = frozenset({Outcome.NEW, Outcome.CHANGED})  # outcomes of visits that brought a document
SAFETY = 5.0  # seconds before its expiry at which a lease is no longer trusted


class Ledger:
    """Opens a visit for each lease and ends each with exactly one `complete` or `release`."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._frontier = worker.frontier
        self._live: dict[bytes, PageVisit] = {}
        self._by_host: dict[str, PageVisit] = {}
        self._ending: dict[asyncio.Task[None], Lease] = {}
        self._renewed = time.monotonic()
        self._renewal = asyncio.create_task(self._keep_renewing())
        self.on_end: Callable[[int], None] = lambda partition: None  # a visit has ended there

    def __len__(self) -> int:
        """Visits under way, those being acknowledged included."""
        return len(self._live) + len(self._ending)

    @property
    def unpaid(self) -> int:
        """Visits for which no request has been taken out of the budget yet."""
        return sum(not visit.paid for visit in self._live.values())

    def open(self, lease: Lease) -> PageVisit:
        visit = PageVisit(lease, self._deadline(), self._on_done)
        self._live[lease.place.id] = visit
        self._by_host[visit.host] = visit
        return visit

    def holder(self, host: str, visit: PageVisit | None = None) -> PageVisit | None:
        """The visit by whose lease this process holds a host, if any; `visit` itself where it does."""
        if visit is not None and visit.host == host and visit.root.host_lock is HostLock.FRESH:
            return visit.root
        return self._by_host.get(host)

    async def leave_host(self, visit: PageVisit) -> None:
        """Gives up the host of a visit that goes on elsewhere, or that has to queue up again."""
        visit.host_lock = HostLock.LEFT
        self._forget_host(visit)
        lease = visit.lease
        await self._frontier.free_host(lease.place.host, lease.token, visit.since_response())

    def release(self, visit: PageVisit) -> None:
        """Gives a page back that was not asked for."""
        self._start(visit, self._release(visit))

    async def close(self, patience: float) -> None:
        """Waits for the visits that are being acknowledged, and gives back the others."""
        deadline = time.monotonic() + patience
        for visit in list(self._live.values()):
            self.release(visit)
        while self._ending and time.monotonic() < deadline:
            await asyncio.wait(self._ending, timeout=max(0.0, deadline - time.monotonic()))
        self._renewal.cancel()

    def _deadline(self) -> float:
        lease_time = self._worker.config.lease_time
        return time.monotonic() + lease_time - min(SAFETY, lease_time / 4)

    def _on_done(self, visit: PageVisit) -> None:
        if visit.parent is not None:
            if visit.failed or visit.outcome is Outcome.FAILED or visit.put_back_for is not None:
                visit.parent.fail(visit.why)
            visit.parent.let_go()
        elif visit.put_back_for is not None and not visit.failed:
            self.release(visit)
        else:
            self._start(visit, self._acknowledge(visit))

    def _start(self, visit: PageVisit, ending: Coroutine[None, None, None]) -> None:
        if self._live.get(visit.lease.place.id) is not visit:
            ending.close()  # the lease was lost meanwhile
            ending = self._discard(visit)
        else:
            del self._live[visit.lease.place.id]
            self._forget_host(visit)
        task = asyncio.create_task(ending)
        self._ending[task] = visit.lease
        task.add_done_callback(partial(self._ended, visit.lease.place.host.partition))

    def _forget_host(self, visit: PageVisit) -> None:
        if self._by_host.get(visit.host) is visit:
            del self._by_host[visit.host]

    def _ended(self, partition: int, task: asyncio.Task[None]) -> None:
        self._ending.pop(task, None)
        if not task.cancelled() and task.exception() is not None:
            self._worker.count("incrawl/visit/lost")
            logger.error("A visit could not be brought to its end", exc_info=task.exception())
        self.on_end(partition)

    async def _release(self, visit: PageVisit) -> None:
        self._worker.count("incrawl/lease/released")
        # Where nothing was sent, the page is due as before.
        delay = visit.put_back_for or None
        await self._frontier.release(visit.lease, delay=delay, since_response=visit.since_response())

    async def _discard(self, visit: PageVisit) -> None:
        """Nothing is left of a visit whose page has gone to another worker."""
        staged = visit.take_staged()
        if staged is not None:
            with self._telling():
                await self._worker.shelf.do(self._worker.repository.discard, staged)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Failures of the disk that undo nothing: a version stays staged until a reader or sweeper comes."""
        try:
            yield
        except RepositoryError as error:
            self._worker.count("incrawl/documents/failed")
            logger.error("%s", error)

    async def _acknowledge(self, visit: PageVisit) -> None:
        try:
            seen, version, step = await self._prepare(visit)
        except Exception as error:
            # The page is tried again later, and no worker is said to have died of it.
            self._worker.count("incrawl/visit/not_kept")
            logger.exception("What was found at %s could not be kept", visit.url)
            await self._discard(visit)
            visit.page, visit.finds = None, []
            visit.fail(str(error))
            seen, version, step = await self._prepare(visit)
        accepted = await self._frontier.complete(
            visit.lease, step.record, delay=step.delay, since_response=visit.since_response()
        )
        self._count(visit, seen.outcome, accepted)
        # From here on the record names the new version: whatever fails now must not take it away.
        if visit.page is not None or visit.record.document is not None:  # else nothing of it is on disk
            await self._settle(visit, seen, version is not None and accepted, accepted)
        if accepted:
            await self._worker.keeper.note_visit(visit.lease.place)
            await self._worker.lessons.learn(visit, seen.outcome)

    async def _prepare(self, visit: PageVisit) -> tuple[Visit, Version | None, Step]:
        """All that comes before the acknowledgement, and what is to be acknowledged."""
        worker, page = self._worker, visit.page
        internal_changes = await worker.through.follow(visit)
        if visit.finds:
            await worker.discover(visit.finds)
        if page is not None and page.staged is None and not visit.failed and page.brings_version:
            await stage_or_fail(worker, page)  # an add-on spider's; others have been through a pipeline
        outcome = Outcome.FAILED if visit.failed else visit.outcome or Outcome.FAILED
        modified = _last_modified(visit)
        elsewhere = visit.elsewhere = await worker.twins.look(visit, outcome)
        seen = Visit(self._frontier.now(), outcome, visit.status, modified, internal_changes, elsewhere)
        version = _version(page) if outcome in BROUGHT else None
        step = after_visit(visit.record, seen, version, worker.policy, worker.collection, worker.limits)
        if visit.barred_by and not visit.failed:
            step = Step(step.record._replace(barred=visit.barred_by), None)
        elif visit.look_again_after is not None and step.delay is not None and not visit.failed:
            step = Step(step.record, min(step.delay, visit.look_again_after))
        return seen, version, step

    async def _settle(self, visit: PageVisit, seen: Visit, keep: bool, accepted: bool) -> None:
        """What the acknowledgement means for the repository."""
        shelf, staged = self._worker.shelf, None
        if keep:
            staged = visit.take_staged()
        else:
            await self._discard(visit)
        with self._telling():
            if staged is not None:
                await shelf.promote(staged)
            if accepted and not keep and visit.record.document is not None and not visit.taken_along:
                await shelf.do(note_visit, visit, seen, self._worker.repository)

    def _count(self, visit: PageVisit, outcome: Outcome, accepted: bool) -> None:
        count = self._worker.count
        if not accepted:
            count("incrawl/lease/refused")
            logger.warning("The result for %s came too late and was refused", visit.url)
            return
        count(f"incrawl/visit/{outcome}")
        verdict = visit.page.verdict if visit.page is not None else None
        if outcome is Outcome.CHANGED and verdict is not None:
            count(f"incrawl/change/{verdict.size}")
            for kind in verdict.kinds:
                count(f"incrawl/change/{kind}")
        if visit.why:
            logger.info("%s: %s (%s)", visit.url, outcome, visit.why)

    async def keep(self) -> None:
        """Renews leases that should have been renewed before now: something has blocked this process.

        To be awaited before more are asked for, when expired leases are taken from whoever has them.
        """
        if time.monotonic() - self._renewed > self._worker.config.lease_time / 2:
            await self._renew()

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._worker.config.lease_time / 3)
            try:
                await self._renew()
            except Exception:
                logger.exception("Leases could not be renewed; trying again")

    async def _renew(self) -> None:
        now = time.monotonic()
        overdue = [visit for visit in self._live.values() if now - visit.started > LONGEST_VISIT]
        for visit in overdue:
            visit.fail("the visit took too long")
            self._start(visit, self._acknowledge(visit))
        visits = {visit.lease.place.id: visit for visit in self._live.values()}
        leases = [*(visit.lease for visit in visits.values()), *self._ending.values()]
        self._renewed, deadline = now, self._deadline()
        lost = {(lease.place.id, lease.token) for lease in await self._frontier.renew(leases)}
        for url_id, visit in visits.items():
            if (url_id, visit.lease.token) not in lost:
                visit.deadline = deadline
            elif self._live.get(url_id) is visit:
                self._lose(visit)

    def _lose(self, visit: PageVisit) -> None:
        """The page belongs to another worker by now: what this one still finds is not kept."""
        del self._live[visit.lease.place.id]
        self._forget_host(visit)
        visit.deadline = 0.0
        self._worker.count("incrawl/lease/lost")
        self.on_end(visit.lease.place.host.partition)


def note_visit(visit: PageVisit, seen: Visit, repository: Repository) -> None:
    record = visit.record
    assert record.document is not None
    repository.note_visit(record.url, record.document, entry_for(visit, seen, repository))


def entry_for(visit: PageVisit, seen: Visit, repository: Repository) -> VisitEntry:
    """The line that a visit leaves with the version it found; each carries on what is known of that."""
    page, record = visit.page, visit.record
    verdict = page.verdict if page is not None else None
    volatility = page.volatility if page is not None else None
    if volatility is None:
        known = Volatility.unpack(repository.volatility(record.url, record.document or ""))
        volatility = learn_unchanged(known) if seen.outcome is Outcome.NOT_MODIFIED else known
    return VisitEntry(
        seen.time,
        seen.outcome,
        seen.status,
        why=visit.why,
        ignored=verdict.ignored if verdict is not None else {},
        volatile=tuple(change.place for change in verdict.volatile) if verdict is not None else (),
        volatility=volatility.pack(),
    )


def _last_modified(visit: PageVisit) -> float | None:
    """What the page says of itself, or said when it was last sent: "not modified" means that this holds."""
    if visit.page is not None:
        return parse_http_date(visit.page.last_modified)
    return parse_http_date(visit.kept.last_modified) if visit.kept is not None else None


def _version(page: Page | None) -> Version | None:
    return None if page is None or page.staged is None else version_of(page, page.staged)

"""Pages with two addresses: the one that was visited may have to rest, and the other one go on.

Asked before a visit is acknowledged. A page that has moved takes its record along, document and history,
where it is seen to have moved twice and its new address has no history of its own; all that is written
for it can be written again, so that a worker may die at any point. Counted as `incrawl/elsewhere/moved`,
`…/canonical`, `…/duplicate` (pages that rest), `…/inherited`, `…/lies` (another page was named as its own).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from incrawl.core.changes import Signatures, SignaturesError, analyse, are_alike
from incrawl.core.elsewhere import Elsewhere, Relation, level_at, own_address
from incrawl.core.links import site_of
from incrawl.core.records import COMPARED, Outcome, UrlRecord, Visit
from incrawl.core.sitemaps import SITEMAP_KEY
from incrawl.core.values import parse_http_date
from incrawl.frontier import operations
from incrawl.frontier.inheritance import inherit
from incrawl.pages import stage_page
from incrawl.visits import Version, after_visit

if TYPE_CHECKING:
    from incrawl.frontier.operations import Known
    from incrawl.items import Page
    from incrawl.page_visit import PageVisit
    from incrawl.repository import Sidecar, Staged
    from incrawl.worker import Worker

CLAIM_LIFETIME = 90 * 86400.0
MANY = b"many"
MOST_LOOKED_AT = 5  # pages that said the same before
TOLD = COMPARED | {Outcome.NEW}  # outcomes of visits that saw the page
GOING_ON = frozenset({"queued", "leased"})


class Twins:
    """One per worker."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    async def look(self, visit: PageVisit, outcome: Outcome) -> Elsewhere | None:
        """Where else the page is, as this visit found. A move is carried out on the way."""
        page, record = visit.page, visit.record
        found: Elsewhere | None
        if outcome is Outcome.MOVED and page is not None:
            found = await self._moved(visit, page)
        elif outcome not in TOLD:
            return None
        elif page is not None and page.moved_to:
            await self._is_alone(page.moved_to, record.url)
            found = Elsewhere(Relation.MOVED, page.moved_to)
        else:
            found = await self._canonical(visit) or await self._duplicate(visit, outcome)
        if found is not None and found.settled and found != record.elsewhere:
            self._worker.count(f"incrawl/elsewhere/{found.relation}")
        return found

    async def _moved(self, visit: PageVisit, page: Page) -> Elsewhere:
        record, frontier = visit.record, self._worker.frontier
        there = Elsewhere(Relation.MOVED, page.moved_to).seen_after(record.elsewhere)
        if record.document is not None and not comes_along(page):
            await self._make_known(visit, page.moved_to)
            return replace(there, settled=False)
        home = await operations.look(frontier, there.url)
        has_history = home is not None and home.record.visits > 0
        if not has_history and await self._may_inherit(visit, there):
            has_history = await self._take_there(visit, page)
        elif not has_history:
            await self._make_known(visit, there.url)
        elif there.settled and home is not None and not goes_on(home):
            await operations.reschedule(frontier, there.url, 0.0)  # somebody has to be awake
        return there

    async def _may_inherit(self, visit: PageVisit, there: Elsewhere) -> bool:
        """A first document goes where it came from; a history only when it is the only one to go there."""
        if visit.record.document is None:
            return True
        return there.settled and await self._is_alone(there.url, visit.record.url)

    async def _is_alone(self, target: str, url: str) -> bool:
        """Says that a page has moved to `target`; whether it is the only one so far.

        Where many pages lead to one, that is a login page or the like, and nobody's new address.
        """
        frontier = self._worker.frontier
        place, ours = frontier.place(target), frontier.place(url).id
        name = f"moved {place.id.hex()}"
        known = await frontier.cache_get(place.host.name, name)
        now = ours if known in {None, ours} else MANY
        if now != known:
            await frontier.cache_set(place.host.name, name, now, CLAIM_LIFETIME)
        return now == ours

    async def _make_known(self, visit: PageVisit, target: str) -> None:
        if self._worker.admission.admits(target):
            await self._worker.discover([self._worker.frontier.find(begun_at(visit.record, target))])

    async def _take_there(self, visit: PageVisit, page: Page) -> bool:
        """The document, and the record with what this visit adds to it, go to the page's new address."""
        worker = self._worker
        if page.analysis is None:
            page.analysis = analyse(page.body, url=page.url, encoding=page.encoding)
        staged = await stage_page(worker.shelf, page, page.moved_to)
        record = visit.record._replace(url=page.moved_to, elsewhere=None, failures=0)
        record = record._replace(level=level_at(visit.url, page.moved_to, record.level))
        seen = Visit(page.time, page.outcome, page.status, parse_http_date(page.last_modified))
        version = version_of(page, staged)
        step = after_visit(record, seen, version, worker.policy, worker.collection, worker.limits)
        if not await inherit(worker.frontier, step.record, step.delay):
            await worker.shelf.do(worker.repository.discard, staged)
            return False
        # The record names the version: from here on it is there, whatever becomes of this visit.
        await worker.shelf.promote(staged)
        visit.taken_along = True
        worker.count("incrawl/elsewhere/inherited")
        worker.count(f"incrawl/visit/{page.outcome}")
        worker.on_discovered({worker.frontier.place(record.url).host.partition})
        return True

    async def _canonical(self, visit: PageVisit) -> Elsewhere | None:
        """The address that the page names as its own, if it tells the truth."""
        url = named_by(visit)
        if not url:
            return None
        home = await operations.look(self._worker.frontier, url)
        if home is None or (home.record.document is None and home.state in GOING_ON):
            return Elsewhere(Relation.CANONICAL, url)  # to be seen when that one has been visited
        if home.record.elsewhere is not None or home.state not in GOING_ON:
            return None
        if not await self._worker.shelf.do(self._say_the_same, visit, home.record):
            self._worker.count("incrawl/elsewhere/lies")
            return None
        return Elsewhere(Relation.CANONICAL, url, settled=True)

    def _say_the_same(self, visit: PageVisit, other: UrlRecord) -> bool:
        ours = signatures_now(visit)
        kept = self._worker.repository.sidecar(other.url, other.document or "")
        theirs = signatures_of(kept) if kept is not None else None
        if ours is None or theirs is None:
            return False
        # Templates name the front page for all pages by mistake; many of those say little else.
        exactly = urlsplit(other.url).path in {"", "/"}
        return ours.text == theirs.text if exactly else are_alike(ours, theirs)

    async def _duplicate(self, visit: PageVisit, outcome: Outcome) -> Elsewhere | None:
        """A page that has said the same ever since both were known. One that has changed is its own."""
        record, ours = visit.record, signatures_now(visit)
        if ours is None or not len(ours) or SITEMAP_KEY in record.request or record.changes:
            return None
        before = record.elsewhere
        if outcome is Outcome.NEW:
            site, shelf = site_of(record.url), self._worker.shelf
            urls = await shelf.do(shelf.repository.said_before, site, ours.digest, record.url)
        else:
            is_noted = before is not None and before.relation is Relation.DUPLICATE
            urls = [before.url] if before is not None and is_noted and outcome is not Outcome.CHANGED else []
        for url in urls[:MOST_LOOKED_AT]:
            home = await operations.look(self._worker.frontier, url)
            if home is not None and is_original(home, ours.digest):
                return Elsewhere(Relation.DUPLICATE, url).seen_after(before)
        return None


def leads_away(page: Page) -> bool:
    """Whether what came by permanent redirects is not to be kept under the address that was asked for.

    A page that is there for the first time, or that was seen to move before; or what came is another page.
    """
    record = page.visit.record
    if not page.moved_to or page.outcome not in TOLD:
        return False  # a captcha, an error, a page that asks not to be kept
    there = Elsewhere(Relation.MOVED, page.moved_to)
    return record.document is None or there.seen_after(record.elsewhere).settled or not comes_along(page)


def comes_along(page: Page) -> bool:
    """Whether the document at the new address is the page that was at the old one."""
    if page.analysis is None:
        return True  # byte for byte
    before = signatures_of(page.previous) if page.previous is not None else None
    return before is not None and are_alike(before, page.analysis.signatures)


def begun_at(record: UrlRecord, target: str) -> UrlRecord:
    """A new record for an address that a page leads to, with what a seed line asked for."""
    level = level_at(record.url, target, record.level)
    first = record.refresh_time if record.visits == 0 else None
    return UrlRecord(target, level, first, pl=record.pl, pg=record.pg, request=record.request)


def named_by(visit: PageVisit) -> str:
    """The address that a page calls its own: as just parsed, or as noted where its bytes are the same."""
    page, before = visit.page, visit.record.elsewhere
    if page is not None and page.analysis is not None:
        return own_address(visit.url, page.analysis.canonical)
    return before.url if before is not None and before.relation is Relation.CANONICAL else ""


def goes_on(home: Known) -> bool:
    rests = home.record.elsewhere is not None and home.record.elsewhere.settled
    return home.state in GOING_ON and not rests


def is_original(home: Known, digest: bytes) -> bool:
    """Whether a page still says what it said, and is visited for its own sake."""
    return home.record.fingerprint == digest and home.record.elsewhere is None and home.state in GOING_ON


def signatures_now(visit: PageVisit) -> Signatures | None:
    """Those of the page as it is after the visit."""
    page = visit.page
    if page is not None and page.analysis is not None:
        return page.analysis.signatures
    kept = visit.kept if page is None else page.previous
    return signatures_of(kept) if kept is not None else None


def signatures_of(sidecar: Sidecar) -> Signatures | None:
    """The signatures of a stored version; None where they are damaged or of an older incrawl."""
    try:
        return Signatures.unpack(sidecar.signatures)
    except SignaturesError:
        return None


def version_of(page: Page, staged: Staged) -> Version:
    assert page.analysis is not None
    return Version(staged.run, page.analysis.signatures.digest, len(page.body), page.type)

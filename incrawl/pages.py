"""From a response to a page, and from a page to a staged version."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import Response, TextResponse

from incrawl.core.elsewhere import level_at
from incrawl.core.elsewhere import moved_to as where_moved
from incrawl.items import Page
from incrawl.page_visit import PageVisit
from incrawl.repository import RepositoryError, Sidecar, Staged
from incrawl.shelf import Shelf

if TYPE_CHECKING:
    from incrawl.worker import Worker

logger = logging.getLogger(__name__)


def page_from(response: Response, request: Request | None, visit: PageVisit, now: float) -> Page:
    """What the pipelines need of a response that arrived at `now`, by the server's clock."""
    reasons = request.meta.get("redirect_reasons", ()) if request is not None else ()
    return Page(
        visit=visit,
        url=response.url,
        body=response.body,
        time=now,
        status=response.status,
        moved_to=where_moved(visit.url, response.url, reasons),
        type=_header(response, "Content-Type").partition(";")[0].strip().lower(),
        encoding=response.encoding if isinstance(response, TextResponse) else None,
        etag=_header(response, "ETag"),
        last_modified=_header(response, "Last-Modified"),
        ip=str(response.ip_address or ""),
        robots_tags=tuple(value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")),
    )


async def stage_page(shelf: Shelf, page: Page, moved_to: str = "") -> Staged:
    """Puts a new or changed document and its sidecar on disk.

    `moved_to`: the address that the page and its history go to.
    """
    return await shelf.stage(sidecar_of(page, moved_to), page.body)


def sidecar_of(page: Page, moved_to: str = "") -> Sidecar:
    """All that is to be remembered of a version besides the document."""
    analysis, verdict, visit = page.analysis, page.verdict, page.visit
    assert analysis is not None
    # Nobody who reads the links later, here or in a rebuild, can tell that they are not to be followed.
    asked = visit.asked or [(link, "") for link in analysis.links if not page.nofollow]
    return Sidecar(
        url=moved_to or visit.url,
        time=page.time,
        outcome=page.outcome,
        kinds=tuple(sorted(map(str, verdict.kinds))) if verdict else (),
        size=str(verdict.size) if verdict else "none",
        paragraphs=tuple(change.place for change in verdict.paragraphs) if verdict else (),
        previous=visit.record.document,
        previous_url=visit.url if moved_to and visit.record.document else "",
        title=analysis.title,
        links=tuple(link for link, _ in asked),
        requests=tuple(kept for _, kept in asked) if visit.asked else (),
        status=page.status,
        type=page.type,
        encoding=page.encoding or "",
        length=len(page.body),
        etag=page.etag,
        last_modified=page.last_modified,
        ip=page.ip,
        signatures=analysis.signatures.pack(),
        volatility=page.volatility.pack() if page.volatility is not None else b"",
        ignored={**analysis.ignored.counts, **(verdict.ignored if verdict else {})},
        level=level_at(visit.url, moved_to, visit.record.level) if moved_to else visit.record.level,
        pl=visit.record.pl,
        pg=visit.record.pg,
        request=visit.record.request,
    )


async def stage_or_fail(worker: Worker, page: Page) -> None:
    """Stages a page; where the disk does not take it, the visit has failed, and the crawl goes on."""
    try:
        page.staged = await stage_page(worker.shelf, page)
    except RepositoryError as error:
        worker.count("incrawl/documents/failed")
        logger.error("%s", error)
        page.visit.fail(str(error))


def _header(response: Response, name: str) -> str:
    value = response.headers.get(name)
    return "" if value is None else value.decode("latin-1")

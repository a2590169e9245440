"""Asks for a page only if it has changed, with the validators of the version that is kept.

Counted as `incrawl/conditional/sent`, `…/full` (no condition, to check on the server), `…/not_modified`,
`…/unasked` (304 without a condition, 206 without a range: the page has failed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import DownloadFailedError

from incrawl.core.validators import Validators, is_full_fetch
from incrawl.page_visit import visit_of
from incrawl.worker import Worker

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from incrawl.page_visit import PageVisit

CONDITIONS = ("If-None-Match", "If-Modified-Since")


class ConditionalMiddleware:
    """Only the page itself is asked for conditionally, never where a redirect leads.

    Validators belong to one document: "not modified" from another would say nothing of it.
    """

    def __init__(self, worker: Worker):
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ConditionalMiddleware:
        return cls(Worker.of(crawler))

    async def process_request(self, request: Request) -> None:
        visit = visit_of(request)
        if visit is None or visit.parent is not None:
            return
        headers = {} if request.meta.get("redirect_times") else await self._conditions(visit)
        visit.conditional = bool(headers)
        for name in CONDITIONS:
            request.headers.pop(name, None)
        request.headers.update(headers)

    async def _conditions(self, visit: PageVisit) -> dict[str, str]:
        record = visit.record
        if record.document is None:
            return {}
        if is_full_fetch(record.visits):
            self._worker.count("incrawl/conditional/full")
            return {}
        kept = await self._worker.shelf.do(self._worker.repository.sidecar, record.url, record.document)
        if kept is None or kept.level < record.level:
            # Found closer to a seed since: its links are to be followed further, so it has to be there.
            return {}
        visit.kept = kept
        trust = await self._worker.trust.of(visit.host)
        headers = trust.headers(Validators(kept.etag, kept.last_modified))
        if headers:
            self._worker.count("incrawl/conditional/sent")
        return headers

    def process_response(self, request: Request, response: Response) -> Response:
        visit = visit_of(request)
        if visit is None:
            return response
        if (response.status == 304 and not visit.conditional) or (
            response.status == 206 and "Range" not in request.headers
        ):
            self._worker.count("incrawl/conditional/unasked")
            raise DownloadFailedError(f"{response.status}, which was not asked for")
        if response.status == 304:
            self._worker.count("incrawl/conditional/not_modified")
        return response

"""Item pipeline 1: has the page changed since the last visit, and how?"""

from __future__ import annotations

from typing import Any

from scrapy.crawler import Crawler

from incrawl.core.changes import Signatures, SignaturesError, analyse, body_hash, compare
from incrawl.core.records import Outcome
from incrawl.core.robots_tags import robots_tags
from incrawl.items import Page
from incrawl.repository import Sidecar
from incrawl.worker import Worker


class ChangeDetectionPipeline:
    """Compares a page with the signatures of its current version; one parse at most."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ChangeDetectionPipeline:
        return cls(Worker.of(crawler))

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            self.detect(item)
        return item

    def detect(self, page: Page) -> None:
        """Fills in previous, analysis, verdict and outcome."""
        self._compare(page)
        if self._worker.obeys_robots:
            self._obey_tags(page)

    def _obey_tags(self, page: Page) -> None:
        """A page may ask not to be kept, and that its links not be followed."""
        metas = page.analysis.robots if page.analysis is not None else ()
        tags = robots_tags(page.robots_tags, metas, self._worker.robots.agent)
        page.nofollow = tags.nofollow
        if tags.noindex:
            page.outcome = Outcome.REFUSED
            self._worker.count("incrawl/robots/noindex")

    def _compare(self, page: Page) -> None:
        record = page.visit.record
        if record.document is not None:
            page.previous = self._worker.repository.sidecar(record.url, record.document)
        before = signatures_of(page.previous) if page.previous else None
        if before is not None and before.body_hash == body_hash(page.body):
            page.outcome = Outcome.UNCHANGED
            return
        page.analysis = analyse(page.body, url=page.url, encoding=page.encoding)
        if before is None:
            page.outcome = Outcome.NEW
            return
        page.verdict = compare(before, page.analysis.signatures)
        page.outcome = Outcome.CHANGED if page.verdict.changed else Outcome.UNCHANGED


def signatures_of(sidecar: Sidecar) -> Signatures | None:
    """The signatures of a stored version; None where they are damaged or of an older incrawl."""
    try:
        return Signatures.unpack(sidecar.signatures)
    except SignaturesError:
        return None

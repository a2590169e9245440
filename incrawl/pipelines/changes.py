"""Item pipeline 1: has the page changed since the last visit, and how?

Counted as `incrawl/impostor/<disguise>`, `incrawl/ignored/<kind>`, `incrawl/robots/noindex`.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any
from urllib.parse import urlsplit

from scrapy.crawler import Crawler

from incrawl.core.changes import (
    Fetched,
    IgnoreRules,
    Known,
    Signatures,
    SignaturesError,
    Volatility,
    analyse,
    examine,
)
from incrawl.core.changes.volatile import Look
from incrawl.core.records import Outcome
from incrawl.core.robots_tags import robots_tags
from incrawl.core.urls import host_key
from incrawl.items import Page
from incrawl.repository import Sidecar
from incrawl.twins import leads_away
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
        page.leads_away = leads_away(page)

    def _obey_tags(self, page: Page) -> None:
        """A page may ask not to be kept, and that its links not be followed."""
        metas = page.analysis.robots if page.analysis is not None else ()
        tags = robots_tags(page.robots_tags, metas, self._worker.robots.agent)
        page.nofollow = page.nofollow or tags.nofollow
        if tags.noindex and page.impostor is None:
            page.outcome = Outcome.REFUSED
            self._worker.count("incrawl/robots/noindex")

    def _compare(self, page: Page) -> None:
        rules = self._worker.config.ignore.rules_for(host_key(page.visit.url))
        fetched = Fetched(
            page.body, page.url, page.encoding, unread=self._is_long(page.body), moved=has_moved(page)
        )
        found = examine(fetched, self._known(page, rules), rules)
        page.outcome, page.analysis, page.verdict = found.outcome, found.analysis, found.verdict
        page.impostor, page.volatility = found.impostor, found.volatility
        if page.impostor is not None:
            page.nofollow = True
            disguise = _word(page.impostor.disguise)
            self._worker.count(f"incrawl/impostor/{disguise}")
        self._count_ignored(page)
        self._ask_for_second_look(page)

    def _ask_for_second_look(self, page: Page) -> None:
        """The first change of a page is checked soon, where this run will still be there."""
        config, record = self._worker.config, page.visit.record
        refresh_time = record.refresh_time or config.average_refresh_time
        if not config.continuous or not 0 < config.second_look < refresh_time or page.volatility is None:
            return
        if page.outcome is Outcome.CHANGED and page.volatility.look is Look.NOT_YET:
            page.volatility = replace(page.volatility, look=Look.DUE)
            page.visit.look_again_after = config.second_look
            self._worker.count("incrawl/change/second_look")

    def _known(self, page: Page, rules: IgnoreRules) -> Known:
        record, repository = page.visit.record, self._worker.repository
        if record.document is None:
            return Known()
        page.previous = repository.sidecar(record.url, record.document)
        if page.previous is None:
            return Known()
        volatility = Volatility.unpack(repository.volatility(record.url, record.document))
        return Known(
            signatures=self._signatures(page.previous, record.document, rules),
            volatility=volatility,
            elapsed=self._elapsed(page, volatility),
        )

    def _elapsed(self, page: Page, volatility: Volatility) -> float:
        """Seconds since the last visit, where this is a second look.

        Other visits that soon after the last one happen because somebody knows that the page has changed.
        """
        last, look = page.visit.record.last_crawl, volatility.look
        elapsed = inf if last is None else page.time - last
        return elapsed if look is Look.DUE and elapsed >= self._worker.config.second_look else inf

    def _signatures(self, sidecar: Sidecar, run: str, rules: IgnoreRules) -> Signatures | None:
        """The signatures of the stored version; made again where they are damaged, old, or of other rules."""
        try:
            stored = Signatures.unpack(sidecar.signatures)
            if stored.rules == rules.key:
                return stored
        except SignaturesError:
            pass
        body = self._worker.repository.document(sidecar.url, run)
        if body is None:
            return None
        encoding, unread = sidecar.encoding or None, self._is_long(body)
        return analyse(body, url=sidecar.url, encoding=encoding, rules=rules, unread=unread).signatures

    def _is_long(self, body: bytes) -> bool:
        """Only sitemaps may be longer than a page: their tree would take more memory than a worker has."""
        return len(body) > self._worker.config.max_body

    def _count_ignored(self, page: Page) -> None:
        counts = dict(page.analysis.ignored.counts) if page.analysis is not None else {}
        if page.verdict is not None:
            counts |= page.verdict.ignored
        for kind, number in counts.items():
            what = _word(kind)
            self._worker.count(f"incrawl/ignored/{what}", number)


def _word(name: str) -> str:
    return name.replace(" ", "_")


def has_moved(page: Page) -> bool:
    """Whether a redirect led to another page, not only to another spelling of the same."""
    asked, came = urlsplit(page.visit.url), urlsplit(page.url)
    return asked.path.rstrip("/") != came.path.rstrip("/") or _bare(asked.hostname) != _bare(came.hostname)


def _bare(host: str | None) -> str:
    return (host or "").removeprefix("www.")

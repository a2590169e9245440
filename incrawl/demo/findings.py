"""What the crawler found out about the demo site, from its own records, and whether that is true."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

from scrapy.settings import Settings

from incrawl.config import Config
from incrawl.core.records import Outcome, UrlRecord
from incrawl.demo.site import DemoSite
from incrawl.frontier import operations
from incrawl.repository import Repository, VisitEntry
from incrawl.worker import open_frontier

SPIDER = "incremental"
SAME = (Outcome.UNCHANGED, Outcome.VOLATILE, Outcome.NOT_MODIFIED)


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything the report needs. Visits are in the order in which they were made."""

    records: list[UrlRecord]
    visits: dict[str, list[VisitEntry]]  # by URL
    starts: list[float]  # when each round began

    def round_of(self, visit: VisitEntry) -> int:
        return max(bisect_right(self.starts, visit.time) - 1, 0)

    def outcomes(self, round_number: int) -> Counter[Outcome]:
        every = (visit for visits in self.visits.values() for visit in visits)
        return Counter(visit.outcome for visit in every if self.round_of(visit) == round_number)

    def known_in(self, round_number: int) -> int:
        """Pages that had been found by the end of a round: what a crawler without memory would take."""
        return sum(self.round_of(visits[0]) <= round_number for visits in self.visits.values() if visits)

    @property
    def requests(self) -> int:
        return sum(len(visits) for visits in self.visits.values())

    @property
    def requests_of_all(self) -> int:
        """Requests of a crawler that takes every page it knows each time."""
        return sum(self.known_in(number) for number in range(len(self.starts)))

    def changes(self) -> dict[str, list[VisitEntry]]:
        """By URL, the visits that found a change."""
        found = {
            url: [visit for visit in visits if visit.outcome is Outcome.CHANGED]
            for url, visits in self.visits.items()
        }
        return {url: visits for url, visits in found.items() if visits}

    def disagreements(self, site: DemoSite) -> list[str]:
        """Where these findings and the site's own account differ, one sentence each."""
        served = defaultdict(int, Counter(hit.url for hit in site.hits))
        truth, changes = site.found_changes(), self.changes()
        pages = {site.url(page) for page in site.pages}
        wrong = [f"{url} is no page of it" for url in self.visits if url not in pages]
        for page in site.pages:
            url = site.url(page)
            if served[url] != len(self.visits.get(url, [])):
                wrong.append(f"{url} was served {served[url]} times, visits: {len(self.visits.get(url, []))}")
            told = [sorted(visit.kinds) for visit in changes.get(url, [])]
            true = [sorted(kinds) for kinds in truth.get(url, [])]
            if told != true:
                wrong.append(f"{url} changed {true}, reported: {told}")
        return wrong


async def collect(state_dir: Path, starts: list[float]) -> Findings:
    """Reads the frontier and the repository of a state directory."""
    settings = Settings({"INCRAWL_STATE_DIR": str(state_dir), "REDIS_URL": ""})
    settings.setmodule("incrawl.settings")
    config = Config.from_settings(settings)
    repository = Repository(config.repository_dir)
    frontier = await open_frontier(settings, config, SPIDER)
    try:
        # Sitemaps are visited like pages, but a reader of the report would wonder at them.
        found = [record async for record in operations.records(frontier)]
        records = [record for record in found if not record.url.endswith("/sitemap.xml")]
    finally:
        await frontier.close()
    visits = {record.url: list(repository.history(record.url, record.document))[::-1] for record in records}
    return Findings(sorted(records, key=lambda record: record.url), visits, starts)

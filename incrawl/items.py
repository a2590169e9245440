"""A page on its way through the pipelines, and what is left of it for feeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incrawl.core.records import Outcome

if TYPE_CHECKING:
    from incrawl.core.changes import Analysis, Verdict, Volatility
    from incrawl.core.changes.impostor import Impostor
    from incrawl.core.sitemaps import Sitemap
    from incrawl.page_visit import PageVisit
    from incrawl.repository import Sidecar, Staged


@dataclass(slots=True)
class Page:
    """A fetched document. Each pipeline adds what it finds out."""

    visit: PageVisit = field(repr=False)
    url: str  # where the document came from in the end
    body: bytes = field(repr=False)
    time: float = 0.0  # the server's clock when the document had arrived
    status: int = 200
    moved_to: str = ""  # `url`, where only permanent redirects have led there
    type: str = ""
    encoding: str | None = None
    etag: str = ""
    last_modified: str = ""
    ip: str = ""
    robots_tags: tuple[str, ...] = ()  # X-Robots-Tag headers
    nofollow: bool = False  # the page asks that its links not be followed
    sitemap: Sitemap | None = field(default=None, repr=False)  # where it is one, or a feed
    previous: Sidecar | None = field(default=None, repr=False)  # the version before
    analysis: Analysis | None = field(default=None, repr=False)  # None: bytes equal to last time
    verdict: Verdict | None = field(default=None, repr=False)  # None: nothing to compare with
    impostor: Impostor | None = None  # what stands in for the page: a captcha, an error, …
    volatility: Volatility | None = field(default=None, repr=False)  # what is known of it by now
    outcome: Outcome = Outcome.NEW
    leads_away: bool = False  # the document belongs to the address that the page has moved to
    staged: Staged | None = field(default=None, repr=False)

    @property
    def brings_version(self) -> bool:
        """Whether there is a new document to be kept under the address that was visited."""
        return self.outcome in {Outcome.NEW, Outcome.CHANGED} and not self.leads_away

    @property
    def found(self) -> Outcome:
        """What the visit comes to."""
        return Outcome.MOVED if self.leads_away else self.outcome


@dataclass(slots=True)
class PageReport:
    """What a feed gets of a visited page."""

    url: str
    time: float
    outcome: str
    kinds: list[str]
    size: str
    title: str
    document: str | None

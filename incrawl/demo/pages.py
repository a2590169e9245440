"""What the demo site consists of, and what happens to it as rounds go by.

A page is a plan: how it changes, how often, when it appears and when it goes. All else follows
from the plan, a seed and the number of the round, so that what a crawl reports can be checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Change(StrEnum):
    """The one way in which a page changes."""

    NEVER = "never"
    TEXT = "text"  # a paragraph is rewritten
    REWRITE = "rewrite"  # every paragraph is
    STRUCTURE = "structure"  # tags move, the words stay
    LINKS = "links"  # a link leads elsewhere, its words stay
    GROWTH = "growth"  # links to new pages are added
    STYLE = "style"  # colours and fonts only
    SCRIPT = "script"  # the page's program only
    NOISE = "noise"  # comments and tokens, different at every request

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of change that a crawler should report; none for what is no change."""
        return _KINDS[self]


_KINDS = {
    Change.NEVER: frozenset[str](),
    Change.TEXT: frozenset({"content"}),
    Change.REWRITE: frozenset({"content"}),
    Change.STRUCTURE: frozenset({"structural"}),
    Change.LINKS: frozenset({"structural"}),
    Change.GROWTH: frozenset({"structural", "content"}),
    Change.STYLE: frozenset({"presentation"}),
    Change.SCRIPT: frozenset({"behavioural"}),
    Change.NOISE: frozenset[str](),
}
# What differs in these at three visits in a row is rightly taken for a token, which does not count.
_SETTLING = frozenset({Change.LINKS, Change.STYLE, Change.SCRIPT})


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One page of the demo site."""

    site: str
    path: str
    title: str
    change: Change = Change.NEVER
    every: int = 1  # rounds between two versions
    appears: int = 0  # first round in which it is there
    gone: int | None = None  # first round in which it is no longer there
    gone_status: int = 404
    delay: float = 0.0  # seconds until it answers
    etag: bool = False  # answers conditional requests
    hidden: bool = False  # forbidden by robots.txt

    def exists(self, round_number: int) -> bool:
        return self.appears <= round_number and (self.gone is None or round_number < self.gone)

    def version(self, round_number: int) -> int:
        """Which version the page shows: 0 at first, one more after each change."""
        if self.change in (Change.NEVER, Change.NOISE):
            return 0
        changes = (round_number - self.appears) // self.every
        return min(changes, 2) if self.change in _SETTLING else changes


def _news() -> list[DemoPage]:
    articles = [
        DemoPage("news", f"/story/{n}.html", f"Story {n}", Change.TEXT, every=2 + n % 3) for n in range(1, 9)
    ]
    return [
        DemoPage("news", "/", "The Loopback Times", Change.REWRITE),
        DemoPage("news", "/live.html", "Live ticker", Change.REWRITE),
        DemoPage("news", "/weather.html", "Weather", Change.TEXT),
        DemoPage("news", "/markets.html", "Markets", Change.NOISE),
        *articles,
        DemoPage("news", "/private/drafts.html", "Drafts", hidden=True),
    ]


def _blog() -> list[DemoPage]:
    posts = [DemoPage("blog", f"/post/{n}.html", f"Post {n}", etag=n % 2 == 0) for n in range(1, 7)]
    coming = [DemoPage("blog", f"/post/{n}.html", f"Post {n}", appears=2 * (n - 6)) for n in range(7, 9)]
    return [
        DemoPage("blog", "/", "A quiet blog", Change.GROWTH),
        DemoPage("blog", "/about.html", "About", Change.STYLE, every=2),
        DemoPage("blog", "/contact.html", "Contact", Change.SCRIPT, every=2),
        DemoPage("blog", "/friends.html", "Friends", Change.LINKS, every=2),
        DemoPage("blog", "/recipes.html", "Recipes", Change.STRUCTURE, every=2),
        *posts,
        *coming,
    ]


def _archive() -> list[DemoPage]:
    records = [DemoPage("archive", f"/record/{n}.html", f"Record {n}", etag=n > 6) for n in range(1, 13)]
    return [
        DemoPage("archive", "/", "Town archive"),
        *records,
        DemoPage("archive", "/lost.html", "Lost", gone=2),
        DemoPage("archive", "/withdrawn.html", "Withdrawn", gone=3, gone_status=410),
        DemoPage("archive", "/cellar.html", "Cellar", delay=0.7),
    ]


SITES = ("news", "blog", "archive")
PAGES = (*_news(), *_blog(), *_archive())

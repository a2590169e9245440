"""Which links may become known, and which known pages may still be asked for.

Filters, content only, robots.txt as far as it is known, and traps: all that can be said of a URL
before anything is sent. Counted as `incrawl/filters/links`, `incrawl/content/links`,
`incrawl/robots/links`, `incrawl/traps/<why>` and `incrawl/limits/links`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from incrawl.core.content import ContentRule
from incrawl.core.filters import load_filters
from incrawl.core.identity import without_credentials
from incrawl.core.traps import TrapWatch, without_session, words_of

if TYPE_CHECKING:
    from incrawl.config import Config
    from incrawl.core.robots import Robots

logger = logging.getLogger(__name__)


class Admission:
    """One per worker. `robots` gives what is known of a URL's robots.txt without asking."""

    def __init__(self, config: Config, count: Callable[..., None], robots: Callable[[str], Robots | None]):
        self.filters = load_filters(config.filters)
        self.content = ContentRule(config.content_types)
        self.traps = TrapWatch()
        self._max_links = config.max_links
        self._count = count
        self._robots = robots

    def select(self, links: Iterable[str], limit: int | None = None) -> Iterator[str]:
        """The links of one page that may become known, without session ids and credentials."""
        given = iter(links)
        for link in islice(given, limit or self._max_links):
            clean = without_session(without_credentials(link))
            if self.admits(clean):
                yield clean
        over = sum(1 for _ in given)
        if over:
            self._count("incrawl/limits/links", over)

    def admits(self, url: str) -> bool:
        """Whether a link may become known."""
        refused_by = self._refusal(url)
        if refused_by is not None:
            self._count(f"incrawl/{refused_by}")
        return refused_by is None

    def _refusal(self, url: str) -> str | None:
        if not self.filters.accepts(url):
            return "filters/links"
        if not self.content.wants_url(url):
            return "content/links"
        robots = self._robots(url)
        if robots is not None and not robots.allows(url):
            return "robots/links"
        trap = self.traps.refusal(url)
        return f"traps/{trap}" if trap else None

    def refuses_visit(self, url: str, *, is_new: bool) -> str | None:
        """Why a page that is due is not asked for: the filters have changed, or it is new and in a trap."""
        if not self.filters.accepts(url):
            return "filters/requests"
        trap = self.traps.refusal(url) if is_new else None
        return f"traps/{trap}" if trap else None

    def saw_new_page(self, url: str, texts: Iterable[str], fresh: Iterable[str]) -> list[str]:
        """What a new page says goes into the watch for traps; the patterns that are found out thereby."""
        found = self.traps.saw(url, words_of(texts), fresh)
        for pattern in found:
            self._count("incrawl/traps/found")
            logger.warning("Trap: the latest pages of %s said nothing new; %s is one of them", pattern, url)
        return found

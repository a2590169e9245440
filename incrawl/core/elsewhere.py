"""One page at two addresses: it has moved, it names another address as its own, or it says what another says.

The record of the one address then rests, and the other one goes on. What a single visit has seen is
noted only: it takes two that agree, or a page's own word that turns out true, to lay a record to rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlsplit

from incrawl.core.identity import without_credentials
from incrawl.core.links import site_of
from incrawl.core.urls import canonical, is_web_url

PERMANENT = frozenset({301, 308})


class Relation(StrEnum):
    MOVED = "moved"  # permanent redirects lead there
    CANONICAL = "canonical"  # the page names it as its own address, and it says the same
    DUPLICATE = "duplicate"  # it has said the same ever since both were known


_TOLD = {
    Relation.MOVED: "moved to ",
    Relation.CANONICAL: "calls itself ",
    Relation.DUPLICATE: "the same as ",
}


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where else a page is, as its latest visits found."""

    relation: Relation
    url: str
    settled: bool = False  # this record rests, the other one goes on

    def seen_after(self, before: Elsewhere | None) -> Elsewhere:
        """What a visit found, given what the one before it had found: settled when both say the same.

        >>> there = Elsewhere(Relation.MOVED, "http://a.test/new")
        >>> there.seen_after(None).settled, there.seen_after(there).settled
        (False, True)
        """
        again = before is not None and (before.relation, before.url) == (self.relation, self.url)
        return replace(self, settled=again or self.settled)

    def __str__(self) -> str:
        told = _TOLD[self.relation] + self.url
        return told if self.settled else f"{told} (not certain yet)"


def moved_to(url: str, final_url: str, reasons: Sequence[object]) -> str:
    """Where a page has moved to, by the statuses of the redirects on the way there; "" if it has not.

    >>> moved_to("http://a.test/x", "http://a.test/y", [301, 308])
    'http://a.test/y'
    >>> moved_to("http://a.test/x", "http://a.test/y", [301, 302])
    ''
    """
    permanent = bool(reasons) and all(reason in PERMANENT for reason in reasons)
    return final_url if permanent and not is_same(url, final_url) else ""


def is_same(url: str, other: str) -> bool:
    """Whether two URLs are spellings of one."""
    try:
        return canonical(url) == canonical(other)
    except ValueError:
        return url == other


def level_at(url: str, target: str, level: int) -> int:
    """How far the links of a page are followed at the address that it has moved to.

    Inside its site, and where the site has moved as a whole, as far as before; else it is a single page of
    somebody else's.

    >>> [level_at("http://a.test/x", target, 3) for target in ("https://www.a.test/y", "http://b.test/y")]
    [3, 0]
    """
    old, new = urlsplit(url), urlsplit(target)
    front_page = old.path in {"", "/"} and not old.query
    whole_site = front_page or (old.path, old.query) == (new.path, new.query)
    return level if whole_site or site_of(url) == site_of(target) else 0


def own_address(url: str, named: str) -> str:
    """The address that a page names as its own, where that is another one of its site; else ""."""
    named = without_credentials(named)
    if not named or not is_web_url(named) or is_same(url, named):
        return ""
    return named if site_of(named) == site_of(url) else ""

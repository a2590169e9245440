"""What a user wants left out of comparisons, site by site."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import xxhash
from cssselect import HTMLTranslator, SelectorError
from lxml import etree

from incrawl.core.changes.kinds import Kind


@dataclass(frozen=True)
class IgnoreRules:
    """Rules for one site. A mistake in them raises ValueError with a sentence that names it."""

    selectors: tuple[str, ...] = ()  # CSS: these elements are left out
    patterns: tuple[str, ...] = ()  # regular expressions: text that matches is left out
    kinds: frozenset[Kind] = frozenset()  # changes of these kinds do not count
    threshold: float = 0.0  # a change of a smaller share of the page does not count
    impostors: bool = True  # whether captcha, login and error pages are told from the page

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"the threshold {self.threshold} is not between 0 and 1")
        assert (
            self.xpaths is not None and self.expressions is not None
        )  # compiled here, so that mistakes show

    @cached_property
    def xpaths(self) -> tuple[Any, ...]:
        return tuple(_compiled_selector(selector) for selector in self.selectors)

    @cached_property
    def expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(_compiled_pattern(pattern) for pattern in self.patterns)

    @cached_property
    def key(self) -> int:
        """Signatures that were made under different rules cannot be compared; 0 for no rules."""
        if not self.selectors and not self.patterns:
            return 0
        return xxhash.xxh32_intdigest(json.dumps([self.selectors, self.patterns]).encode()) or 1


NO_RULES = IgnoreRules()


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules by site: a host, a domain for all hosts below it, or `*` for all others."""

    sites: Mapping[str, IgnoreRules] = field(default_factory=dict)

    def rules_for(self, host: str) -> IgnoreRules:
        """The rules of the nearest site.

        >>> book = RuleBook({"example.com": IgnoreRules(threshold=0.1)})
        >>> book.rules_for("www.example.com:8000").threshold
        0.1
        """
        if host in self.sites:
            return self.sites[host]
        labels = host.partition(":")[0].split(".")
        domains = (".".join(labels[start:]) for start in range(len(labels)))
        return next(
            (self.sites[domain] for domain in domains if domain in self.sites), self.sites.get("*", NO_RULES)
        )


def read_rules(value: Any) -> RuleBook:
    """Rules as a setting gives them, as a mapping or as JSON.

    >>> read_rules('{"example.com": {"selectors": [".ad"]}}').rules_for("example.com").selectors
    ('.ad',)
    """
    sites = json.loads(value) if isinstance(value, str) and value.strip() else value or {}
    if not isinstance(sites, Mapping):
        raise ValueError('it must be a mapping such as {"example.com": {"selectors": [".ad"]}}')
    return RuleBook(
        {str(site).strip().lower(): _read_site(str(site), given) for site, given in sites.items()}
    )


def _read_site(site: str, given: Any) -> IgnoreRules:
    known = {item.name for item in fields(IgnoreRules)}
    if not isinstance(given, Mapping) or set(given) - known:
        raise ValueError(f"the rules of {site} may only have {', '.join(sorted(known))}")
    try:
        return IgnoreRules(
            selectors=_words(given.get("selectors", ())),
            patterns=_words(given.get("patterns", ())),
            kinds=frozenset(Kind(kind) for kind in _words(given.get("kinds", ()))),
            threshold=float(given.get("threshold", 0)),
            impostors=_switch(given.get("impostors", True)),
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"the rules of {site} are wrong: {error}") from None


def _switch(given: Any) -> bool:
    if not isinstance(given, bool):
        raise ValueError(f"impostors is {given!r}, not true or false")
    return given


def _words(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _compiled_selector(selector: str) -> Any:
    try:
        return etree.XPath(HTMLTranslator().css_to_xpath(selector))
    except (SelectorError, etree.XPathError) as error:
        raise ValueError(f"{selector!r} is no CSS selector ({error})") from None


def _compiled_pattern(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression ({error})") from None

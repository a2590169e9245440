"""robots.txt by RFC 9309: what a fetched file, or the lack of one, allows this crawler.

Bad lines are passed over, never an error. Where the RFC is silent (typing mistakes, `Crawl-delay`,
a missing colon) this reads what site owners evidently mean, as Protego does; where Protego and the
RFC differ (whole product tokens, unknown lines inside a group), the RFC is followed.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

MAX_BYTES = 500 * 1024
LIFETIME = 24 * 3600.0
MAX_CRAWL_DELAY = 3600.0
MAX_SITEMAPS = 100

_AGENT = frozenset({"user-agent", "useragent", "user agent"})
_DISALLOW = frozenset({"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"})
_SITEMAP = frozenset({"sitemap", "sitemaps", "site-map"})
_CRAWL_DELAY = frozenset({"crawl-delay", "crawl delay", "crawldelay"})
_KNOWN = _AGENT | _DISALLOW | _SITEMAP | _CRAWL_DELAY | {"allow"}

_LINE_END = re.compile(r"\r\n|\r|\n")
_WITHOUT_COLON = re.compile(r"(user[- ]?agent|(?:dis)?allow|crawl[- ]delay|sitemap)(?:\s+(.*))?", re.I)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT = "%/?#[]@!&'()+,;=:~"  # reserved characters stay as they are; `*` and `$` have meanings of their own


@dataclass(frozen=True, slots=True)
class Rule:
    """One Allow or Disallow line, its pattern in comparable form."""

    allow: bool
    pattern: str

    def matches(self, path: str) -> bool:
        """In time linear in the lengths: each piece between two `*` is looked for once, leftmost."""
        pattern = self.pattern
        anchored = pattern.endswith("$")
        first, *rest = pattern[: -1 if anchored else None].split("*")
        if not path.startswith(first):
            return False
        if not rest:
            return not anchored or len(path) == len(first)
        position = len(first)
        for piece in rest[:-1]:
            found = path.find(piece, position)
            if found < 0:
                return False
            position = found + len(piece)
        if anchored:
            return len(path) - len(rest[-1]) >= position and path.endswith(rest[-1])
        return path.find(rest[-1], position) >= 0


@dataclass(frozen=True, slots=True)
class Robots:
    """What one robots.txt says to one crawler.

    >>> robots = parse_robots(b"User-agent: *\\nDisallow: /private\\nAllow: /private/open", "incrawl")
    >>> robots.allows("http://a.test/private/x"), robots.allows("http://a.test/private/open")
    (False, True)
    """

    rules: tuple[Rule, ...] = ()  # longest pattern first, of equal ones the allowing first
    crawl_delay: float | None = None
    sitemaps: tuple[str, ...] = ()

    def allows(self, url: str) -> bool:
        """The longest matching pattern decides; without one, everything is allowed."""
        path = path_of(url)
        if path == "/robots.txt":
            return True
        return next((rule.allow for rule in self.rules if rule.matches(path)), True)

    def pack(self) -> bytes:
        """For the cache that workers share."""
        rules = [[int(rule.allow), rule.pattern] for rule in self.rules]
        return json.dumps([1, rules, self.crawl_delay, self.sitemaps]).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Robots | None:
        """None for what this version did not write: the file is then fetched again."""
        try:
            version, rules, crawl_delay, sitemaps = json.loads(data)
            read = tuple(Rule(bool(allow), str(pattern)) for allow, pattern in rules)
            return cls(read, crawl_delay, tuple(sitemaps)) if version == 1 else None
        except (ValueError, TypeError):
            return None


ALLOW_ALL = Robots()


def robots_from(status: int, body: bytes, agent: str) -> Robots | None:
    """What a robots.txt answer means (RFC 9309, 2.3.1); None: unreachable, leave the host in peace.

    Redirects have been followed by the caller; one that led nowhere comes with its 3xx status.
    """
    if 200 <= status < 300:
        return parse_robots(body, agent)
    if 300 <= status < 500 and status != 429:
        return ALLOW_ALL
    return None


@dataclass(slots=True)
class _Group:
    agents: list[str] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)


def parse_robots(body: bytes, agent: str) -> Robots:
    """The rules for `agent`, a product token such as `incrawl`, in the first 500 KiB of a file."""
    groups: list[_Group] = []
    delays: dict[str, float | None] = {}
    sitemaps: list[str] = []
    last = "rule"  # only a rule ends a group: the next User-agent line then starts another
    named: list[str] = []  # agents of the User-agent lines right above, whose Crawl-delay it is
    for name, value in directives(body):
        if name in _AGENT:
            if last == "rule":
                groups.append(_Group())
            if last != "agent":
                named = []
            named.append(product_token(value))
            groups[-1].agents.append(named[-1])
            last = "agent"
        elif name in _SITEMAP:
            sitemaps.append(value)
        elif groups and name in _CRAWL_DELAY:
            delays.update(dict.fromkeys(named, read_delay(value)))
            last = "delay" if last == "agent" else last
        elif groups:
            groups[-1].rules.extend(rules_of(name == "allow", value))
            last = "rule"
    return choose(groups, delays, agent.lower(), tuple(sitemaps[:MAX_SITEMAPS]))


def choose(
    groups: list[_Group], delays: dict[str, float | None], agent: str, sitemaps: tuple[str, ...]
) -> Robots:
    """The groups that name the agent, joined; those for `*` where none does."""
    name = agent if any(agent in group.agents for group in groups) else "*"
    rules = {rule for group in groups if name in group.agents for rule in group.rules}
    ordered = sorted(rules, key=lambda rule: (-len(rule.pattern), not rule.allow, rule.pattern))
    return Robots(tuple(ordered), delays.get(name), sitemaps)


def directives(body: bytes) -> list[tuple[str, str]]:
    """The known lines of a file as (name, value). A line cut off at 500 KiB is left out."""
    text = body[:MAX_BYTES].lstrip(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    lines = _LINE_END.split(text)
    if len(body) > MAX_BYTES:
        lines.pop()
    return [found for line in lines if (found := directive(line.partition("#")[0].strip())) is not None]


def directive(line: str) -> tuple[str, str] | None:
    name, colon, value = line.partition(":")
    name = name.strip().lower()
    if not colon or name not in _KNOWN:
        without_colon = _WITHOUT_COLON.fullmatch(line)
        if without_colon is None:
            return None
        name, value = without_colon[1].lower(), without_colon[2] or ""
        if colon and not value.startswith(("/", "*", "http")):
            return None  # a sentence, or the name of something else: the colon is no part of an address
    return name, value.strip()


def product_token(value: str) -> str:
    """`foobot` of `FooBot/1.2 (beta)`; wildcards other than a lone `*` mean nothing."""
    token = re.split(r"[\s/,;(]", value.lower(), maxsplit=1)[0]
    return token if token == "*" else token.replace("*", "")


def read_delay(value: str) -> float | None:
    try:
        delay = float(value)
    except ValueError:
        return None
    return min(delay, MAX_CRAWL_DELAY) if math.isfinite(delay) and delay >= 0 else None


def rules_of(allow: bool, value: str) -> list[Rule]:
    """A line's rule; a directory whose index page is allowed is allowed itself."""
    if not value:
        return []
    if value.startswith(("http://", "https://")):
        value = f"/{value}"  # a page of this site that is about another one
    pattern = comparable(value, is_pattern=True)
    found = [Rule(allow, pattern)]
    if allow and pattern.endswith("/index.html"):
        found.append(Rule(allow, pattern.removesuffix("index.html") + "$"))
    return found


def path_of(url: str) -> str:
    """What rules are compared with: path and query, in comparable form."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "/"
    query = f"?{parts.query}" if parts.query or url.partition("#")[0].endswith("?") else ""
    return comparable((parts.path or "/") + query, is_pattern=False)


def comparable(text: str, *, is_pattern: bool) -> str:
    """One spelling for all: unreserved characters bare, all others but reserved ones percent-encoded.

    In a pattern `*` and a last `$` keep their meaning; elsewhere both are ordinary characters.
    """
    anchored = is_pattern and text.endswith("$")
    plain = _ESCAPE.sub(_bare_if_unreserved, text.removesuffix("$") if anchored else text)
    escaped = quote(plain.encode("utf-8", "surrogateescape"), safe=_KEPT + ("*" if is_pattern else ""))
    return escaped + "$" if anchored else escaped


def _bare_if_unreserved(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else f"%{match[1].upper()}"

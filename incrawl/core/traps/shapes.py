"""What can be told from a URL alone: loops, session ids, and the pattern that it belongs to."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

import tldextract

MAX_SEGMENTS = 25
MAX_PARAMETERS = 20
MAX_REPEATS = 2  # of a run of segments, right after itself
MAX_SAME = 3  # equal segments in one path

_SESSION_NAMES = (
    "jsessionid|phpsessid|aspsessionid\\w*|asp\\.net_sessionid|sessionid|session_id|sessid|cfid|cftoken|zenid|"
    "oscsid|xtcsid|sid"
)
_SESSION_PARAMETER = re.compile(rf"(?i)(?<=[?&])(?:{_SESSION_NAMES})=[^&]*(?:&|$)")
_SESSION_IN_PATH = re.compile(r"(?i);jsessionid=[^/?#]*|/\(S\([a-z0-9]{8,}\)\)(?=/)")
_REPEATED_RUN = re.compile(rf"((?:/[^/]+){{1,6}}?)\1{{{MAX_REPEATS},}}(?=/|$)")
_HEX = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4}", re.I)
_NUMBER = re.compile(r"[0-9]+")

# The list that comes with the package: looking up a newer one would be a request of its own.
_domains = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def loop_in(url: str) -> str | None:
    """Why the URL can only come out of a loop, in a word; None for an ordinary one.

    >>> loop_in("http://a.test/x/y/x/y/x/y"), loop_in("http://a.test/2011/11/11/")
    ('repeats', None)
    """
    parts = _split(url)
    if parts is None:
        return None
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return "depth"
    if parts.query.count("&") >= MAX_PARAMETERS:
        return "parameters"
    # Numbers may well repeat: dates, coordinates, pages of pages.
    words = Counter(segment for segment in segments if not segment.isdigit())
    repeated = _REPEATED_RUN.search(parts.path)
    if max(words.values(), default=0) > MAX_SAME or (repeated and not _is_number(repeated[1])):
        return "repeats"
    return None


def without_session(url: str) -> str:
    """The URL without the session ids that are known by their names.

    >>> without_session("http://a.test/x;jsessionid=A1?PHPSESSID=b&page=2")
    'http://a.test/x?page=2'
    """
    bare, hash_, fragment = url.partition("#")
    head, question, query = _SESSION_IN_PATH.sub("", bare).partition("?")
    kept = _SESSION_PARAMETER.sub("", question + query)
    if kept != question + query:
        kept = kept.rstrip("?&")
    return head + kept + hash_ + fragment


@lru_cache(1000)  # asked when a page is due and again when it was fetched
def shapes_of(url: str) -> tuple[str, ...]:
    """The patterns that a URL belongs to, from narrow to wide: what varies in them is left open.

    The widest, `first segment/**`, takes in any depth and any query below one part of a site.

    >>> shapes_of("http://www.a.test/calendar/2031/07?view=month")
    ('www.a.test/calendar/#/#?view', 'www.a.test/calendar/*/*?view', 'www.a.test/calendar/**')
    """
    parts = _split(url)
    if parts is None:
        return ()
    segments = parts.path.strip("/").split("/")
    keys = "&".join(sorted({pair.partition("=")[0] for pair in parts.query.split("&") if pair}))
    query = f"?{keys}" if keys else ""
    narrow = "/".join(_open_segment(segment) for segment in segments) + query
    wide = "/".join((_open_segment(segments[0]), *("*" for _ in segments[1:]))) + query
    host = (parts.hostname or "").rstrip(".")
    shapes = [f"{host}/{narrow}", f"{host}/{wide}", f"{host}/{_open_segment(segments[0])}/**"]
    domain = registered_domain(host)
    if host not in {domain, f"www.{domain}"}:
        shapes.append(f"*.{domain}/{narrow}")
    return tuple(dict.fromkeys(shapes))


@lru_cache(10_000)
def registered_domain(host: str) -> str:
    """`example.co.uk` of `www.shop.example.co.uk`; a host without a public suffix is its own domain."""
    found = _domains(host)
    if found.ipv4 or found.ipv6 or ":" in host:
        return host
    return found.top_domain_under_public_suffix or ".".join(host.split(".")[-2:])


def _open_segment(segment: str) -> str:
    """A segment with numbers and identifiers left open; words stand for themselves."""
    return _NUMBER.sub("#", _HEX.sub("#", segment.lower()))


def _is_number(run: str) -> bool:
    return run.replace("/", "").isdigit()


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None

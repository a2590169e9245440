"""Sitemaps and feeds: the URLs that a site names by itself, and when it says they changed.

Sitemap files, sitemap indexes, plain lists of URLs, RSS and Atom. No entity is ever resolved, sizes are
bounded, and what is broken gives what could be read before it broke.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any
from urllib.parse import urljoin

from lxml import etree

from incrawl.core.urls import is_web_url

SITEMAP_KEY = "sitemap"
REQUEST = f'{{"meta":{{"{SITEMAP_KEY}":true}}}}'
"""What the record of a sitemap keeps as its request: by that it is known for one."""

MAX_BYTES = 50 * 1024 * 1024  # what the sitemap protocol allows, unpacked
MAX_ENTRIES = 50_000
MAX_APART = 10_000  # elements between two entries, all of which are kept until the next one

_ENTRY_NAMES = frozenset({"url", "sitemap", "item", "entry"})
_DATE_NAMES = frozenset({"lastmod", "updated", "published", "pubDate", "date"})
_W3C_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")


class Kind(StrEnum):
    SITEMAP = "sitemap"  # names pages
    INDEX = "index"  # names sitemaps
    FEED = "feed"  # names pages, the latest only


@dataclass(frozen=True, slots=True)
class Entry:
    url: str
    changed: float | None  # when the site says the page last changed


@dataclass(frozen=True, slots=True)
class Sitemap:
    kind: Kind
    entries: tuple[Entry, ...]
    whole: bool  # False when it was cut or broken


_ROOTS = {
    "urlset": Kind.SITEMAP,
    "sitemapindex": Kind.INDEX,
    "rss": Kind.FEED,
    "feed": Kind.FEED,
    "RDF": Kind.FEED,
}


def read_sitemap(body: bytes, url: str) -> Sitemap | None:
    """What a file names, relative to its own `url`; None where it is neither sitemap nor feed."""
    text = unpacked(body)
    if text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return read_xml(text, url)
    return read_list(text)


def unpacked(body: bytes) -> bytes:
    """The bytes of a gzip file, as far as they can be read and are allowed; other bytes as they are."""
    if not body.startswith(b"\x1f\x8b"):
        return body[: MAX_BYTES + 1]
    try:
        return zlib.decompressobj(wbits=31).decompress(body, MAX_BYTES + 1)
    except zlib.error:
        return b""


def read_list(text: bytes) -> Sitemap | None:
    """A plain list of URLs, one a line."""
    lines = text[:MAX_BYTES].decode("utf-8", "replace").split()
    found = tuple(Entry(line, None) for line in lines[:MAX_ENTRIES] if is_web_url(line))
    mostly_urls = len(found) * 2 > min(len(lines), MAX_ENTRIES)
    whole = len(text) <= MAX_BYTES and len(lines) <= MAX_ENTRIES
    return Sitemap(Kind.SITEMAP, found, whole) if mostly_urls else None


def read_xml(text: bytes, url: str) -> Sitemap | None:
    kind: Kind | None = None
    entries: list[Entry] = []
    whole, apart = len(text) <= MAX_BYTES, 0
    try:
        for event, element in parse_events(text[:MAX_BYTES]):
            name = local_name(element)
            if event == "start":
                apart += 1
                if apart > MAX_APART:
                    whole = False
                    break
                kind = kind or _ROOTS.get(name)
                if kind is None:
                    return None  # the first element is another file's
            elif name in _ENTRY_NAMES:
                entries.extend(entries_of(element, name, url))
                forget(element)
                apart = 0
                if len(entries) >= MAX_ENTRIES:
                    whole = False
                    break
    except etree.XMLSyntaxError:
        whole = False
    return Sitemap(kind, tuple(entries[:MAX_ENTRIES]), whole) if kind else None


def parse_events(text: bytes) -> Iterator[tuple[str, Any]]:
    """Elements as they begin and end. `recover` reads on after mistakes as far as it makes sense."""
    events: Iterator[tuple[str, Any]] = etree.iterparse(
        io.BytesIO(text),
        events=("start", "end"),
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    return events


def entries_of(element: Any, name: str, base: str) -> Iterator[Entry]:
    """The page that one `url`, `sitemap`, `item` or `entry` element is about."""
    link, dates = "", []
    own_namespace = etree.QName(element).namespace
    for child in element:
        child_name = local_name(child)
        if child_name in _DATE_NAMES:
            dates.append(read_date(child.text or ""))
        # `image:loc` and the like are about something else.
        elif etree.QName(child).namespace == own_namespace and is_link(child, child_name, name):
            link = link or (child.get("href") or child.text or "").strip()
    target = joined(base, link)
    if target is not None:
        known = [date for date in dates if date is not None]
        yield Entry(target, max(known, default=None))


def is_link(child: Any, child_name: str, entry_name: str) -> bool:
    if entry_name in {"url", "sitemap"}:
        return child_name == "loc"
    return child_name == "link" and child.get("rel", "alternate") == "alternate"


def joined(base: str, link: str) -> str | None:
    try:
        target = urljoin(base, link) if link else ""
    except ValueError:
        return None
    return target if is_web_url(target) else None


def local_name(element: Any) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def forget(element: Any) -> None:
    """Frees an element that has been read, and its elder siblings, so that memory stays flat."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def read_date(text: str) -> float | None:
    """A W3C date (2026, 2026-11, 2026-11-18, with a time or without) or a mail date, in Unix seconds.

    >>> read_date("1970-01-02"), read_date("Thu, 01 Jan 1970 00:00:10 GMT")
    (86400.0, 10.0)
    """
    text = text.strip()[:64]
    try:
        date = _w3c_date(text) if text[:4].isdigit() else parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _w3c_date(text: str) -> datetime:
    short = _W3C_DATE.fullmatch(text)
    if short:
        return datetime(int(short[1]), int(short[2] or 1), int(short[3] or 1), tzinfo=UTC)
    return datetime.fromisoformat(text)

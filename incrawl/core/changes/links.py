"""Links of a page: where they lead, in normal form for the verdict and as absolute URLs for the crawl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit
from xml.sax.saxutils import escape

import numpy as np
import xxhash

from incrawl.core.changes.attributes import Group, Name, name_hash
from incrawl.core.changes.ignored import Ignored
from incrawl.core.changes.markup import Markup
from incrawl.core.changes.noise import has_noise, plain_link
from incrawl.core.changes.vocabulary import among
from incrawl.core.urls import MAX_URL_LENGTH, is_web_url

MAX_LINKS = 5000
"""Links that are taken from one page; the rest is left out and counted."""

_HREF, _SRC, _REL = name_hash(b"href"), name_hash(b"src"), Name.of("rel")
_ANCHORS, _FRAMES = among("a", "area"), among("frame", "iframe")
_SCRIPT = (b"javascript:", b"Javascript:", b"JavaScript:", b"vbscript:")
_HIDDEN_MAIL = re.compile(rb"/cdn-cgi/l/email-protection#?[0-9a-f]*")
_NONE = np.empty(0, np.int64)
_UNTOUCHED = ("http://", "https://")


@dataclass(frozen=True)
class Links:
    """All addresses of a page that lead somewhere, in document order, as written."""

    targets: list[bytes]
    elements: Any  # that have them
    crawled: Any  # whether it leads to another page; a form's action does not
    nofollow: frozenset[int]  # elements whose link is not to be followed
    base: str = ""

    @cached_property
    def urls(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Absolute http(s) URLs without duplicates: those to follow, and those marked nofollow."""
        resolve = Resolver(self.base)
        followed: dict[str, None] = {}
        apart: dict[str, None] = {}
        for target, element, crawled in zip(
            self.targets, self.elements.tolist(), self.crawled.tolist(), strict=True
        ):
            if crawled and (url := resolve(target.decode("utf-8", "replace"))):
                (apart if element in self.nofollow else followed)[url] = None
        others = [url for url in apart if url not in followed]
        return tuple(followed), tuple(others)


def find_links(markup: Markup, base: str) -> Links:
    """Every address on the page that leads somewhere."""
    attributes = markup.attributes
    span = attributes.span(Group.LINK)
    elements, names, targets = attributes.elements[span], attributes.names[span], attributes.values[span]
    crawled = (names == _HREF) & _ANCHORS(markup.numbers[elements])
    framed = _frames(markup)
    if len(framed) or (len(names) and names.min() != names.max()):  # one name alone is in document order
        elements = np.concatenate((elements, attributes.elements[framed]))
        order = elements.argsort(kind="stable")
        targets += map(attributes.values.__getitem__, framed.tolist())
        targets = list(map(targets.__getitem__, order.tolist()))
        crawled = np.concatenate((crawled, np.ones(len(framed), np.bool_)))[order]
        elements = elements[order]
    nofollow = [element for element, rel in attributes.named(_REL) if b"nofollow" in rel.lower().split()]
    return Links(targets, elements, crawled, frozenset(nofollow), base)


def _frames(markup: Markup) -> Any:
    """Positions of the addresses of frames."""
    attributes = markup.attributes
    span = attributes.span(Group.RESOURCE)
    if span.start == span.stop:
        return _NONE
    framed = (attributes.names[span] == _SRC) & _FRAMES(markup.numbers[attributes.elements[span]])
    return framed.nonzero()[0] + span.start


def normal_targets(links: Links, ignored: Ignored) -> list[bytes]:
    """Where the links lead, in normal form: without the page's own host, tokens and session ids."""
    joined = b"\0".join(links.targets)
    origin = origin_of(links.base).encode("utf-8", "replace")
    noisy = has_noise(joined) or b"/cdn-cgi/l/" in joined or b"script:" in joined
    if not noisy and not (origin and origin in joined):
        return links.targets
    own = [target.removeprefix(origin) for target in links.targets]
    return [_normal(target, ignored) for target in own] if noisy else own


def _normal(target: bytes, ignored: Ignored) -> bytes:
    if target.startswith(_SCRIPT):
        return b""
    target = _HIDDEN_MAIL.sub(b"", target)
    if b"?" not in target and b";" not in target:
        return target
    link = unescape(target.decode("utf-8", "replace"))
    plain = plain_link(link)
    if plain == link:
        return target
    ignored.add("session or token in link", link)
    return escape(plain, {'"': "&quot;"}).encode()  # as links are written that hold nothing of the kind


def scripts_in_links(links: Links) -> list[bytes]:
    return [target for target in links.targets if target.startswith(_SCRIPT)]


def link_hashes(targets: list[bytes], paragraphs: Any, count: int) -> Any:
    """For each of `count` paragraphs 32 bits that change when one of its links leads elsewhere."""
    sums = np.zeros(count, np.uint64)
    if count and targets:
        np.add.at(sums, paragraphs, np.array(list(map(xxhash.xxh32_intdigest, targets)), np.uint64))
    return (sums & 0xFFFFFFFF).astype("<u4")


def origin_of(url: str) -> str:
    """`https://example.com:8000` of a URL, "" where it has none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


class Resolver:
    """Makes addresses absolute. The usual forms take a short cut around `urljoin`, with the same result."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._origin = origin_of(base)

    def __call__(self, target: str) -> str:
        """The absolute URL without fragment, "" where it is none for the web."""
        address = unescape(target) if "&" in target else target
        address = address.strip().replace("\n", "").replace("\r", "").replace("\t", "").partition("#")[0]
        if not address or len(address) > MAX_URL_LENGTH:
            return ""
        try:
            url = self._join(address)
        except ValueError:
            return ""
        return url if is_web_url(url) else ""

    def _join(self, address: str) -> str:
        if "/." not in address:
            if address.startswith(_UNTOUCHED):
                return address
            if self._origin and address[0] == "/" and address[1:2] != "/":
                return self._origin + address
        return urljoin(self._base, address)

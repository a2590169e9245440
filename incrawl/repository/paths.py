"""From any URL to one safe place inside a run: `example.com/news/today.htm`.

A name is made readable first, by whatever it takes. Then the URL is worked out again from that
name: where this gives another URL than the one at hand, the name gets the Doc ID at its end. So
two URLs never share a place, and plain URLs keep plain names.

Pages end in one of `OWN_ENDINGS` or get `.htm`; folders never end like that. So `/a` (`a.htm`) and
`/a/b` (`a/b.htm`) live side by side. All names are in lower case, for file systems that ignore case.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from incrawl.core.urls import ID_BYTES, canonical, url_id

OWN_ENDINGS = (".html", ".xhtml", ".xml", ".txt", ".json", ".rss", ".atom", ".pdf")
ADDED_ENDING = ".htm"
FRONT_PAGE = "index" + ADDED_ENDING
SIDECAR_ENDING = ".meta"
VISITS_ENDING = ".visits"
JOURNAL_ENDING = ".jsonl"
NAME_BYTES = 80
MAX_FOLDERS = 16

_FILE_ENDINGS = (*OWN_ENDINGS, ADDED_ENDING, SIDECAR_ENDING, VISITS_ENDING, JOURNAL_ENDING)
_UNSAFE = re.compile(r"[^\w.-]+")
_DEVICES = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\.|$)")


class Place(NamedTuple):
    """Where a page lies inside every run that has a version of it."""

    doc_id: str  # hexadecimal; names the page while it is staged
    folders: tuple[str, ...]  # the first one is the host's
    name: str


@lru_cache(maxsize=4096)
def place_of(url: str) -> Place:
    """The place of a page. All spellings of a URL share it; no two pages do; no URL is refused."""
    try:
        page = canonical(url)
        return _place(page, urlsplit(page), url_id(page).hex())
    except ValueError:  # no URL in any usual sense: a bad port, half an IPv6 address, lone surrogates
        doc_id = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=ID_BYTES).hexdigest()
        return Place(doc_id, ("_",), f"~{doc_id}{ADDED_ENDING}")


def _place(page: str, parts: SplitResult, doc_id: str) -> Place:
    *above, last = parts.path.removeprefix("/").split("/")
    folders = (_host_folder(parts), *map(_folder, above[:MAX_FOLDERS]))
    stem, ending = _stem_and_ending(last)
    name = _safe(stem) + ending if last else FRONT_PAGE
    if _plain_url(folders, name) != page:
        readable = _safe(f"{stem or 'index'} {parts.query}".rstrip())
        name = f"{readable}~{doc_id}{ending}"
    return Place(doc_id, folders, name)


def _plain_url(folders: tuple[str, ...], name: str) -> str:
    """The one URL that this place is the plain name of; hosts with a port are taken to speak http."""
    host, _, port = folders[0].partition("+")
    origin = f"http://{host}:{port}" if port else f"https://{host}"
    last = "" if name == FRONT_PAGE else name.removesuffix(ADDED_ENDING)
    return "/".join((origin, *folders[1:], last))


def _host_folder(parts: SplitResult) -> str:
    host = _folder(parts.hostname or "")
    return host if parts.port is None else f"{host}+{parts.port}"


def _folder(segment: str) -> str:
    name = _safe(segment)
    return name + "_" if name.endswith(_FILE_ENDINGS) else name


def _stem_and_ending(segment: str) -> tuple[str, str]:
    for ending in OWN_ENDINGS:
        if segment.endswith(ending) and segment != ending:
            return segment.removesuffix(ending), ending
    return segment, ADDED_ENDING


def _safe(text: str) -> str:
    """A file name that every usual file system takes: no reserved sign, no device, bounded, not hidden."""
    readable = unicodedata.normalize("NFC", unquote(text).lower())
    name = _UNSAFE.sub("_", readable).encode()[:NAME_BYTES].decode(errors="ignore").rstrip(".")
    if not name or name[0] in ".-" or _DEVICES.match(name):
        name = "_" + name
    return name

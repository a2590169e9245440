"""Content pages only: what is worth asking for, and what is worth keeping once it has come.

Three looks at a page, each cheaper than the next: the extension in its URL before it is requested,
its Content-Type before the body is read, its first bytes because a Content-Type may lie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

DEFAULT_TYPES = (
    "text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml",
    "application/rss+xml", "application/atom+xml",
)  # fmt: skip

SNIFFED_BYTES = 1024

_EXTENSIONS_OF = {
    "image": "avif bmp cur gif heic ico jfif jpe jpeg jpg png psd raw svg svgz tif tiff webp",
    "audio": "aac aif aiff flac m4a m4b mid midi mp3 oga ogg opus ra wav weba wma",
    "video": "3gp asf avi flv m4v mkv mov mp4 mpeg mpg ogv qt rm swf ts vob webm wmv",
    "font": "eot otf ttf woff woff2",
    "text/css": "css less scss",
    "text/javascript": "js jsx mjs",
    "application/json": "json jsonld map webmanifest geojson",
    "application/zip": "7z apk bz2 cab deb dmg gz iso jar lz lzma rar rpm tar tbz tgz txz war xz z zip zst",
    "application/octet-stream": "bin dat db dll exe img msi pkg sqlite wasm",
    "application/pdf": "pdf",
    "application/postscript": "ai eps ps",
    "application/msword": "doc docm docx dot dotx",
    "application/vnd.ms-excel": "xls xlsb xlsm xlsx xlt",
    "application/vnd.ms-powerpoint": "pot pps ppsx ppt pptm pptx",
    "application/vnd.oasis.opendocument": "odb odf odg odp ods odt",
    "application/epub+zip": "epub mobi azw3",
    "application/rtf": "rtf",
    "text/csv": "csv tsv",
    "text/calendar": "ics ical",
    "text/vcard": "vcf",
}  # fmt: skip
TYPE_OF_EXTENSION = {name: kind for kind, names in _EXTENSIONS_OF.items() for name in names.split()}

_SAYS_NOTHING = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown",
                           "unknown/unknown", "*/*", "content/unknown"})  # fmt: skip
# Most binary formats give themselves away by control bytes; these may begin like a text.
_MAGIC = (
    b"%PDF-",
    b"%!PS",
    b"{\\rtf",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"PK\x03\x04",
    b"\x1f\x8b",
)
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UNICODE_MARKS = (*_WIDE_MARKS, b"\xef\xbb\xbf")
_NO_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_MARKUP = re.compile(
    rb"\s*(?:<!doctype|<html|<head|<body|<!--|<\?xml|<h1|<title|<script|<div|<p\b|<a\b)", re.I
)


@dataclass(frozen=True, slots=True)
class ContentRule:
    """Which pages are content: the media types that are kept (`text/html`, or `text/*`)."""

    types: frozenset[str] = frozenset(DEFAULT_TYPES)

    def wants_url(self, url: str) -> bool:
        """False where the extension names a type that would not be kept.

        >>> ContentRule().wants_url("http://example.com/logo.png?size=2")
        False
        """
        kind = TYPE_OF_EXTENSION.get(extension_of(url))
        return kind is None or self.keeps(kind)

    def wants_type(self, content_type: str) -> bool | None:
        """Whether a page of this Content-Type is kept; None where the type says nothing."""
        kind = media_type(content_type)
        return None if kind in _SAYS_NOTHING else self.keeps(kind)

    def wants_body(self, content_type: str, first_bytes: bytes) -> bool:
        """Whether the page is kept, going by its first bytes where its type says nothing or lies."""
        by_type = self.wants_type(content_type)
        if by_type is None:
            return self.keeps("text/html") and looks_like_markup(first_bytes)
        if by_type and is_textual(media_type(content_type)):
            return "charset=utf-16" in content_type.lower() or not looks_binary(first_bytes)
        return by_type

    def keeps(self, kind: str) -> bool:
        return kind in self.types or f"{kind.partition('/')[0]}/*" in self.types


def extension_of(url: str) -> str:
    """The extension of the last path segment, lower case; empty where there is none."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    name = unquote(path.rpartition("/")[2].partition(";")[0])
    return name.rpartition(".")[2].lower() if "." in name[1:] else ""


def media_type(content_type: str) -> str:
    """`text/html` of `Text/HTML; charset=utf-8`; empty for what is no media type."""
    kind = content_type.partition(";")[0].partition(",")[0].strip().lower()
    return kind if kind.count("/") == 1 else ""


def is_textual(kind: str) -> bool:
    return kind.startswith("text/") or kind.endswith(("xml", "json"))


def looks_like_markup(first_bytes: bytes) -> bool:
    body = without_mark(first_bytes)
    if first_bytes[:2] in _WIDE_MARKS:
        body = body.replace(b"\0", b"")
    return _MARKUP.match(body) is not None


def looks_binary(first_bytes: bytes) -> bool:
    """Whether this cannot be text: the mark of a known format, or bytes that no text has."""
    start = first_bytes[:SNIFFED_BYTES]
    if start[:2] in _WIDE_MARKS:
        return False
    return start.startswith(_MAGIC) or _NO_TEXT.search(without_mark(start)) is not None


def without_mark(first_bytes: bytes) -> bytes:
    mark = next((mark for mark in _UNICODE_MARKS if first_bytes.startswith(mark)), b"")
    return first_bytes[len(mark) :]

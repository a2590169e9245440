"""From the bytes of a body to UTF-8, and what kind of text it is."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from enum import Enum, auto

from w3lib.encoding import read_bom, resolve_encoding, to_unicode


class Form(Enum):
    """How a body is to be read."""

    HTML = auto()
    XML = auto()
    PLAIN = auto()  # text without any markup
    OPAQUE = auto()  # no text: pictures, PDF


_BEFORE_ROOT = rb"(?:<!--.{0,2000}?-->\s*|<!DOCTYPE[^>\[]{0,500}>\s*|<\?[^>]{0,500}>\s*){0,9}"
_ROOT = re.compile(rb"\s*" + _BEFORE_ROOT + rb"<([\w:.-]+)", re.S | re.I)
_XML_WITHOUT_PROLOG = frozenset(b"rss feed urlset sitemapindex rdf:rdf svg opml kml gpx".split())
_TAG = re.compile(rb"<[A-Za-z!/?]")
_MAGIC = (
    b"%PDF", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"RIFF", b"%!PS",
    b"\xd0\xcf\x11\xe0",
)  # fmt: skip
# Codecs of Python under names that resolve like those of charsets.
_NO_CHARSETS = frozenset({
    "base64", "bz2", "hex", "idna", "punycode", "quopri", "raw-unicode-escape", "rot-13", "undefined",
    "unicode-escape", "uu", "zlib",
})  # fmt: skip
_LOOKED_AT = 4096
_PIECE = 32768
_CHARSET = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]+)")
_XML_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([\w.:-]+)")


def to_utf8(body: bytes, encoding: str | None) -> bytes:
    """The text of a body: by its byte order mark, the encoding given, the one declared inside, or a guess.

    Bytes that do not fit become replacement characters.
    """
    marked, mark = read_bom(body) if body[:1] in b"\xef\xfe\xff\x00" else (None, None)
    if marked is not None and mark is not None:
        return str(to_unicode(body[len(mark) :], marked)).encode("utf-8", "replace")
    named = (charset(encoding) if encoding else None) or _declared(body)
    if named is None or named == "utf-8":
        return body if _is_utf8(body) else body.decode("utf-8" if named else "cp1252", "replace").encode()
    return str(to_unicode(body, named)).encode("utf-8", "replace")


def charset(name: str) -> str | None:
    """The charset that a server or a page names; None where it is none, or a codec for other things.

    >>> charset("Latin-1"), charset("klingon"), charset("base64")
    ('cp1252', None, None)
    """
    known = resolve_encoding(name)
    return None if known in _NO_CHARSETS else known


def _is_utf8(body: bytes) -> bool:
    """Decodes piece by piece, which takes no more memory than one piece."""
    if body.isascii():
        return True
    decoder = getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(body), _PIECE):
            decoder.decode(body[start : start + _PIECE], final=start + _PIECE >= len(body))
    except UnicodeDecodeError:
        return False
    return True


def _declared(body: bytes) -> str | None:
    """The encoding that a page says it has, near its start."""
    head = body[:_LOOKED_AT].lower()
    name = _CHARSET.search(head) if b"charset" in head else _XML_ENCODING.match(head)
    return charset(name[1].decode("ascii", "replace")) if name else None


def form_of(page: bytes) -> Form:
    """How to read a body, judged by what is in it rather than by what a server calls it."""
    head = page[:_LOOKED_AT]
    if head.startswith(_MAGIC) or head.count(0) > len(head) // 32:
        return Form.OPAQUE
    root = _ROOT.match(head)
    if root:
        name = root[1].lower()
        prolog = head.lstrip().startswith(b"<?xml")
        return Form.XML if name in _XML_WITHOUT_PROLOG or (prolog and name != b"html") else Form.HTML
    return Form.HTML if _TAG.search(page) else Form.PLAIN

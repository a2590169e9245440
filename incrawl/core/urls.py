"""From a URL as found to the names it is known by: canonical form, id, host key."""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import urlsplit

from w3lib.url import canonicalize_url

ID_BYTES = 12
HOST_ID_BYTES = 8
MAX_URL_LENGTH = 2000
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Most links are written plainly, and need no parser: a host, perhaps with a port that is nobody's own, and
# a path in which nothing is escaped. What is not plain goes the long way; both ways must lead to one place.
_PLAIN = re.compile(
    r"https?://([a-z\d-]+(?:\.[a-z\d-]+)*(?::(?:[1-9]\d{3}|[1-5]\d{4}))?)/[\w~./-]*", re.ASCII
)


def canonical(url: str) -> str:
    """One spelling for all spellings of a URL: no fragment, sorted query, no default port.

    >>> canonical("HTTP://Example.com:80?b=2&a=1#top")
    'http://example.com/?a=1&b=2'
    """
    if _PLAIN.fullmatch(url) and "/." not in url:
        return url
    plain = canonicalize_url(url)
    scheme, _, rest = plain.partition("://")
    netloc, slash, path = rest.partition("/")
    default = f":{_DEFAULT_PORTS.get(scheme)}"
    return f"{scheme}://{netloc.removesuffix(default)}{slash}{path}" if slash else plain


def url_id(canonical_url: str) -> bytes:
    """The record's key and Doc ID. 12 bytes: with 10⁹ URLs the odds of any collision are 10⁻¹¹."""
    return blake2b(canonical_url.encode(), digest_size=ID_BYTES).digest()


def host_key(url: str) -> str:
    """The unit of politeness: host name, and the port where it is not the scheme's own.

    >>> host_key("http://Example.com/a"), host_key("http://localhost:8000/")
    ('example.com', 'localhost:8000')
    """
    if plain := _PLAIN.match(url):
        return plain[1]
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if not host.isascii():
        host = _punycode(host)
    port = parts.port
    return host if port is None or port == _DEFAULT_PORTS.get(parts.scheme) else f"{host}:{port}"


def _punycode(host: str) -> str:
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host


def host_id(host: str) -> bytes:
    """What stands for a host in keys and members."""
    return blake2b(host.encode(), digest_size=HOST_ID_BYTES).digest()


def partition_of(host: str, partitions: int) -> int:
    """All URLs of a host live in one partition; the spread must never depend on the process."""
    return int.from_bytes(host_id(host)[:4]) % partitions


def is_web_url(url: str) -> bool:
    """Whether this is an http(s) URL with a usable host, of bearable length."""
    if len(url) > MAX_URL_LENGTH or "\\" in url:  # readers of a backslash disagree on where the host ends
        return False
    if _PLAIN.match(url):
        return True
    try:
        parts = urlsplit(url)
        return parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False

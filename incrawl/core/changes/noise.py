"""The normal form of attribute values: what differs between two fetches and means nothing is taken out.

Every function returns its argument unchanged (the same object) when there was nothing to take out.
"""

from __future__ import annotations

import re

PLACEHOLDER = "#"

_SESSION = frozenset(
    [
        "phpsessid",
        "jsessionid",
        "aspsessionid",
        "asp.net_sessionid",
        "sid",
        "sessid",
        "sessionid",
        "session_id",
        "session",
        "sess",
        "cfid",
        "cftoken",
        "zenid",
        "oscsid",
        "sesskey",
        "csrf",
        "csrftoken",
        "csrf_token",
        "csrfmiddlewaretoken",
        "xsrf",
        "_xsrf",
        "authenticity_token",
        "__requestverificationtoken",
        "nonce",
        "_wpnonce",
        "wpnonce",
        "form_key",
        "formkey",
        "form_token",
    ]
)
_BUSTERS = frozenset(
    ["_", "cb", "cachebuster", "cache_buster", "cache-buster", "nocache", "no_cache", "rnd", "rand", "random"]
)
_VERSIONS = _BUSTERS | frozenset(
    [
        "v",
        "ver",
        "version",
        "rev",
        "revision",
        "r",
        "t",
        "ts",
        "time",
        "timestamp",
        "mtime",
        "m",
        "h",
        "hash",
        "build",
        "bust",
        "cache",
        "d",
        "dc",
        "_dc",
        "itok",
        "q",
    ]
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.I)
_WORDLIKE = re.compile(r"[A-Za-z0-9+/=_.:~-]+")
_HEX = re.compile(r"[0-9a-fA-F]+")
_NUMBER_OR_HEX = re.compile(r"[0-9a-fA-F.]{1,64}")
_STAMP = re.compile(r"(?:1[4-9]|2[0-2])\d{8}(?:\d{3}|\.\d+)?")
_KIND_SHIFT = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])")
_ASSET_HASH = re.compile(
    r"[.\-_](?=[A-Za-z_-]*\d)(?:[0-9a-f]{8,64}|[A-Za-z0-9_-]{8})(?=\.(?:\w+\.)?\w{2,5}$)"
)
_PATH_SESSION = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?#;]*|/\(S\([a-z0-9]{24}\)\)", re.I)
_GENERATED_CLASS = re.compile(
    r"(?:css|jsx|jss|sc|svelte|astro|ng-tns|ng-c|emotion|makeStyles)-(?=\S*\d)\S+|jss\d+|"
    r"\S*?__(?=\S*[A-Z\d])[\w-]{5,8}|(?:js-)?view-dom-id-\w+|\S*[0-9a-f]{32,}\S*"
)
_RANDOM_END = re.compile(r"--(?=[\w-]*[A-Z\d])[\w-]{6,}$")  # Drupal: `edit-submit--dXk3h2LmQ0w`

_PARAMETER = re.compile(rb"[?&;]([\w.-]+)=")
_NOISE_NAMES = frozenset(name.encode() for name in _SESSION | _BUSTERS | {"s"})


def is_token(text: str) -> bool:
    """Whether a value looks made by a machine for this one fetch: token, UUID, hash or time stamp.

    >>> is_token("a3f09c77d1e84b2a"), is_token("annual-report-2024-draft"), is_token("1718000000")
    (True, False, True)
    """
    if _STAMP.fullmatch(text) or _UUID.fullmatch(text):
        return True
    if len(text) < 16 or not _WORDLIKE.fullmatch(text) or not any(map(str.isdigit, text)):
        return False
    if _HEX.fullmatch(text):
        return True
    return len(_KIND_SHIFT.findall(text)) >= len(text) / 6


def plain_value(value: str) -> str:
    """An attribute's value without tokens.

    >>> plain_value("a3f09c77d1e84b2a"), plain_value("left")
    ('#', 'left')
    """
    return plain_name(value) if len(value) >= 10 else value


def plain_name(value: str) -> str:
    """An id without the tokens that a program put into it.

    >>> plain_name("form 123e4567-e89b-12d3-a456-426614174000"), plain_name("main")
    ('form #', 'main')
    """
    if is_token(value):
        return PLACEHOLDER
    return _RANDOM_END.sub("", _UUID.sub(PLACEHOLDER, value)) if "-" in value else value


def plain_classes(names: list[str]) -> list[str]:
    """Class names as a sorted set, without those that a style compiler made up.

    >>> plain_classes(["wide", "card", "css-1x2y3z", "card"])
    ['card', 'wide']
    """
    return sorted({name for name in names if not _GENERATED_CLASS.fullmatch(name)})


def plain_link(url: str) -> str:
    """A link without session ids, tokens and cache busters; everything else decides where it leads.

    >>> plain_link("/a;jsessionid=1F?x=1&PHPSESSID=9c2e&_=171")
    '/a?x=1'
    """
    return _without(url, _BUSTERS)


def plain_resource(url: str) -> str:
    """The address of a picture, script or style sheet without version, hash and session.

    >>> plain_resource("/app.3f9a2b1c.js?ver=5.2"), plain_resource("/photo.php?id=7")
    ('/app.js', '/photo.php?id=7')
    """
    if url.startswith("data:"):
        return url
    path, mark, query = _without(url, _VERSIONS).partition("?")
    if _NUMBER_OR_HEX.fullmatch(query):
        mark = query = ""
    plain = _ASSET_HASH.sub("", path) + mark + query
    return url if plain == url else plain


def _without(url: str, dropped: frozenset[str]) -> str:
    if ";" in url or "/(" in url:
        url = _PATH_SESSION.sub("", url)
    path, mark, query = url.partition("?")
    if not mark:
        return url
    query, hash_mark, fragment = query.partition("#")
    kept = [part for part in query.replace("&amp;", "&").split("&") if not _is_noise(part, dropped)]
    return path + ("?" if kept else "") + "&".join(kept) + hash_mark + fragment


def _is_noise(parameter: str, dropped: frozenset[str]) -> bool:
    name, equals, value = parameter.partition("=")
    name = name.lower()
    if name in _SESSION or name.startswith("aspsessionid"):
        return bool(equals)
    if name == "s":
        return len(value) == 32 and bool(_HEX.fullmatch(value))
    return name in dropped and (not value or is_token(value) or bool(_NUMBER_OR_HEX.fullmatch(value)))


def has_noise(links: bytes) -> bool:
    """Whether any of many links, joined, may hold a session id, a token or a cache buster."""
    if b"?" not in links and b";" not in links:
        return b"/(S(" in links
    names = {name.lower() for name in set(_PARAMETER.findall(links))}
    return not _NOISE_NAMES.isdisjoint(names) or any(name.startswith(b"aspsessionid") for name in names)

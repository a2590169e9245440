"""The normal form of attribute values: what differs between two fetches and means nothing is taken out.

Every function returns its argument unchanged (the same object) when there was nothing to take out.
"""

from __future__ import annotations

import re

from incrawl.core.changes.noise_names import (
    BUSTERS,
    PER_VISITOR,
    PER_VISITOR_PREFIXES,
    SIGNATURE_PREFIX,
    SIGNATURES,
    VERSIONS,
)

PLACEHOLDER = "#"

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
    r"sc-(?=[a-z]*[A-Z])[A-Za-z]{5,8}|(?:css|jsx|jss|sc|svelte|astro|ng-tns|ng-c|emotion|makeStyles)-(?=\S*\d)\S+|jss\d+|"
    r"\S*?__(?=\S*[A-Z\d])[\w-]{5,8}|(?:js-)?view-dom-id-\w+|\S*[0-9a-f]{32,}\S*"
)
_USE_ID = re.compile(r":[rR]\w*:")  # React numbers the ids that it makes
_LOCAL_PLACE = re.compile(r"url\(#[^)]*\)")
_DIGITS = re.compile(r"\d+")
_RANDOM_END = re.compile(r"--(?=[\w-]*[A-Z\d])[\w-]{6,}$")  # Drupal: `edit-submit--dXk3h2LmQ0w`

_PARAMETER = re.compile(rb"[?&;]([\w.-]+)=")
_NOISE_NAMES = frozenset(name.encode() for name in PER_VISITOR | BUSTERS | {"s"})
_NOISE_PREFIXES = tuple(prefix.encode() for prefix in PER_VISITOR_PREFIXES)


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
    if "url(#" in value:
        return _LOCAL_PLACE.sub(lambda match: _DIGITS.sub("", match[0]), value)
    return plain_name(value) if len(value) >= 10 else value


def plain_name(value: str) -> str:
    """An id without the tokens that a program put into it.

    >>> plain_name("form 123e4567-e89b-12d3-a456-426614174000"), plain_name("main")
    ('form #', 'main')
    """
    if is_token(value):
        return PLACEHOLDER
    if ":" in value:
        value = _USE_ID.sub(PLACEHOLDER, value)
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
    return _without(url)


def plain_resource(url: str) -> str:
    """The address of a picture, script or style sheet without version, hash and session.

    >>> plain_resource("/app.3f9a2b1c.js?ver=5.2"), plain_resource("/photo.php?id=7")
    ('/app.js', '/photo.php?id=7')
    """
    if url.startswith("data:"):
        return url
    if url.startswith("#"):
        return _DIGITS.sub("", url)
    if ", " in url:
        return ", ".join(map(plain_resource, url.split(", ")))
    url, blank, size = url.partition(" ")
    return _plain_resource(url) + blank + size


def plain_program(url: str) -> str:
    """The address of a script or style sheet; a path may name the build that it belongs to.

    >>> plain_program("/_next/static/Xk29sLq0aZ81mNvB7Ty3w/main.js")
    '/_next/static/#/main.js'
    """
    path, mark, query = plain_resource(url).partition("?")
    steps = [PLACEHOLDER if is_token(step) else step for step in path.split("/")]
    return "/".join(steps) + mark + query


def _plain_resource(url: str) -> str:
    path, mark, query = _without(url, resource=True).partition("?")
    if _NUMBER_OR_HEX.fullmatch(query):
        mark = query = ""
    plain = _ASSET_HASH.sub("", path) + mark + query
    return url if plain == url else plain


def _without(url: str, *, resource: bool = False) -> str:
    if ";" in url or "/(" in url:
        url = _PATH_SESSION.sub("", url)
    path, mark, query = url.partition("?")
    if not mark:
        return url
    query, hash_mark, fragment = query.partition("#")
    kept = [part for part in query.replace("&amp;", "&").split("&") if not _is_noise(part, resource)]
    return path + ("?" if kept else "") + "&".join(kept) + hash_mark + fragment


def _is_noise(parameter: str, resource: bool) -> bool:
    name, equals, value = parameter.partition("=")
    name = name.lower()
    if name in PER_VISITOR or name.startswith(PER_VISITOR_PREFIXES):
        return bool(equals)
    if name == "s":
        return len(value) == 32 and bool(_HEX.fullmatch(value))
    if resource and (name in SIGNATURES or name.startswith(SIGNATURE_PREFIX)):
        return True
    dropped = name in (VERSIONS if resource else BUSTERS)
    return dropped and (not value or is_token(value) or bool(_NUMBER_OR_HEX.fullmatch(value)))


def has_noise(links: bytes) -> bool:
    """Whether any of many links, joined, may hold a session id, a token or a cache buster."""
    if b"?" not in links and b";" not in links:
        return b"/(S(" in links
    names = {name.lower() for name in set(_PARAMETER.findall(links))}
    return not _NOISE_NAMES.isdisjoint(names) or any(name.startswith(_NOISE_PREFIXES) for name in names)

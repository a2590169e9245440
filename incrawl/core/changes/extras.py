"""What a page carries besides text and structure: scripts, styles, and what its head says about it.

Scripts and styles are taken out of the tree on the way, so that no later step takes them for text,
and with them the values of hidden fields, which are meant for the server alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from incrawl.core.changes.ignored import Ignored
from incrawl.core.changes.noise import plain_program
from incrawl.core.changes.scripts import plain_script

_FEEDS = ("application/rss+xml", "application/atom+xml", "application/feed+json")
_DATA_SCRIPTS = ("application/json", "application/ld+json", "text/json", "speculationrules")
_SECRET_METAS = (
    "csrf",
    "token",
    "nonce",
    "session",
    "verification",
    "time",
    "date",
    "modified",
    "request-id",
    "generat",
    "build",
    "revision",
    "trace",
)


@dataclass(slots=True)
class Extras:
    base: str = ""
    robots: tuple[str, ...] = ()
    canonical: str = ""
    feeds: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    ignored: Ignored = field(default_factory=Ignored)

    def add_script(self, script: str) -> None:
        self.scripts.append(plain_script(script, self.ignored))


def take_extras(root: Any) -> Extras:
    """Collects the extras of a page and leaves the tree without them."""
    extras = Extras()
    for element in list(root.iter(*_TAKERS)):
        _TAKERS[element.tag](element, extras)
    return extras


def _script(element: Any, extras: Extras) -> None:
    text, source = element.text, element.get("src")
    element.text = None
    if element.get("type", "").lower().startswith(_DATA_SCRIPTS):
        extras.ignored.add("script data", text or "")
        return
    if source:
        extras.scripts.append(_without_version(source, extras))
        del element.attrib["src"]
    if text:
        extras.add_script(text)


def _without_version(address: str, extras: Extras) -> str:
    plain = plain_program(address)
    if plain != address:
        extras.ignored.add("version in address", address)
    return plain


def _style(element: Any, extras: Extras) -> None:
    extras.styles.append(" ".join((element.text or "").split()))
    element.text = None


def _template(element: Any, extras: Extras) -> None:
    """A template is nothing until a script uses it."""
    words: list[str] = []
    for inner in element.iter(etree.Element):
        words += [inner.tag, *(f"{name}={value}" for name, value in sorted(inner.attrib.items()))]
        words += f"{inner.text or ''} {(inner.tail or '') if inner is not element else ''}".split()
    extras.scripts.append(" ".join(words))
    for child in list(element):
        element.remove(child)
    element.text = None


def _fallback(element: Any, extras: Extras) -> None:
    """What a browser would only show if it knew no frames."""
    if element.text:
        extras.ignored.add("fallback text", element.text)
        element.text = None


def _meta(element: Any, extras: Extras) -> None:
    name = (element.get("name") or element.get("property") or element.get("http-equiv") or "").lower()
    content = element.get("content")
    if content is None:
        return
    if name == "robots":
        extras.robots += tuple(word.strip().lower() for word in content.split(",") if word.strip())
    elif any(secret in name for secret in _SECRET_METAS):
        extras.ignored.add("meta", f"{name}={content}")
        del element.attrib["content"]


def _input(element: Any, extras: Extras) -> None:
    if element.get("type", "").lower() == "hidden" and (value := element.get("value")):
        extras.ignored.add("hidden field", f"{element.get('name', '')}={value}")
        del element.attrib["value"]


def _link(element: Any, extras: Extras) -> None:
    relations = element.get("rel", "").lower().split()
    target = element.attrib.pop("href", "").strip()
    if "stylesheet" in relations:
        extras.styles.append(_without_version(target, extras))
    elif "canonical" in relations:
        extras.canonical = extras.canonical or target
    elif "alternate" in relations and element.get("type", "").lower() in _FEEDS:
        extras.feeds.append(target)


def _base(element: Any, extras: Extras) -> None:
    extras.base = extras.base or element.get("href", "")


_TAKERS: dict[str, Callable[[Any, Extras], None]] = {
    "script": _script,
    "style": _style,
    "template": _template,
    "iframe": _fallback,
    "noembed": _fallback,
    "noframes": _fallback,
    "meta": _meta,
    "input": _input,
    "link": _link,
    "base": _base,
}

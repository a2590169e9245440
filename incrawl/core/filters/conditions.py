"""What a filter can ask about a URL, and how answers are joined."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import re2

from incrawl.core.urls import canonical


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart once for all tests of a file. `url` is its canonical form."""

    url: str
    scheme: str
    host: str
    path: str  # with the query

    @classmethod
    def of(cls, url: str) -> Target:
        """Raises ValueError for what is no URL."""
        plain = canonical(url)
        parts = urlsplit(plain)
        path = plain.partition("://")[2]
        return cls(plain, parts.scheme, (parts.hostname or "").rstrip("."), path[path.find("/") :])


class UrlCondition(Protocol):
    """A user's own filter: any class that can be built without arguments and answers this."""

    def accepts(self, url: str) -> bool:
        """Whether the filter holds for `url`, given in canonical form."""


class Condition(Protocol):
    """One question about a URL, or several joined."""

    def holds(self, target: Target) -> bool: ...


@dataclass(frozen=True, slots=True)
class Domain:
    """The host is this domain or lies below it."""

    name: str

    @classmethod
    def read(cls, text: str) -> Domain:
        if text.startswith("*"):
            raise ValueError("a domain includes its subdomains, so leave out the *.")
        if not text.strip(".") or any(sign in text for sign in "/:@ "):
            raise ValueError("a domain is a name such as example.com; use prefix for more of the URL")
        return cls(text.encode("idna").decode().lower().strip("."))

    def holds(self, target: Target) -> bool:
        return target.host == self.name or target.host.endswith("." + self.name)


@dataclass(frozen=True, slots=True)
class Prefix:
    """The URL starts like this; a prefix that begins with / is compared on every host."""

    start: str

    @classmethod
    def read(cls, text: str) -> Prefix:
        if text.startswith("/"):
            # Through the same canonical form as every URL, so that escapes compare equal.
            return cls(Target.of("http://host" + text).path)
        if "://" not in text:
            raise ValueError("a prefix starts with http://, https:// or /")
        return cls(canonical(text))

    def holds(self, target: Target) -> bool:
        whole = target.path if self.start.startswith("/") else target.url
        return whole.startswith(self.start)


@dataclass(frozen=True, slots=True)
class Scheme:
    """The URL is fetched over this protocol."""

    scheme: str

    @classmethod
    def read(cls, text: str) -> Scheme:
        if text.lower() not in {"http", "https"}:
            raise ValueError("a protocol is http or https")
        return cls(text.lower())

    def holds(self, target: Target) -> bool:
        return target.scheme == self.scheme


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression is found anywhere in the URL.

    RE2 matches in time linear in the URL's length: no URL, however it was made up, can hang a
    worker in a careless pattern. What that costs is look-around and back references.
    """

    compiled: Any

    @classmethod
    def read(cls, text: str) -> Pattern:
        options = re2.Options()
        options.log_errors = False
        try:
            return cls(re2.compile(text, options))
        except re2.error as error:
            reason = error.args[0]
            told = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
            raise ValueError(f"not a regular expression that RE2 knows ({told})") from None

    def holds(self, target: Target) -> bool:
        return self.compiled.search(target.url) is not None


@dataclass(frozen=True, slots=True)
class Custom:
    """A user's own class, named by its dotted path."""

    condition: UrlCondition

    @classmethod
    def read(cls, text: str) -> Custom:
        module, _, name = text.rpartition(".")
        try:
            condition = getattr(importlib.import_module(module), name)()
        except Exception as error:  # a user's module can fail in any way while it is loaded
            raise ValueError(f"the class cannot be loaded ({type(error).__name__}: {error})") from None
        if not callable(getattr(condition, "accepts", None)):
            raise ValueError("the class has no method accepts(url)")
        return cls(condition)

    def holds(self, target: Target) -> bool:
        return bool(self.condition.accepts(target.url))


@dataclass(frozen=True, slots=True)
class Not:
    inner: Condition

    def holds(self, target: Target) -> bool:
        return not self.inner.holds(target)


@dataclass(frozen=True, slots=True)
class Both:
    parts: tuple[Condition, ...]

    def holds(self, target: Target) -> bool:
        return all(part.holds(target) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Condition, ...]

    def holds(self, target: Target) -> bool:
        return any(part.holds(target) for part in self.parts)

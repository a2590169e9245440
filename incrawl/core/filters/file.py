"""A filter file as a whole: its lines, and what they say of a URL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from incrawl.core.filters.conditions import Condition, Target
from incrawl.core.filters.language import Expression, FilterSyntaxError, Token, tokens_of
from incrawl.errors import ConfigError


@dataclass(frozen=True, slots=True)
class UrlFilters:
    """The filters of one file. `digest` names its text: another digest, another filter."""

    allow: tuple[Condition, ...] = ()
    deny: tuple[Condition, ...] = ()
    digest: bytes = b""

    def accepts(self, url: str) -> bool:
        """Whether the URL may enter the queues; what cannot be read as a URL may not."""
        if not self.allow and not self.deny:
            return True
        try:
            target = Target.of(url)
        except ValueError:
            return False
        if any(condition.holds(target) for condition in self.deny):
            return False
        return not self.allow or any(condition.holds(target) for condition in self.allow)


def load_filters(path: Path | None) -> UrlFilters:
    """The filters in a file; no file named, nothing refused. A wrong one raises ConfigError."""
    if path is None:
        return UrlFilters()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The filter file {path} cannot be read: {error}.") from None
    return parse_filters(text, str(path))


def parse_filters(text: str, name: str = "filters") -> UrlFilters:
    """The filters in a text; a mistake raises ConfigError with `name` and the line it is on.

    >>> filters = parse_filters("allow domain example.com and not prefix /private/")
    >>> filters.accepts("http://www.example.com/a"), filters.accepts("http://example.com/private/b")
    (True, False)
    """
    found: dict[str, list[Condition]] = {"allow": [], "deny": []}
    try:
        for verb, *rest in logical_lines(text):
            kind = verb.text.lower()
            if verb.quoted or kind not in found:
                raise FilterSyntaxError(verb.line, f"a line starts with allow or deny, not {verb.text!r}")
            if not rest:
                raise FilterSyntaxError(verb.line, f"a condition is missing after {kind}")
            found[kind].append(Expression(rest).read())
    except FilterSyntaxError as error:
        raise ConfigError(f"{name}, line {error.line}: {error}.") from None
    digest = blake2b(text.encode(), digest_size=12).digest()
    return UrlFilters(tuple(found["allow"]), tuple(found["deny"]), digest)


def logical_lines(text: str) -> Iterator[list[Token]]:
    """Lines with their continuations joined, empty ones and comments left out."""
    current: list[Token] = []
    for number, line in enumerate(text.splitlines(), 1):
        tokens = list(tokens_of(line, number))
        if current and tokens and not line[0].isspace():
            yield current
            current = []
        current.extend(tokens)
    if current:
        yield current

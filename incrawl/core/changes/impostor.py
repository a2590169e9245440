"""Pages that stand in for the page that was asked for: captcha, login, cookie wall, parking, error.

They often come with status 200, and must never replace a stored document. A page is only taken for an
impostor on its whole appearance: what its title and headings say, how little else it says, which fields and
scripts it has, and, where there is an earlier version, that little of that is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from incrawl.core.changes import impostor_words as words
from incrawl.core.changes.analysis import Analysis
from incrawl.core.changes.signatures import Signatures

LITTLE_PROSE, SOME_PROSE = 80, 260
"""Words in sentences: impostors that say what is wrong have few, those that ask for consent have more."""

SHARED = 0.5
"""A page on which so much of the earlier version's text is left is that page, whatever lies over it."""

_LOOKED_AT = 300_000
_DECLARATION = 20  # words; in longer paragraphs a phrase may be quoted
_SENTENCE = 12  # words; shorter paragraphs are menus and labels


class Disguise(StrEnum):
    CAPTCHA = "captcha"
    LOGIN = "login"
    COOKIE_WALL = "cookie wall"
    PARKING = "parking"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Impostor:
    disguise: Disguise
    because: str  # what gave it away, for the log


@dataclass(frozen=True)
class Look:
    """What there is to see of a page."""

    body: bytes
    analysis: Analysis
    moved: bool = False  # whether a redirect led away from the page that was asked for
    known: bool = False  # whether the page was something else before

    @cached_property
    def markup(self) -> str:
        return self.body[:_LOOKED_AT].decode("latin-1").lower()

    @cached_property
    def title(self) -> str:
        return self.analysis.title.lower()

    @cached_property
    def headings(self) -> list[str]:
        """Title parts and headings, in lower case: what the page says that it is."""
        found = [part.strip(" .!…") for part in words.TITLE_PARTS.split(self.title)]
        marked = [
            paragraph.text.lower().strip(" .!…")
            for paragraph in self.analysis.paragraphs[:60]
            if words.HEADING.search(paragraph.place)
        ]
        return [text for text in found + marked if text]

    @cached_property
    def text(self) -> str:
        return " ".join(self.analysis.texts[:200])[:20_000].lower()

    @cached_property
    def prose(self) -> int:
        """Words in sentences, as opposed to menus and labels; beyond SOME_PROSE nobody counts on."""
        words_so_far = 0
        for text in self.analysis.texts:
            count = len(text.split())
            words_so_far += count if count >= _SENTENCE else 0
            if words_so_far > SOME_PROSE:
                break
        return words_so_far

    def has(self, *markers: str) -> str:
        """The first of some markers that the page's markup holds."""
        return next((marker for marker in markers if marker in self.markup), "")

    def says(self, *phrases: str) -> str:
        return next((phrase for phrase in phrases if phrase in self.text), "")

    def declares(self, *phrases: str) -> str:
        """The first of some phrases that the page says in a short paragraph of its own, not in passing."""
        texts = [
            text.lower() for text in (self.title, *self.analysis.texts) if len(text.split()) <= _DECLARATION
        ]
        return next((phrase for phrase in phrases if any(phrase in text for text in texts)), "")


def recognise(
    body: bytes,
    analysis: Analysis,
    *,
    moved: bool = False,
    before: Signatures | None = None,
) -> Impostor | None:
    """What a page really is, None when it is the page itself.

    `moved` tells that a redirect led to another path; `before` are the signatures of the stored version.
    """
    if before is not None and shared_text(before, analysis.signatures) >= SHARED:
        return None
    look = Look(body, analysis, moved, before is not None)
    for disguise, seen in _TESTS.items():
        if because := seen(look):
            return Impostor(disguise, because)
    return None


def shared_text(before: Signatures, after: Signatures) -> float:
    """The share of the earlier version's text, by length, that is still on the page."""
    left = set(after.column("hashes").tolist())
    lengths = before.column("lengths").tolist()
    kept = sum(
        length for text, length in zip(before.column("hashes").tolist(), lengths, strict=True) if text in left
    )
    return kept / total if (total := sum(lengths)) else 0.0


def _captcha(look: Look) -> str:
    if look.prose > LITTLE_PROSE:
        return ""
    if heading := _one_of(look.headings, words.CHALLENGES):
        return heading
    widget = look.has(*words.CHALLENGE_WIDGETS)
    return (widget and look.says(*words.CHALLENGE_PHRASES)) or look.has(*words.CHALLENGE_PAGES)


def _login(look: Look) -> str:
    """A login form in place of a page; one that was asked for is a page like any other."""
    short = look.known and len(look.analysis.texts) < words.FEW_PARAGRAPHS
    if look.prose > LITTLE_PROSE or not (look.moved or short):
        return ""
    return _one_of(look.headings, words.LOGINS) if words.PASSWORD_FIELD.search(look.markup) else ""


def _cookie_wall(look: Look) -> str:
    if look.prose > SOME_PROSE or len(look.analysis.texts) > words.WALL_PARAGRAPHS or _content(look):
        return ""
    heading = _one_of(look.headings, words.CONSENTS)
    return heading or (look.says(*words.CONSENT_PHRASES) if look.has(*words.CONSENT_WIDGETS) else "")


def _parking(look: Look) -> str:
    if look.prose > LITTLE_PROSE * 2:
        return ""
    return look.has(*words.PARKING_HOSTS) or look.declares(*words.PARKING_PHRASES)


def _error(look: Look) -> str:
    if look.prose > LITTLE_PROSE:
        return ""
    heading = next((heading for heading in look.headings if words.ERROR.fullmatch(heading)), "")
    return heading or look.says(*words.ERROR_PHRASES)


def _one_of(headings: list[str], phrases: frozenset[str]) -> str:
    return next((heading for heading in headings if heading in phrases), "")


def _content(look: Look) -> bool:
    """Whether there is text that has nothing to do with consent."""
    others = [text for text in look.analysis.texts if not words.ABOUT_CONSENT.search(text.lower())]
    return sum(len(text.split()) for text in others) > LITTLE_PROSE


_TESTS: dict[Disguise, Callable[[Look], str]] = {
    Disguise.CAPTCHA: _captcha,
    Disguise.PARKING: _parking,
    Disguise.ERROR: _error,
    Disguise.COOKIE_WALL: _cookie_wall,
    Disguise.LOGIN: _login,
}

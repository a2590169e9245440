"""Words for what changed: its kind, its size, and what happened to a paragraph."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    STRUCTURAL = "structural"  # tags came, went or changed places; links lead elsewhere
    CONTENT = "content"  # text
    PRESENTATION = "presentation"  # appearance, with text and tags intact
    BEHAVIOURAL = "behavioural"  # scripts and event handlers


class Size(StrEnum):
    NONE = "none"
    MINOR = "minor"
    MAJOR = "major"

    @property
    def rank(self) -> int:
        return ("none", "minor", "major").index(self)


class Change(StrEnum):
    """What happened to one paragraph."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"  # the same text elsewhere on the page

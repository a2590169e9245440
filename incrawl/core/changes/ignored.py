"""What a comparison leaves out: counted by kind, with a few examples of each, so that it can be listed."""

from __future__ import annotations

from dataclasses import dataclass, field

_EXAMPLES = 50
_EXAMPLE_LENGTH = 120


@dataclass(slots=True)
class Ignored:
    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def count(self, kind: str, number: int) -> None:
        """Adds things of which no example can be shown."""
        if number:
            self.counts[kind] = self.counts.get(kind, 0) + number

    def add(self, kind: str, what: str) -> None:
        self.count(kind, 1)
        shown = self.examples.setdefault(kind, [])
        if len(shown) < _EXAMPLES:
            shown.append(what[:_EXAMPLE_LENGTH])

"""A verdict together with the texts it speaks of, for people and programs to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from incrawl.core.changes.analysis import Analysis
from incrawl.core.changes.kinds import Change
from incrawl.core.changes.rules import NO_RULES, IgnoreRules
from incrawl.core.changes.verdict import ParagraphChange, Verdict, compare
from incrawl.core.changes.volatile import Volatility


@dataclass(frozen=True, slots=True)
class TextChange:
    """One paragraph that changed: its texts ("" on the side where it is not) and where it stands."""

    what: ParagraphChange
    old: str
    new: str

    @property
    def change(self) -> Change:
        return self.what.change

    @property
    def place(self) -> str:
        return self.what.place


@dataclass(frozen=True, slots=True)
class Report:
    """Two versions of a page side by side."""

    old: Analysis
    new: Analysis
    verdict: Verdict

    @classmethod
    def of(
        cls,
        old: Analysis,
        new: Analysis,
        rules: IgnoreRules = NO_RULES,
        volatility: Volatility | None = None,
    ) -> Report:
        verdict = compare(old.signatures, new.signatures, volatility=volatility, rules=rules)
        return cls(old, new, verdict)

    def changes(self) -> list[TextChange]:
        """The paragraphs that changed, in the order of the page."""
        return [self._with_text(what) for what in self.verdict.paragraphs]

    def volatile(self) -> list[TextChange]:
        """The paragraphs that differ and do not count."""
        return [self._with_text(what) for what in self.verdict.volatile]

    def _with_text(self, what: ParagraphChange) -> TextChange:
        old = "" if what.old is None else self.old.texts[what.old]
        return TextChange(what, old, "" if what.new is None else self.new.texts[what.new])

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain JSON values."""
        verdict = self.verdict.to_dict()
        lists = {
            "paragraphs": _joined(verdict["paragraphs"], self.changes()),
            "volatile": _joined(verdict["volatile"], self.volatile()),
        }
        return verdict | lists | {"old": side_of(self.old), "new": side_of(self.new)}


def _joined(known: list[dict[str, Any]], changes: list[TextChange]) -> list[dict[str, Any]]:
    pairs = zip(known, changes, strict=True)
    return [facts | {"old": change.old, "new": change.new} for facts, change in pairs]


def side_of(analysis: Analysis) -> dict[str, Any]:
    """One version of the page: its sums, its tree, its paragraphs, and what is left out of comparisons."""
    signatures = analysis.signatures
    return {
        "title": analysis.title,
        "rms": round(signatures.rms, 3),
        "distinct": signatures.distinct,
        "checksum": round(signatures.checksum, 3),
        "levels": list(signatures.levels),
        "fingerprints": list(signatures.fingerprints),
        "paragraphs": [
            {
                "text": paragraph.text,
                "place": paragraph.place,
                "rms": round(paragraph.rms, 3),
                "checksum": round(paragraph.checksum, 3),
            }
            for paragraph in analysis.paragraphs
        ],
        "ignored": analysis.ignored.counts,
        "ignored_examples": analysis.ignored.examples,
    }

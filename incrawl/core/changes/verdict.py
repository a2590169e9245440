"""The verdict on two versions of a page: whether, what, how much and where, from their signatures alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from incrawl.core.changes.align import Match
from incrawl.core.changes.differences import Differences
from incrawl.core.changes.kinds import Change, Kind, Size
from incrawl.core.changes.rules import NO_RULES, IgnoreRules
from incrawl.core.changes.share import node_share, text_share
from incrawl.core.changes.signatures import Signatures
from incrawl.core.changes.tree_change import TreeChange
from incrawl.core.changes.volatile import Volatility

MAJOR_SHARE = 0.2
"""Text is changed in a major way when at least this share of it, by weight, is new, gone or rewritten."""


@dataclass(frozen=True, slots=True)
class ParagraphChange:
    """What happened to one paragraph, with its sums before and after. None: it was not there."""

    change: Change
    old: int | None  # number of the paragraph on the old and on the new page
    new: int | None
    place: str  # on the new page; of one that is gone, on the old
    old_rms: float | None
    new_rms: float | None
    old_checksum: float | None
    new_checksum: float | None


@dataclass(frozen=True)
class Verdict:
    """`kinds` is empty for a page that did not change. Places are worked out when they are asked for."""

    kinds: frozenset[Kind]
    size: Size
    share: float  # of the text that is different, by weight; of elements where no text is
    matches: tuple[Match, ...]  # paragraphs that count
    passed_over: tuple[Match, ...]  # paragraphs that differ and do not count
    ignored: dict[str, int]  # how much was passed over, by reason
    differences: Differences = field(repr=False)

    @property
    def changed(self) -> bool:
        return bool(self.kinds)

    @property
    def old(self) -> Signatures:
        return self.differences.old

    @property
    def new(self) -> Signatures:
        return self.differences.new

    @property
    def tree(self) -> TreeChange:
        return self.differences.tree

    @property
    def volatile_only(self) -> bool:
        """Whether nothing but volatile or ignored parts differ."""
        return not self.kinds and bool(self.ignored)

    @property
    def levels(self) -> tuple[int, ...]:
        """Levels of the tree on which nodes came, went or changed places."""
        return self.tree.levels

    @property
    def subtree(self) -> str:
        """XPath of the smallest subtree that holds all structural change, "" where there is none."""
        return self.differences.subtree

    @cached_property
    def paragraphs(self) -> tuple[ParagraphChange, ...]:
        """The paragraphs that changed."""
        return tuple(self._describe(match) for match in self.matches)

    @cached_property
    def volatile(self) -> tuple[ParagraphChange, ...]:
        """The paragraphs that differ and do not count."""
        return tuple(self._describe(match) for match in self.passed_over)

    def to_dict(self) -> dict[str, Any]:
        """The verdict in plain JSON values."""
        old, new = self.old, self.new
        return {
            "changed": self.changed,
            "kinds": sorted(self.kinds),
            "size": str(self.size),
            "share": round(self.share, 4),
            "levels": list(self.levels),
            "subtree": self.subtree,
            "nodes_added": self.tree.added,
            "nodes_removed": self.tree.removed,
            "old": {"rms": round(old.rms, 3), "checksum": round(old.checksum, 3)},
            "new": {"rms": round(new.rms, 3), "checksum": round(new.checksum, 3)},
            "paragraphs": [_plain(paragraph) for paragraph in self.paragraphs],
            "volatile": [_plain(paragraph) for paragraph in self.volatile],
            "ignored": self.ignored,
        }

    def _describe(self, match: Match) -> ParagraphChange:
        differences = self.differences
        place = differences.new_place(match) or differences.old_place(match)
        sums = [
            _sum(signatures, column, number)
            for column in ("paragraph_rms", "paragraph_checksums")
            for signatures, number in ((differences.old, match.old), (differences.new, match.new))
        ]
        return ParagraphChange(match.change, match.old, match.new, place, *sums)


def _sum(signatures: Signatures, column: str, paragraph: int | None) -> float | None:
    return None if paragraph is None else round(float(signatures.column(column)[paragraph]), 3)


def _plain(paragraph: ParagraphChange) -> dict[str, Any]:
    return {name: getattr(paragraph, name) for name in ParagraphChange.__slots__} | {
        "change": str(paragraph.change)
    }


def compare(
    old: Signatures, new: Signatures, *, volatility: Volatility | None = None, rules: IgnoreRules = NO_RULES
) -> Verdict:
    """What changed between two versions of a page, leaving out what is known to be volatile."""
    return verdict_on(Differences.between(old, new), volatility or Volatility(), rules)


def verdict_on(differences: Differences, volatility: Volatility, rules: IgnoreRules) -> Verdict:
    """What of the differences counts."""
    counted, passed_over = _sort_out(differences, volatility)
    found = _kinds(differences, counted, passed_over, volatility)
    share = text_share(differences, counted) if Kind.CONTENT in found else node_share(differences)
    kinds = frozenset() if found and share < rules.threshold else found - rules.kinds
    size = _size(kinds, differences, share)
    ignored = {"volatile paragraph": len(passed_over), **_facets_passed_over(differences, volatility)}
    ignored |= {f"{kind} by rule": 1 for kind in sorted(found - kinds)}
    return Verdict(
        kinds,
        size,
        share,
        counted,
        passed_over,
        {name: count for name, count in ignored.items() if count},
        differences,
    )


def _sort_out(
    differences: Differences, volatility: Volatility
) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
    known = {match for match in differences.matches if volatility.covers(differences, match)}
    counted = tuple(match for match in differences.matches if match not in known)
    return counted, tuple(match for match in differences.matches if match in known)


def _facets_passed_over(differences: Differences, volatility: Volatility) -> dict[str, int]:
    return {
        f"volatile {facet}": 1
        for facet in sorted(differences.facets)
        if volatility.is_volatile(f"facet:{facet}")
    }


def _kinds(
    differences: Differences,
    counted: tuple[Match, ...],
    passed_over: tuple[Match, ...],
    volatility: Volatility,
) -> frozenset[Kind]:
    facets = {facet for facet in differences.facets if not volatility.is_volatile(f"facet:{facet}")}
    kinds = set()
    if not differences.same_text and (counted or not passed_over):
        kinds.add(Kind.CONTENT)
    moved_tags = not differences.same_tags and not volatility.covers_tags(differences)
    if moved_tags or ("links" in facets and _links_differ(differences, passed_over)):
        kinds.add(Kind.STRUCTURAL)
    if "styles" in facets or (
        differences.same_tags and ("appearance" in facets or _regrouped(differences, passed_over))
    ):
        kinds.add(Kind.PRESENTATION)
    if facets & {"scripts", "handlers"} or (differences.same_tags and "data" in facets):
        kinds.add(Kind.BEHAVIOURAL)
    return frozenset(kinds)


def _regrouped(differences: Differences, passed_over: tuple[Match, ...]) -> bool:
    """The same text is divided otherwise among the same tags."""
    same = differences.same_text and not passed_over
    return same and differences.old.arrangement != differences.new.arrangement


def _links_differ(differences: Differences, passed_over: tuple[Match, ...]) -> bool:
    """Links came, went or lead elsewhere; those in volatile or moved paragraphs go with them."""
    if not passed_over and all(match.change is not Change.MOVED for match in differences.matches):
        return True
    before = differences.old.column("link_hashes").tolist()
    after = differences.new.column("link_hashes").tolist()
    for match in passed_over:
        if match.old is not None:
            before[match.old] = 0
        if match.new is not None:
            after[match.new] = 0
    return sorted(filter(None, before)) != sorted(filter(None, after))


def _size(kinds: frozenset[Kind], differences: Differences, share: float) -> Size:
    if not kinds:
        return Size.NONE
    major_text = Kind.CONTENT in kinds and share >= MAJOR_SHARE
    major_tags = Kind.STRUCTURAL in kinds and differences.tree.size is Size.MAJOR
    return Size.MAJOR if major_text or major_tags else Size.MINOR

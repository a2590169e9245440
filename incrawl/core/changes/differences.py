"""All that differs between two versions of a page, before anybody says what of it matters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from incrawl.core.changes.align import Match, align
from incrawl.core.changes.kinds import Change, Size
from incrawl.core.changes.places import Places
from incrawl.core.changes.signatures import Signatures
from incrawl.core.changes.tree_change import TreeChange, compare_trees

FACETS = ("links", "appearance", "styles", "handlers", "data", "scripts")
"""Digests of a page that are neither about its text nor about its tags."""


@dataclass(frozen=True)
class Differences:
    """Places are worked out when they are asked for."""

    old: Signatures = field(repr=False)
    new: Signatures = field(repr=False)
    tree: TreeChange = TreeChange()
    matches: tuple[Match, ...] = ()  # paragraphs that are not as and where they were
    facets: frozenset[str] = frozenset()  # those of FACETS that differ

    @classmethod
    def between(cls, old: Signatures, new: Signatures) -> Differences:
        if old.digest == new.digest:
            return cls(old, new)
        tree = TreeChange() if old.structure == new.structure else compare_trees(old.tree, new.tree)
        matches = () if old.hashes == new.hashes else tuple(align(old, new))
        facets = frozenset(facet for facet in FACETS if getattr(old, facet) != getattr(new, facet))
        return cls(old, new, tree, matches, facets)

    @property
    def same_text(self) -> bool:
        return self.old.text == self.new.text

    @property
    def same_tags(self) -> bool:
        return self.old.structure == self.new.structure

    def same_shape(self, match: Match) -> bool:
        """Whether a paragraph differs in digits, dates and tokens only."""
        if match.change is not Change.CHANGED:
            return False
        return bool(self.old.column("shapes")[match.old] == self.new.column("shapes")[match.new])

    def old_place(self, match: Match) -> str:
        """XPath on the old page, "" for a paragraph that was not there."""
        return "" if match.old is None else self._old_places.xpath(int(self.old.column("nodes")[match.old]))

    def new_place(self, match: Match) -> str:
        return "" if match.new is None else self._new_places.xpath(int(self.new.column("nodes")[match.new]))

    @cached_property
    def subtree(self) -> str:
        """XPath of the smallest subtree that holds all structural change, "" where there is none."""
        return self._new_places.xpath(self.tree.new_node) if self.tree.size is not Size.NONE else ""

    @property
    def subtree_share(self) -> float:
        """How many of the page's elements that subtree has; 1 where there is none."""
        levels, top = self.new.tree.levels, self.tree.new_node
        if self.tree.size is Size.NONE or not len(levels):
            return 1.0
        outside = (levels[top + 1 :] <= levels[top]).nonzero()[0]
        return (int(outside[0]) + 1 if len(outside) else len(levels) - top) / len(levels)

    @cached_property
    def _old_places(self) -> Places:
        return Places(self.old.tree)

    @cached_property
    def _new_places(self) -> Places:
        return Places(self.new.tree)

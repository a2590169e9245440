"""How much of a page is different."""

from __future__ import annotations

from incrawl.core.changes.align import Match, likeness
from incrawl.core.changes.differences import Differences
from incrawl.core.changes.kinds import Change
from incrawl.core.changes.signatures import Signatures

LEAST_CHANGE = 0.01
"""A changed paragraph counts for at least this share of its weight: letters may just have changed places."""

MOVED_WEIGHT = 0.5


def node_share(differences: Differences) -> float:
    """The share of elements that came or went."""
    tree = differences.tree
    return min((tree.added + tree.removed) / max(len(differences.old.tree), 1), 1.0)


def text_share(differences: Differences, matches: tuple[Match, ...]) -> float:
    """How much of the text is different, by weight; of a changed paragraph, as its sums suggest."""
    old, new = differences.old, differences.new
    different = gone = 0.0
    for change, left, right in matches:
        weight = max(_weight(old, left), _weight(new, right))
        gone += weight if change is Change.REMOVED else 0.0
        if change is Change.CHANGED and left is not None and right is not None:
            weight *= min(max(2 * (1 - likeness(old, new, left, right)), LEAST_CHANGE), 1.0)
        different += weight * (MOVED_WEIGHT if change is Change.MOVED else 1.0)
    total = float(new.column("paragraph_checksums").sum()) + gone
    return min(different / total, 1.0) if total else 1.0


def _weight(signatures: Signatures, paragraph: int | None) -> float:
    return 0.0 if paragraph is None else float(signatures.column("paragraph_checksums")[paragraph])

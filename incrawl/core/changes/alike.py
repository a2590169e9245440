"""Are two documents the same page? Asked of two addresses, where a verdict would speak of a change."""

from __future__ import annotations

from collections import Counter

from incrawl.core.changes.signatures import Signatures

ALIKE = 0.8  # share of their text that two copies of one page have in common


def are_alike(one: Signatures, other: Signatures) -> bool:
    """Whether two documents are the same, or have nearly all text in common, numbers and dates left aside."""
    if one.digest == other.digest:
        return True
    ours, theirs = _weights(one), _weights(other)
    total = max(ours.total(), theirs.total())
    return total > 0 and (ours & theirs).total() >= ALIKE * total


def _weights(signatures: Signatures) -> Counter[int]:
    """Letters of the paragraphs, by their text without digits and dates."""
    weights: Counter[int] = Counter()
    shapes, lengths = signatures.column("shapes"), signatures.column("lengths")
    for shape, length in zip(shapes.tolist(), lengths.tolist(), strict=True):
        weights[shape] += length
    return weights

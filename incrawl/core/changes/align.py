"""Which paragraph of the old page became which of the new: kept, moved, changed, added, removed."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from incrawl.core.changes.kinds import Change
from incrawl.core.changes.signatures import Signatures
from incrawl.core.changes.tree_change import common_ends

_LARGEST_TABLE = 400  # cells; a larger gap is paired off in order
_SUMS = ("lengths", "paragraph_rms", "paragraph_checksums")


class Match(NamedTuple):
    """One paragraph that is not as and where it was, by its number on the old and on the new page."""

    change: Change
    old: int | None
    new: int | None


def align(old: Signatures, new: Signatures) -> list[Match]:
    """All paragraphs that differ, in the order of the new page (what is gone comes where it was)."""
    start, end = common_ends(old.column("hashes"), new.column("hashes"))
    before = old.column("hashes")[start : len(old) - end].tolist()
    after = new.column("hashes")[start : len(new) - end].tolist()
    pairs = _same_text(before, after)
    kept = _longest_in_order(pairs)
    moved = [
        Match(Change.MOVED, left + start, right + start) for left, right in pairs if (left, right) not in kept
    ]
    found = list(moved)
    for lefts, rights in _gaps(len(before), len(after), pairs, sorted(kept)):
        found += _pair_off([at + start for at in lefts], [at + start for at in rights], old, new)
    return sorted(
        found, key=lambda match: (match.new if match.new is not None else match.old, match.new is None)
    )


def _same_text(before: list[int], after: list[int]) -> list[tuple[int, int]]:
    """Pairs of equal paragraphs: the first with the first, the second with the second, …"""
    places: dict[int, list[int]] = defaultdict(list)
    for position in range(len(before) - 1, -1, -1):
        places[before[position]].append(position)
    return [(places[text].pop(), position) for position, text in enumerate(after) if places.get(text)]


def _longest_in_order(pairs: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """The most pairs that keep their order; the others moved. Pairs are sorted by their new position."""
    ends: list[int] = []  # smallest old position that ends a row of each length
    last: list[int] = []  # the pair that does so
    previous: list[int] = []
    for index, (left, _) in enumerate(pairs):
        length = bisect_left(ends, left)
        ends[length : length + 1] = [left]
        last[length : length + 1] = [index]
        previous.append(last[length - 1] if length else -1)
    kept: set[tuple[int, int]] = set()
    index = last[-1] if last else -1
    while index >= 0:
        kept.add(pairs[index])
        index = previous[index]
    return kept


def _gaps(
    old_count: int, new_count: int, pairs: list[tuple[int, int]], anchors: list[tuple[int, int]]
) -> Iterator[tuple[list[int], list[int]]]:
    """Paragraphs without an equal on the other page, gap by gap between those that stayed."""
    matched_old, matched_new = {left for left, _ in pairs}, {right for _, right in pairs}
    left, right = 0, 0
    for next_left, next_right in [*anchors, (old_count, new_count)]:
        lefts = [at for at in range(left, next_left) if at not in matched_old]
        rights = [at for at in range(right, next_right) if at not in matched_new]
        if lefts or rights:
            yield lefts, rights
        left, right = next_left + 1, next_right + 1


def _pair_off(lefts: list[int], rights: list[int], old: Signatures, new: Signatures) -> list[Match]:
    """Old and new paragraphs of one gap: those alike are one that changed, the others came or went."""
    pairs = _same_shape(lefts, rights, old, new)
    paired_old, paired_new = {left for left, _ in pairs}, {right for _, right in pairs}
    pairs += _in_order(
        [left for left in lefts if left not in paired_old],
        [right for right in rights if right not in paired_new],
        old,
        new,
    )
    paired_old, paired_new = {left for left, _ in pairs}, {right for _, right in pairs}
    changed = [Match(Change.CHANGED, left, right) for left, right in pairs]
    removed = [Match(Change.REMOVED, left, None) for left in lefts if left not in paired_old]
    return (
        changed + removed + [Match(Change.ADDED, None, right) for right in rights if right not in paired_new]
    )


def _same_shape(
    lefts: list[int], rights: list[int], old: Signatures, new: Signatures
) -> list[tuple[int, int]]:
    """Paragraphs that differ in digits only are the same ones, also where they have changed places."""
    before, after = (
        column[numbers].tolist()
        for column, numbers in ((old.column("shapes"), lefts), (new.column("shapes"), rights))
    )
    return [(lefts[left], rights[right]) for left, right in _same_text(before, after)]


def _in_order(lefts: list[int], rights: list[int], old: Signatures, new: Signatures) -> list[tuple[int, int]]:
    if len(lefts) == len(rights) or len(lefts) * len(rights) > _LARGEST_TABLE:
        return list(zip(lefts, rights, strict=False))
    return _best_pairs(lefts, rights, old, new)


def _best_pairs(
    lefts: list[int], rights: list[int], old: Signatures, new: Signatures
) -> list[tuple[int, int]]:
    """The pairing in order with the greatest likeness in all."""
    if not lefts or not rights:
        return []
    best = [[0.0] * (len(rights) + 1) for _ in range(len(lefts) + 1)]
    for row in range(len(lefts) - 1, -1, -1):
        for column in range(len(rights) - 1, -1, -1):
            together = best[row + 1][column + 1] + likeness(old, new, lefts[row], rights[column])
            best[row][column] = max(together, best[row + 1][column], best[row][column + 1])
    pairs, row, column = [], 0, 0
    while row < len(lefts) and column < len(rights):
        if best[row][column] == best[row + 1][column]:
            row += 1
        elif best[row][column] == best[row][column + 1]:
            column += 1
        else:
            pairs.append((lefts[row], rights[column]))
            row, column = row + 1, column + 1
    return pairs


def likeness(old: Signatures, new: Signatures, left: int, right: int) -> float:
    """How alike two paragraphs are, 0…1, from their sums alone."""
    if old.column("shapes")[left] == new.column("shapes")[right]:
        return 1.0
    pairs = [(float(old.column(name)[left]), float(new.column(name)[right])) for name in _SUMS]
    return min(min(before, after) / max(before, after, 1e-9) for before, after in pairs)

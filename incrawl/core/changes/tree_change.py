"""Comparison of two document trees, level by level (paper 003, Tables 4–6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from incrawl.core.changes.kinds import Size
from incrawl.core.changes.tree import Tree


@dataclass(frozen=True, slots=True)
class TreeChange:
    """Nodes that came or went. Minor: only leaves. Major: nodes with children."""

    size: Size = Size.NONE
    levels: tuple[int, ...] = ()  # on which nodes came, went or changed places
    old_node: int = 0  # root of the smallest subtree that holds the whole change, in either tree
    new_node: int = 0
    added: int = 0
    removed: int = 0


class Span(NamedTuple):
    """The nodes of a tree that are left when what both trees begin and end with is taken away."""

    keys: Any  # level and tag of each node in one number
    inner: Any  # whether it has children
    levels: Any


def compare_trees(old: Tree, new: Tree) -> TreeChange:
    """What differs in the tags of two trees; its size is `none` when they are equal."""
    names = {name: index for index, name in enumerate(dict.fromkeys((*old.names, *new.names)))}
    old_keys, new_keys = _keys(old, names), _keys(new, names)
    start, end = common_ends(old_keys, new_keys)
    before, after = _span(old, old_keys, start, end), _span(new, new_keys, start, end)
    if not len(before.keys) and not len(after.keys):
        return TreeChange()
    keys, total, inner = _balance(before, after)
    highest = int(np.concatenate((before.levels, after.levels)).min())
    levels = np.unique(keys[total != 0] // len(names)) if total.any() else np.unique(after.levels)
    return TreeChange(
        size=_size(total, inner, before, after),
        levels=tuple(levels.tolist()),
        old_node=_enclosing(old, highest, start),
        new_node=_enclosing(new, highest, start),
        added=int(total[total > 0].sum()),
        removed=int(-total[total < 0].sum()),
    )


def common_ends(old: Any, new: Any) -> tuple[int, int]:
    """How many entries two columns have in common at the start, and how many of the rest at the end."""
    shorter = min(len(old), len(new))
    start = _first_difference(old[:shorter], new[:shorter])
    rest = shorter - start
    end = _first_difference(old[len(old) - rest :][::-1], new[len(new) - rest :][::-1])
    return start, end


def _first_difference(left: Any, right: Any) -> int:
    different = left != right
    first = int(different.argmax()) if len(different) else 0
    return first if len(different) and different[first] else len(different)


def _keys(tree: Tree, names: dict[str, int]) -> Any:
    numbers = np.array([names[name] for name in tree.names], np.int64)
    return (
        tree.levels.astype(np.int64) * len(names) + numbers[tree.tags] if len(tree) else np.empty(0, np.int64)
    )


def _span(tree: Tree, keys: Any, start: int, end: int) -> Span:
    chosen = slice(start, len(keys) - end)
    return Span(keys[chosen], tree.inner[chosen], tree.levels[chosen])


def _balance(before: Span, after: Span) -> tuple[Any, Any, Any]:
    """For each level and tag: how many nodes more there are than before, and how many more with children."""
    keys, groups = np.unique(np.concatenate((before.keys, after.keys)), return_inverse=True)
    signs = np.repeat([-1.0, 1.0], [len(before.keys), len(after.keys)])
    inner = np.concatenate((before.inner, after.inner))
    total = np.bincount(groups, signs, len(keys)).astype(np.int64)
    return keys, total, np.bincount(groups, signs * inner, len(keys)).astype(np.int64)


def _size(total: Any, inner: Any, before: Span, after: Span) -> Size:
    """A node that merely gained its first child is no node with children that came."""
    if total.any():
        return Size.MAJOR if (total * inner > 0).any() else Size.MINOR
    if inner.any():
        return Size.MINOR
    moved = before.keys[before.inner] != after.keys[after.inner]
    return Size.MAJOR if moved.any() else Size.MINOR


def _enclosing(tree: Tree, highest: int, start: int) -> int:
    """The parent of the highest nodes in the span: all that changed lies below it."""
    if highest <= 1 or not len(tree):
        return 0
    return int(np.flatnonzero(tree.levels[:start] == highest - 1)[-1])

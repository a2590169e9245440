"""Document tree (paper 003, section 4.1.1.1): every tag a node with a name, a level and children.

A tree is kept as two columns in document order, which is all it takes to count nodes by level, to
compare two trees level by level, and to name the place of any node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from incrawl.core.changes.vocabulary import KNOWN, Vocabulary


@dataclass(frozen=True)
class Tree:
    """Nodes in document order. The root is on level 1; each next level is at most one deeper."""

    names: tuple[str, ...]  # tag names: all that HTML has, then those of this page
    tags: Any  # for each node the number of its name
    levels: Any  # for each node its level (int32)

    @classmethod
    def of(cls, numbers: Any, levels: Any, vocabulary: Vocabulary) -> Tree:
        """A tree from numbers of the vocabulary; names that HTML does not know are numbered anew."""
        if not len(numbers) or numbers.max() < len(KNOWN):
            return cls(KNOWN, numbers, levels)
        own = np.unique(numbers[numbers >= len(KNOWN)])
        renumbered = np.where(numbers < len(KNOWN), numbers, len(KNOWN) + np.searchsorted(own, numbers))
        return cls((*KNOWN, *map(vocabulary.name, own.tolist())), renumbered, levels)

    @classmethod
    def from_levels(cls, rows: Sequence[Sequence[tuple[str, int]]]) -> Tree:
        """A tree from its levels, top down: each node as (tag name, number of children)."""
        following = [iter(row) for row in rows[1:]]
        tags: list[str] = []
        levels: list[int] = []
        waiting = [(node, 1) for node in reversed(rows[0])]
        while waiting:
            (name, children), level = waiting.pop()
            tags.append(name)
            levels.append(level)
            below = [(next(following[level - 1]), level + 1) for _ in range(children)]
            waiting += reversed(below)
        vocabulary = Vocabulary()
        numbers = [vocabulary.number(name.encode()) for name in tags]
        return cls.of(np.array(numbers, np.uint16), np.array(levels, np.int32), vocabulary)

    def __len__(self) -> int:
        return len(self.tags)

    @cached_property
    def level_counts(self) -> tuple[int, ...]:
        """Nodes on level 1, 2, 3, …"""
        return tuple(np.bincount(self.levels)[1:].tolist())

    @cached_property
    def inner(self) -> Any:
        """For each node whether it has children: the node after it lies deeper."""
        return np.append(self.levels[1:] > self.levels[:-1], False) if len(self) else np.zeros(0, np.bool_)

    @cached_property
    def parents(self) -> Any:
        """For each node its parent, -1 for a root."""
        found = self.last_on_level(self.levels - 1, np.arange(len(self)))
        return np.where(self.levels > 1, found, -1)

    def last_on_level(self, levels: Any, nodes: Any) -> Any:
        """For each pair of a level and a node the last node up to that one on that level."""
        keys = self._level_keys
        order = np.argsort(keys)
        found = (
            np.searchsorted(keys, levels * np.int64(len(self) + 1) + nodes, side="right", sorter=order) - 1
        )
        return order[np.maximum(found, 0)]

    @cached_property
    def _level_keys(self) -> Any:
        return self.levels * np.int64(len(self) + 1) + np.arange(len(self))

    def tag(self, node: int) -> str:
        return self.names[int(self.tags[node])]

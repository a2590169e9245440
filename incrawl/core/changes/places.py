"""Where a node stands, as an XPath: `/html/body/div[2]/p[3]`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from incrawl.core.changes.tree import Tree

_DEEPEST = 256  # a longer path would be of no use to a reader


class Places:
    """XPaths of the nodes of one tree. A step has a number where a sibling has the same tag."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._parents = tree.parents.tolist()
        self._numbers, self._totals = _among_siblings(tree)

    def xpath(self, node: int) -> str:
        """The place of one node; a very deep node is given by its last steps, below `//`."""
        steps: list[str] = []
        while node >= 0 and len(steps) < _DEEPEST:
            steps.append(self._step(node))
            node = self._parents[node]
        return ("/" if node < 0 else "//") + "/".join(reversed(steps))

    def xpaths(self, nodes: Iterable[int]) -> list[str]:
        return [self.xpath(node) for node in nodes]

    def _step(self, node: int) -> str:
        name = self._tree.tag(node)
        step = name if name.replace("-", "").replace("_", "").isalnum() else f"*[name()={_quoted(name)}]"
        return step if self._totals[node] == 1 else f"{step}[{self._numbers[node]}]"


def _quoted(name: str) -> str:
    return f'"{name}"' if "'" in name else f"'{name}'"


def _among_siblings(tree: Tree) -> tuple[list[int], list[int]]:
    """For each node its number among its siblings of the same tag (from 1), and how many those are."""
    if not len(tree):
        return [], []
    groups = (tree.parents.astype(np.int64) + 1) * len(tree.names) + tree.tags
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    sizes = np.diff(np.append(starts, len(ordered)))
    numbers: Any = np.empty(len(tree), np.int64)
    totals: Any = np.empty(len(tree), np.int64)
    numbers[order] = np.arange(len(tree)) - np.repeat(starts, sizes) + 1
    totals[order] = np.repeat(sizes, sizes)
    return numbers.tolist(), totals.tolist()

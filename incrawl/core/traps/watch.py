"""Watches which URL patterns still lead to something new, within bounded memory."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from incrawl.core.traps.novelty import Mark, Novelty, marks_of
from incrawl.core.traps.shapes import loop_in, registered_domain, shapes_of

NARROW, WIDE, WIDEST = 50, 100, 200  # pages of a pattern that are looked at together
MAX_PATTERNS = 3000  # 4 KiB each
MAX_TRAPPED = 10_000
MAX_NEW_PAGES = 100_000  # of one domain, in one run


class TrapWatch:
    """What one worker knows. `trapped` maps each trapped pattern to an example, for operators."""

    def __init__(self) -> None:
        self.trapped: OrderedDict[str, str] = OrderedDict()
        self._patterns: OrderedDict[str, Novelty] = OrderedDict()
        self._pages: Counter[str] = Counter()

    def refusal(self, url: str) -> str | None:
        """Why a page never visited before is not to be visited, in a word; None if it may be."""
        loop = loop_in(url)
        if loop is not None:
            return loop
        shapes = shapes_of(url)
        if any(shape in self.trapped for shape in shapes):
            return "pattern"
        if shapes and self._pages[domain_of(shapes)] >= MAX_NEW_PAGES:
            return "host_budget"
        return None

    def saw(self, url: str, blocks: Sequence[str], fresh: Iterable[str]) -> list[str]:
        """A new page was fetched, with `fresh` links that were not known before.

        Returns the patterns that have thereby turned out to be traps.
        """
        shapes = shapes_of(url)
        if shapes:
            self._pages[domain_of(shapes)] += 1
        leads_to = cache(lambda: frozenset(shape for link in fresh for shape in shapes_of(link)))
        marks = marks_of(blocks)
        found = [shape for shape in shapes if self._add(shape, marks, leads_to)]
        self.learn(found, url)
        return found

    def learn(self, patterns: Iterable[str], example: str = "") -> None:
        """Takes patterns for trapped."""
        self.learn_all(dict.fromkeys(patterns, example))

    def learn_all(self, found: Mapping[str, str]) -> None:
        """Trapped patterns, each with an example, as other workers and earlier runs have found."""
        for pattern, example in found.items():
            self.trapped.setdefault(pattern, example)
            self._patterns.pop(pattern, None)
        while len(self.trapped) > MAX_TRAPPED:
            self.trapped.popitem(last=False)

    def _add(self, shape: str, marks: Sequence[Mark], leads_to: Callable[[], frozenset[str]]) -> bool:
        if shape in self.trapped:
            return False
        novelty = self._patterns.get(shape)
        if novelty is None:
            novelty = self._patterns[shape] = Novelty(window_for(shape))
            if len(self._patterns) > MAX_PATTERNS:
                self._patterns.popitem(last=False)
        self._patterns.move_to_end(shape)
        novelty.add_marks(marks, lambda: shape in leads_to())
        return novelty.is_trap


def domain_of(shapes: Sequence[str]) -> str:
    return registered_domain(shapes[0].partition("/")[0])


def window_for(shape: str) -> int:
    """The wider the pattern, the more must be seen before it is given up."""
    if shape.endswith("**"):
        return WIDEST
    return WIDE if "*" in shape else NARROW

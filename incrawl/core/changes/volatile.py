"""Which parts of a page are never the same: clocks, counters, rotating boxes, scripts full of tokens.

A part is volatile when it differs between two fetches minutes apart, or when at three visits in a row
it differed in digits, dates or tokens only. It then stops counting, until it has kept still for a while.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import msgpack

from incrawl.core.changes.align import Match
from incrawl.core.changes.differences import Differences
from incrawl.core.changes.shapes import NO_LETTERS

MINUTES_APART = 300.0
"""Fetches that are at most so many seconds apart: what differs between them is no news."""

VISITS = 3
"""Visits in a row that differ in the same way before that is taken for the page's nature."""

CALM_VISITS = 5
"""Visits in a row without a difference after which a volatile part counts again."""

BOX = 0.25
"""A part with a larger share of the page's elements is no box: what differs in it is named one by one."""

_MOST_SLOTS = 300
_SCHEMA = 2
_NUMBERS = re.compile(r"\[\d+\]")


class Look(IntEnum):
    """The second look at a page, minutes after its first change: whatever differs again is no news."""

    NOT_YET = 0
    DUE = 1
    DONE = 2

    @property
    def after_visit(self) -> Look:
        return Look.DONE if self is Look.DUE else self


class Slot(NamedTuple):
    """A part of a page that was seen to differ."""

    differed: int  # visits in a row, up to VISITS
    calm: int = 0  # visits in a row since it last differed


@dataclass(frozen=True, slots=True)
class Volatility:
    """What is known of a page's volatile parts.

    Slots are named `shape:… PLACE` (a paragraph that differs in digits), `place:PLACE` (one that differs in
    its words), `box:PLACE` (a subtree with all in it) and `facet:…` (scripts, attributes).
    """

    slots: dict[str, Slot] = field(default_factory=dict)
    look: Look = Look.NOT_YET

    def is_volatile(self, name: str) -> bool:
        slot = self.slots.get(name)
        return slot is not None and slot.differed >= VISITS

    def covers(self, differences: Differences, match: Match) -> bool:
        """Whether a paragraph that differs was known to."""
        return bool(self.slots) and any(map(self.is_volatile, self._slots_of(differences, match)))

    def covers_tags(self, differences: Differences) -> bool:
        """Whether elements came and went only where they were known to."""
        return bool(self.slots) and any(map(self.is_volatile, self._boxes_around(differences.subtree)))

    def differing(self, differences: Differences) -> set[str]:
        """The known slots that differ."""
        if not self.slots:
            return set()
        found = {slot for match in differences.matches for slot in self._slots_of(differences, match)}
        found |= self._boxes_around(differences.subtree) | _facets(differences).keys()
        return found & self.slots.keys()

    def _slots_of(self, differences: Differences, match: Match) -> set[str]:
        places = {differences.old_place(match), differences.new_place(match)} - {""}
        found = {f"place:{place}" for place in places}.union(*map(self._boxes_around, places))
        return found | ({_shape(differences, match)} if differences.same_shape(match) else set())

    def _boxes_around(self, place: str) -> set[str]:
        boxes = (name for name in self.slots if name.startswith("box:"))
        return {name for name in boxes if f"{place}/".startswith(f"{name.removeprefix('box:')}/")}

    def pack(self) -> bytes:
        return zlib.compress(msgpack.packb([_SCHEMA, self.slots, self.look])) if self != Volatility() else b""

    @classmethod
    def unpack(cls, packed: bytes) -> Volatility:
        """What `pack` gave; anything else is read as nothing known, which is soon learnt again."""
        try:
            schema, slots, look = msgpack.unpackb(zlib.decompress(packed)) if packed else (_SCHEMA, {}, 0)
            if schema == _SCHEMA:
                named = {
                    str(name): Slot(int(differed), int(calm)) for name, (differed, calm) in slots.items()
                }
                return cls(named, Look(look))
        except (ValueError, TypeError, AttributeError, zlib.error, msgpack.UnpackException):
            return cls()
        return cls()


def learn(known: Volatility, differences: Differences, elapsed: float) -> Volatility:
    """What is known after one more visit, `elapsed` seconds after the one it is compared with."""
    seen = _shapes(differences) | _facets(differences)
    if elapsed <= MINUTES_APART:
        seen = dict.fromkeys([*seen, *_places(differences)], VISITS)
    seen |= {name: seen.get(name, 1) for name in known.differing(differences)}
    slots = {name: _next(known.slots.get(name, Slot(0)), step) for name, step in seen.items()}
    for name, slot in known.slots.items():
        if name not in seen and (calmed := _calmed(slot)) is not None:
            slots[name] = calmed
    return Volatility(dict(list(slots.items())[:_MOST_SLOTS]), known.look.after_visit)


def learn_unchanged(known: Volatility) -> Volatility:
    """What is known after a visit that found the page as it was."""
    calmed = {name: _calmed(slot) for name, slot in known.slots.items()}
    slots = {name: slot for name, slot in calmed.items() if slot is not None}
    return Volatility(slots, known.look.after_visit)


def _next(slot: Slot, step: int) -> Slot:
    return Slot(min(slot.differed + step, VISITS))


def _calmed(slot: Slot) -> Slot | None:
    """A slot after a visit at which it did not differ; None when it is to be forgotten."""
    if slot.differed < VISITS or slot.calm + 1 >= CALM_VISITS:
        return None
    return Slot(slot.differed, slot.calm + 1)


def _shape(differences: Differences, match: Match) -> str:
    """Words tell one counter from the next wherever it stands; bare numbers are told by their place."""
    shape, place = int(differences.new.column("shapes")[match.new]), differences.new_place(match)
    return f"shape:{shape:08x} {place if shape == NO_LETTERS else _NUMBERS.sub('', place)}"


def _shapes(differences: Differences) -> dict[str, int]:
    return {_shape(differences, match): 1 for match in differences.matches if differences.same_shape(match)}


def _facets(differences: Differences) -> dict[str, int]:
    """Links count only where the text around them stayed: a new headline has a new link each time."""
    facets = differences.facets if differences.same_text else differences.facets - {"links"}
    if not differences.same_tags:
        facets -= {"appearance", "data"}
    return {f"facet:{facet}": 1 for facet in sorted(facets)}


def _places(differences: Differences) -> set[str]:
    """Where paragraphs differ, and the box in which elements came and went."""
    places = {differences.old_place(match) for match in differences.matches}
    places |= {differences.new_place(match) for match in differences.matches}
    found = {f"place:{place}" for place in places if place}
    return found | {f"box:{differences.subtree}"} if differences.subtree_share <= BOX else found

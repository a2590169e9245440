"""Which parts of a page are never the same: clocks, counters, rotating boxes, scripts full of tokens.

A part is volatile when it differs between two fetches minutes apart, or when at three visits in a row
it differed in digits, dates or tokens only. It then stops counting, until it has kept still for a while.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import msgpack

from incrawl.core.changes.align import Match
from incrawl.core.changes.differences import Differences

MINUTES_APART = 300.0
"""Fetches that are at most so many seconds apart: what differs between them is no news."""

VISITS = 3
"""Visits in a row that differ in the same way before that is taken for the page's nature."""

CALM_VISITS = 5
"""Visits in a row without a difference after which a volatile part counts again."""

_MOST_SLOTS = 300
_SCHEMA = 1


class Slot(NamedTuple):
    """A part of a page that was seen to differ."""

    differed: int  # visits in a row, up to VISITS
    calm: int = 0  # visits in a row since it last differed


@dataclass(frozen=True, slots=True)
class Volatility:
    """What is known of a page's volatile parts. Slots are named `shape:… PLACE`, `place:PLACE`, `facet:…`."""

    slots: dict[str, Slot] = field(default_factory=dict)

    def is_volatile(self, name: str) -> bool:
        slot = self.slots.get(name)
        return slot is not None and slot.differed >= VISITS

    def covers_place(self, place: str) -> bool:
        """Whether a place is volatile, or lies inside one that is."""
        return any(
            self.is_volatile(name) and (place + "/").startswith(name.removeprefix("place:") + "/")
            for name in self.slots
            if name.startswith("place:")
        )

    def covers(self, differences: Differences, match: Match) -> bool:
        """Whether a paragraph that differs was known to."""
        if not self.slots:
            return False
        if differences.same_shape(match) and self.is_volatile(_shape(differences, match)):
            return True
        places = [differences.old_place(match), differences.new_place(match)]
        return any(self.covers_place(place) for place in places if place)

    def pack(self) -> bytes:
        return bytes(msgpack.packb([_SCHEMA, self.slots])) if self.slots else b""

    @classmethod
    def unpack(cls, packed: bytes) -> Volatility:
        """What `pack` gave; anything else is read as nothing known, which is soon learnt again."""
        try:
            schema, slots = msgpack.unpackb(packed) if packed else (_SCHEMA, {})
            if schema == _SCHEMA:
                return cls(
                    {str(name): Slot(int(differed), int(calm)) for name, (differed, calm) in slots.items()}
                )
        except (ValueError, TypeError, AttributeError, msgpack.UnpackException):
            return cls()
        return cls()


def learn(known: Volatility, differences: Differences, elapsed: float) -> Volatility:
    """What is known after one more visit, `elapsed` seconds after the one it is compared with."""
    quick = elapsed <= MINUTES_APART
    seen = {**_differing_shapes(differences), **_differing_facets(differences)}
    if quick:
        seen = dict.fromkeys(seen, VISITS) | dict.fromkeys(_differing_places(differences), VISITS)
    slots = {name: _next(known.slots.get(name, Slot(0)), step) for name, step in seen.items()}
    for name, slot in known.slots.items():
        if name not in seen and (calmed := _calmed(slot)) is not None:
            slots[name] = calmed
    return Volatility(dict(list(slots.items())[:_MOST_SLOTS]))


def learn_unchanged(known: Volatility) -> Volatility:
    """What is known after a visit that found the page as it was."""
    calmed = {name: _calmed(slot) for name, slot in known.slots.items()}
    return Volatility({name: slot for name, slot in calmed.items() if slot is not None})


def _next(slot: Slot, step: int) -> Slot:
    return Slot(min(slot.differed + step, VISITS))


def _calmed(slot: Slot) -> Slot | None:
    """A slot after a visit at which it did not differ; None when it is to be forgotten."""
    if slot.differed < VISITS or slot.calm + 1 >= CALM_VISITS:
        return None
    return Slot(slot.differed, slot.calm + 1)


def _shape(differences: Differences, match: Match) -> str:
    return f"shape:{int(differences.new.column('shapes')[match.new]):08x} {differences.new_place(match)}"


def _differing_shapes(differences: Differences) -> dict[str, int]:
    return {_shape(differences, match): 1 for match in differences.matches if differences.same_shape(match)}


def _differing_facets(differences: Differences) -> dict[str, int]:
    """Links count only where the text around them stayed: a new headline has a new link each time."""
    facets = differences.facets if differences.same_text else differences.facets - {"links"}
    if not differences.same_tags:
        facets -= {"appearance", "data"}
    return {f"facet:{facet}": 1 for facet in sorted(facets)}


def _differing_places(differences: Differences) -> set[str]:
    places = {differences.old_place(match) for match in differences.matches}
    places |= {differences.new_place(match) for match in differences.matches}
    return {f"place:{place}" for place in places | {differences.subtree} if place}

"""Attributes of a page as columns, and what an attribute's name says about its purpose."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import xxhash


class Group(IntEnum):
    """What a difference in an attribute means."""

    DROPPED = 0  # noise by its name: never compared
    LOOK = 1  # appearance, and whatever has no group of its own
    CLASS = 2  # appearance, as a set of names
    NAME = 3  # ids and references to ids, often made up by a program
    RESOURCE = 4  # address of a picture and the like
    DATA = 5  # data for scripts
    HANDLER = 6  # script
    LINK = 7  # address that a reader may follow


_ID_ATTRIBUTES = """
id for name headers form list usemap aria-controls aria-labelledby aria-describedby aria-owns
aria-activedescendant"""
_NAMES = frozenset(_ID_ATTRIBUTES.split())
_RESOURCES = frozenset(
    {"src", "srcset", "poster", "background", "data", "xlink:href", "longdesc", "manifest"}
)
_DROPPED_ATTRIBUTES = """
nonce integrity xmlns crossorigin fetchpriority rel datetime data-reactid data-react-checksum data-reactroot
data-cfemail"""
_DROPPED = frozenset(_DROPPED_ATTRIBUTES.split())
_LINKS = frozenset(["href", "action", "formaction"])
_GROUP_BITS = 13


def group_of(name: str) -> Group:
    """The group of an attribute, by its name alone.

    >>> group_of("onclick").name, group_of("data-id").name, group_of("width").name
    ('HANDLER', 'DATA', 'LOOK')
    """
    if name == "class":
        return Group.CLASS
    if name in _LINKS:
        return Group.LINK
    if name in _DROPPED or name.startswith(("xmlns:", "_ngcontent", "_nghost")):
        return Group.DROPPED
    if name.startswith("data-"):
        return Group.DATA
    if name.startswith("on"):
        return Group.HANDLER
    if name in _RESOURCES:
        return Group.RESOURCE
    return Group.NAME if name in _NAMES else Group.LOOK


def name_hash(name: bytes) -> int:
    """A number for a name, the same in every process, so that digests over it can be stored."""
    return xxhash.xxh32_intdigest(name)


def sort_key(name: bytes) -> int:
    """16 bits that put attributes in order: by group, then by name."""
    return group_of(name.decode("utf-8", "replace")) << _GROUP_BITS | name_hash(name) >> 32 - _GROUP_BITS


class Name(NamedTuple):
    """An attribute that is looked for by name."""

    group: Group
    hash: int

    @classmethod
    def of(cls, name: str) -> Name:
        return cls(group_of(name), name_hash(name.encode()))


_EDGES = (np.arange(len(Group) + 1) << _GROUP_BITS).astype(np.uint32)


@dataclass(frozen=True, slots=True)
class Attributes:
    """All attributes of a page, sorted by group and name, then in document order.

    An element has at most one attribute of a name: the order in which they were written does not show.
    """

    elements: Any  # number of the element that has it (int32)
    names: Any  # hash of its name (uint32)
    values: list[bytes]  # entities not yet resolved
    edges: list[int]  # where each group begins

    @classmethod
    def of(cls, elements: Any, facts: Any, values: list[bytes]) -> Attributes:
        """From columns in document order (`facts` as in Piece). Numpy sorts 16-bit keys in linear time."""
        names, keys = facts[:, 2], facts[:, 3].astype(np.uint16)
        order = keys.argsort(kind="stable")
        edges = keys[order].searchsorted(_EDGES).tolist()
        return cls(elements[order], names[order], list(map(values.__getitem__, order.tolist())), edges)

    def span(self, group: Group) -> slice:
        """Where the attributes of a group stand."""
        return slice(self.edges[group], self.edges[group + 1])

    def named(self, name: Name) -> list[tuple[int, bytes]]:
        """Element and value of every attribute of one name, in document order."""
        within = self.span(name.group)
        if within.start == within.stop:
            return []
        found = (self.names[within] == name.hash).nonzero()[0]
        return [(int(self.elements[at]), self.values[at]) for at in (found + within.start).tolist()]

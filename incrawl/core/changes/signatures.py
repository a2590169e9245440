"""Signatures of a page: all that a later comparison needs, small enough to lie beside the document."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import msgpack
import numpy as np

from incrawl.core.changes.fingerprint import fingerprints
from incrawl.core.changes.tree import Tree
from incrawl.core.changes.vocabulary import KNOWN

SCHEMA = 2
"""Raised whenever stored signatures can no longer be compared with new ones."""


class SignaturesError(ValueError):
    """Stored bytes are no signatures of this schema: the page has to be analysed again."""


@dataclass(frozen=True)
class Signatures:
    """Columns are packed little-endian numbers, one per paragraph."""

    body_hash: bytes
    digest: bytes  # over normalised text and structure, links, appearance and behaviour
    text: bytes  # digests that say which kind of thing changed: text in its order,
    structure: bytes  # tags and their nesting,
    arrangement: bytes  # how text and tags are interleaved,
    links: bytes  # where links lead,
    appearance: bytes  # attributes,
    styles: bytes  # style sheets and the addresses of more,
    handlers: bytes  # event handlers,
    data: bytes  # data attributes,
    scripts: bytes  # scripts and the addresses of more
    rms: float
    checksum: float
    distinct: int  # different characters on the page
    hashes: bytes  # uint64 per paragraph: exact text
    shapes: bytes  # uint32: text without digits, dates and tokens
    paragraph_rms: bytes  # float32
    paragraph_checksums: bytes  # float32
    lengths: bytes  # uint32: characters that are not white space
    nodes: bytes  # uint32: the element that holds the paragraph
    link_hashes: bytes  # uint32: where the links of the paragraph lead, 0 for none
    tag_names: tuple[str, ...]  # those that HTML does not know
    outline: bytes  # uint16 tag of every element, then uint16 level of every element
    rules: int = 0  # of which ignore rules the signatures were made

    def pack(self) -> bytes:
        """Bytes for storage; `unpack` gives back an equal value."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["outline"] = zlib.compress(self.outline, 1)
        return bytes(msgpack.packb([SCHEMA, *values.values()]))

    @classmethod
    def unpack(cls, packed: bytes) -> Signatures:
        """Raises SignaturesError on anything that `pack` of this schema did not make."""
        try:
            schema, *values = msgpack.unpackb(packed, use_list=False)
            if schema != SCHEMA:
                raise SignaturesError(f"signatures of schema {schema!r}, not {SCHEMA}")
            named = dict(zip(_FIELDS, values, strict=True))
            return cls(**named | {"outline": zlib.decompress(named["outline"])})
        except (ValueError, TypeError, zlib.error, msgpack.UnpackException) as error:
            raise SignaturesError(f"unreadable signatures: {error}") from None

    def __len__(self) -> int:
        """Number of paragraphs."""
        return len(self.hashes) // 8

    def column(self, name: str) -> Any:
        """A column as a numpy array."""
        if name not in self._columns:
            self._columns[name] = np.frombuffer(getattr(self, name), _TYPES[name])
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, Any]:
        return {}

    @cached_property
    def tree(self) -> Tree:
        numbers = np.frombuffer(self.outline, "<u2")
        half = len(numbers) // 2
        return Tree(
            (*KNOWN, *self.tag_names), numbers[:half].astype(np.int32), numbers[half:].astype(np.int32)
        )

    @property
    def levels(self) -> tuple[int, ...]:
        """Elements on level 1, 2, 3, …"""
        return self.tree.level_counts

    @property
    def fingerprints(self) -> tuple[str, str]:
        return fingerprints(map(self.tree.names.__getitem__, self.tree.tags.tolist()))


def outline(tree: Tree) -> bytes:
    """The two columns of a tree one after the other; beyond 65,535 names or levels it is cut off there."""
    return b"".join(
        [np.minimum(column, 0xFFFF).astype("<u2").tobytes() for column in (tree.tags, tree.levels)]
    )


_FIELDS = tuple(item.name for item in fields(Signatures))
_TYPES = {
    "hashes": "<u8",
    "shapes": "<u4",
    "paragraph_rms": "<f4",
    "paragraph_checksums": "<f4",
    "lengths": "<u4",
    "nodes": "<u4",
    "link_hashes": "<u4",
}

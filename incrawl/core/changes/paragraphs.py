"""Signatures of paragraphs: hash, shape, RMS, weighted checksum and length of each, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import xxhash

from incrawl.core.changes.checksum import page_checksum, paragraph_checksums
from incrawl.core.changes.importance import paragraph_sizes
from incrawl.core.changes.markup import Markup
from incrawl.core.changes.rms import Rms
from incrawl.core.changes.shapes import shape_hashes
from incrawl.core.changes.text import Text


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph of a page, for those who look at it."""

    text: str
    place: str  # XPath of the element that holds it
    level: int
    rms: float
    checksum: float


def measure(text: Text, texts: list[bytes], markup: Markup, nodes: Any) -> dict[str, Any]:
    """The sums and columns of Signatures that are about text; `nodes` are the elements that hold it."""
    rms = Rms.of(text.letters)
    sizes, mixed = paragraph_sizes(text, markup, nodes)
    checksums = paragraph_checksums(text.letters, sizes)
    for index, value in mixed.items():
        checksums[index] = value
    hashes = np.frombuffer(b"".join(map(xxhash.xxh3_64_digest, texts)), ">u8")
    return {
        "rms": rms.page,
        "checksum": page_checksum(checksums),
        "distinct": rms.distinct,
        "hashes": hashes.astype("<u8").tobytes(),
        "shapes": shape_hashes(text.letters, texts, hashes).tobytes(),
        "paragraph_rms": rms.paragraphs.astype("<f4").tobytes(),
        "paragraph_checksums": checksums.astype("<f4").tobytes(),
        "lengths": text.letters.counts().astype("<u4").tobytes(),
    }

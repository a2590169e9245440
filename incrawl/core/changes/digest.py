"""Hashes that see every difference, order included. They decide *whether* something changed."""

from __future__ import annotations

import xxhash


def body_hash(body: bytes) -> bytes:
    """Equal bytes have equal hashes: the cheapest way to know that nothing changed."""
    return xxhash.xxh3_128_digest(body)


def digest(*parts: bytes) -> bytes:
    """One digest for several parts; a byte cannot wander from one part to the next unseen."""
    lengths = b",".join([b"%d" % len(part) for part in parts])
    return xxhash.xxh3_128_digest(b"".join([lengths, b":", *parts]))

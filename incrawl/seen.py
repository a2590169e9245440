"""Links that the frontier is known to know: most links of a page need no look-up at all.

Only what the frontier has confirmed is entered, so that a page is never acknowledged on the word of
a discovery that is still under way. A link that is now found closer to a seed is not covered. All is
forgotten when a connection is made: a server that was away may have come back without its last moments.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from incrawl.frontier.connections import CONNECTIONS

SIZE = 100_000  # links in a generation; two are kept, at about 100 bytes each
LIFETIME = 3600.0  # seconds after which a generation grows old, and then goes: forgotten URLs can come back


class SeenLinks:
    """A bounded memory of (link, level), by 64-bit hashes; the oldest half goes when it is full."""

    def __init__(self, size: int = SIZE, lifetime: float = LIFETIME) -> None:
        self._size = size
        self._lifetime = lifetime
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}
        self._turned = time.monotonic()
        self._connections = CONNECTIONS.made

    def covers(self, url: str, level: int) -> bool:
        """Whether the frontier knows this link at this level or a higher one."""
        if CONNECTIONS.made != self._connections or time.monotonic() - self._turned > self._lifetime:
            self._grow_old()
        key = hash(url)
        known = self._young.get(key)
        if known is None:
            known = self._old.get(key, -1)
        return known >= level

    def add(self, links: Iterable[tuple[str, int]], connections: int) -> None:
        """Enters links that the frontier knows; `connections` had been made when it was asked."""
        if len(self._young) >= self._size or CONNECTIONS.made != self._connections:
            self._grow_old()
        if connections != self._connections:
            return
        for url, level in links:
            key = hash(url)
            self._young[key] = max(level, self._young.get(key, -1), self._old.get(key, -1))

    def _grow_old(self) -> None:
        same_server = CONNECTIONS.made == self._connections
        self._old = self._young if same_server else {}
        self._young = {}
        self._turned, self._connections = time.monotonic(), CONNECTIONS.made

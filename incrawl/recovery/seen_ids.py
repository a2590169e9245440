"""Remembers which URLs, at which levels, a walk through the frontier has come across."""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray


class SeenIds:
    """Eight bytes for each: there may be many millions. All are added before any is looked for."""

    def __init__(self) -> None:
        self._hashes = array("q")
        self._sorted: NDArray[np.int64] | None = None

    def add(self, url_id: bytes, level: int) -> None:
        self._hashes.append(hash((url_id, level)))

    def has(self, url_id: bytes, level: int) -> bool:
        if self._sorted is None:
            self._sorted = np.frombuffer(self._hashes or array("q", [0]), np.int64)
            self._sorted.sort()
        wanted = hash((url_id, level))
        at = int(np.searchsorted(self._sorted, wanted))
        return at < len(self._sorted) and int(self._sorted[at]) == wanted

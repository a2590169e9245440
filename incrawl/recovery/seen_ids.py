"""Remembers which URLs a long walk through the frontier has come across."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class SeenIds:
    """URL ids at eight bytes each: there may be many millions. All are added before any is looked for."""

    def __init__(self) -> None:
        self._hashes = array("Q")
        self._sorted: NDArray[np.uint64] | None = None

    def add(self, ids: Iterable[bytes]) -> None:
        self._hashes.extend(map(_short, ids))

    def __contains__(self, id_: bytes) -> bool:
        if self._sorted is None:
            self._sorted = np.sort(np.frombuffer(self._hashes, np.uint64))
        at = int(np.searchsorted(self._sorted, np.uint64(_short(id_))))
        return at < len(self._sorted) and int(self._sorted[at]) == _short(id_)


def _short(url_id: bytes) -> int:
    return int.from_bytes(url_id[-8:])

"""Pages as numbers: a page's number is its place among the sorted ids of all known pages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from incrawl.core.urls import canonical, is_web_url, url_id

Ids = NDArray[np.uint64]
Numbers = NDArray[np.int64]


def short_id(url_id: bytes) -> int:
    """The first 8 bytes of a URL id: among 10⁷ pages, the odds that any two are alike are 10⁻⁶."""
    return int.from_bytes(url_id[:8])


@lru_cache(maxsize=1 << 17)
def short_id_of(url: str) -> int | None:
    """The id of a link as found; None where it leads to no web page. Most links of a site recur."""
    try:
        return short_id(url_id(canonical(url))) if is_web_url(url) else None
    except ValueError:
        return None


class PageNumbers:
    """Numbers 0…n−1 for n pages, from their ids, each of which may be given more than once."""

    def __init__(self, ids: Iterable[int]) -> None:
        self.ids: Ids = np.unique(np.fromiter(ids, dtype=np.uint64))

    def __len__(self) -> int:
        return len(self.ids)

    def of(self, short_id: int) -> int | None:
        """The number of one page; None for one that was not there when the numbers were given."""
        at = int(np.searchsorted(self.ids, np.uint64(short_id)))
        return at if at < len(self.ids) and int(self.ids[at]) == short_id else None

    def of_known(self, ids: Ids) -> Numbers:
        """The numbers of those among `ids` that are known."""
        at: Numbers = np.searchsorted(self.ids, ids).astype(np.int64)
        inside = at < len(self.ids)
        at, ids = at[inside], ids[inside]
        known: Numbers = at[self.ids[at] == ids]
        return known

"""The link graph of the current versions, a few bytes per link, and what is counted on it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from incrawl.collection.numbers import Numbers, PageNumbers, short_id_of
from incrawl.core.ranking.pagerank import pagerank


class LinkGraph:
    """Links are taken from each page's current version, once: a revisit or a second delivery counts no
    link twice, and a link that was dropped from its page is not there any more."""

    def __init__(self, pages: PageNumbers) -> None:
        self._pages = pages
        self._sources = array("i")
        self._targets = array("i")
        self.forward: NDArray[np.int32] = np.zeros(len(pages), dtype=np.int32)
        self._seen = np.zeros(len(pages), dtype=bool)

    def add(self, page: int, links: Iterable[str]) -> None:
        """The links of page number `page`; a page that was added before is left as it is."""
        if self._seen[page]:
            return
        self._seen[page] = True
        own = int(self._pages.ids[page])
        # A link to the page itself would let it vouch for itself.
        ids = {link for link in map(short_id_of, links) if link is not None} - {own}
        self.forward[page] = len(ids)
        targets = self._pages.of_known(np.fromiter(ids, dtype=np.uint64, count=len(ids)))
        self._sources.extend([page] * len(targets))
        self._targets.extend(targets.tolist())

    @property
    def links(self) -> int:
        """Links between known pages."""
        return len(self._sources)

    def back(self) -> Numbers:
        """For each page, how many pages of the repository link to it."""
        return np.bincount(_numbers(self._targets), minlength=len(self._pages))

    def pvalues(self) -> Numbers:
        """Eq. 1 of paper 003, of each page: links on it minus pages that link to it."""
        return self.forward.astype(np.int64) - self.back()

    def pagerank(self) -> NDArray[np.float64]:
        return pagerank(_numbers(self._sources), _numbers(self._targets), len(self._pages))


def _numbers(values: array[int]) -> Numbers:
    return np.frombuffer(values, dtype=np.int32).astype(np.int64) if values else np.zeros(0, dtype=np.int64)

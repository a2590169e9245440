"""The three lists of paper 003, cut anew in each partition, from which the frontier leases 4:2:1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrawl.collection.numbers import Numbers

Lists = NDArray[np.uint8]


def cut_lists(pvalues: Numbers, partitions: NDArray[np.uint16]) -> Lists:
    """The list (0, 1, 2) of each page: by falling Pvalue, three nearly equal parts per partition.

    Equal Pvalues go by page number, so that the same pages are always cut the same way.
    """
    lists: Lists = np.zeros(len(pvalues), dtype=np.uint8)
    for partition in np.unique(partitions):
        pages = np.flatnonzero(partitions == partition)
        by_pvalue = pages[np.argsort(-pvalues[pages], kind="stable")]
        for number, part in enumerate(np.array_split(by_pvalue, 3)):
            lists[part] = number
    return lists

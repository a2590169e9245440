"""The values that go in and out of the frontier's verbs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from incrawl.core.records import UrlRecord
from incrawl.core.urls import host_key
from incrawl.frontier.keys import due_seconds
from incrawl.frontier.packing import RecordError, level_of, unpack
from incrawl.frontier.places import HostPlace, UrlPlace

logger = logging.getLogger(__name__)

WORDS = 5  # that a script gives for each lease


class Lease(NamedTuple):
    """A URL that belongs to this worker until it is completed, released or expired."""

    place: UrlPlace
    record: UrlRecord
    token: bytes
    due: float
    suspect: bool  # an earlier worker let it expire: it is to be worked on alone


class Ending(NamedTuple):
    """How a visit ended, for `complete_all`."""

    lease: Lease
    record: UrlRecord
    delay: float | None  # seconds until the page is due again; None: never
    since_response: float | None  # seconds; None: no request was sent


@dataclass(frozen=True, slots=True)
class Grant:
    """The answer to one `lease`: what was given, and when another look is worth while."""

    leases: list[Lease]
    wait: float | None  # seconds; None: nothing of this run is in sight
    leased: int  # URLs out with workers, all workers, this partition
    suspects: int  # 1 if a suspect may be had now


class Find(NamedTuple):
    """A URL to be made known, with the record it starts from, packed."""

    url: str
    place: UrlPlace
    packed: bytes

    @property
    def level(self) -> int:
        return level_of(self.packed)


def read_leases(token: bytes, partition: int, words: Sequence[Any]) -> list[Lease]:
    """The leases of a script's reply, those left out whose record cannot be read."""
    each = (words[at : at + WORDS] for at in range(0, len(words), WORDS))
    return [lease for five in each if (lease := _read_lease(token, partition, *five)) is not None]


def _read_lease(
    token: bytes, partition: int, url_id: bytes, host: bytes, packed: bytes, score: bytes, suspect: int
) -> Lease | None:
    try:
        record = unpack(packed)
        host_place = HostPlace(host_key(record.url), host, partition)
    except (RecordError, ValueError, TypeError):
        # Nobody can work on it: left alone, it ends in quarantine.
        logger.exception("The record %s cannot be read", url_id.hex())
        return None
    return Lease(UrlPlace(url_id, host_place), record, token, due_seconds(float(score)), bool(suspect))

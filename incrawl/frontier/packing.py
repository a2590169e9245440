"""How a URL record is written into Redis: two bytes that the scripts read (level, list), then a
msgpack array without its trailing defaults. What is not known costs a byte or nothing.

A newer incrawl reads an older record: the array starts with its schema, and new fields are added
at its end.
"""

from __future__ import annotations

import logging
import math
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgpack

from incrawl.core.elsewhere import Elsewhere, Relation
from incrawl.core.records import Evidence, Observation, UrlRecord
from incrawl.errors import ServerError

logger = logging.getLogger(__name__)

SCHEMA = 1
MAX_LEVEL = 255
LISTS = 3

# Short codes for the types that nearly all pages have. Codes are stored: only ever add to the end.
_TYPES = ("", "text/html", "application/xhtml+xml", "text/plain", "application/xml", "text/xml")
_RELATIONS = {"m": Relation.MOVED, "c": Relation.CANONICAL, "d": Relation.DUPLICATE}  # capitals: settled
_TYPE_CODES = {name: code for code, name in enumerate(_TYPES)}

# An interval is kept as 15 bits on a logarithmic scale from a millisecond to 30 years: steps of 0.08 %.
_STEPS_PER_E = 32767 / math.log(1e12)
_LEAST = 1e-3

_USUAL: tuple[Any, ...] = (None, None, None, b"", 0, 0, 0, 0, 0, b"")
_RARE: tuple[Any, ...] = (None, None, 0, 0, None, None, "", None, None, None, "")
_DEFAULTS = _USUAL + _RARE


class RecordError(ServerError):
    """A record of a newer incrawl, or a damaged one."""


def pack(record: UrlRecord) -> bytes:
    """The record as the frontier stores it."""
    if not 0 <= record.list < LISTS:
        raise ValueError(
            f"a page is in one of {LISTS} lists, numbered from 0; there is no list {record.list}"
        )
    values: list[Any] = [
        _milliseconds(record.refresh_time),
        _milliseconds(record.last_crawl),
        record.document,
        record.fingerprint,
        record.size,
        _TYPE_CODES.get(record.type, record.type),
        record.visits,
        record.changes,
        record.failures,
        _pack_history(record.history),
    ]
    rare = (
        record.pl,
        record.pg,
        record.fr,
        record.fr_max,
        record.interest,
        record.rank,
        record.request,
        record.recrawl_threshold,
        _pack_older(record.older),
        _pack_elsewhere(record.elsewhere),
        record.barred,
    )
    if rare != _RARE:
        values += rare
    while values and values[-1] == _DEFAULTS[len(values) - 1]:
        del values[-1]
    head = bytes((min(max(record.level, 0), MAX_LEVEL), record.list))
    return head + bytes(msgpack.packb([SCHEMA, record.url, *values]))


def level_of(data: bytes) -> int:
    """The level of a packed record."""
    return data[0]


def unpack(data: bytes) -> UrlRecord:
    """The record that `pack` was given, intervals within 0.1 %; raises RecordError."""
    try:
        schema, *fields = msgpack.unpackb(data[2:])
        if schema <= SCHEMA:
            return _record(data[0], data[1], *fields)
    except (ValueError, TypeError, IndexError, KeyError, struct.error, msgpack.UnpackException) as error:
        raise RecordError(f"The frontier holds a damaged record ({error}).") from error
    raise RecordError(f"The frontier holds a record of schema {schema}: use a newer incrawl.")


def read(data: bytes) -> UrlRecord | None:
    """The record, or None for one that cannot be read: it is told, and does not stop those who read all."""
    try:
        return unpack(data)
    except RecordError as error:
        logger.error("%s", error)
        return None


def _record(level: int, list_: int, url: str, *given: Any) -> UrlRecord:
    values = (*given, *_DEFAULTS[len(given) :])
    refresh, last, document, fingerprint, size, kind, visits, changes, failures, history, *rest = values
    pl, pg, fr, fr_max, interest, rank, request, recrawl_threshold, older, elsewhere, barred = rest[:11]
    return UrlRecord(
        url,
        level,
        _seconds(refresh),
        _seconds(last),
        pl,
        pg,
        document,
        fingerprint,
        size,
        _TYPES[kind] if isinstance(kind, int) else kind,
        visits,
        changes,
        failures,
        _unpack_history(history),
        list_ % LISTS,  # as scripts read it: a damaged one is in some list, too
        fr,
        fr_max,
        interest,
        rank,
        request,
        recrawl_threshold,
        _unpack_older(older),
        _unpack_elsewhere(elsewhere),
        barred,
    )


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _pack_history(history: Sequence[Observation]) -> bytes:
    return struct.pack(f">{len(history)}H", *map(_observation_code, history))


def _unpack_history(data: bytes) -> tuple[Observation, ...]:
    return tuple(map(_observation, struct.unpack(f">{len(data) // 2}H", data)))


@lru_cache(maxsize=65536)  # a record's observations are all but one those that were read from it
def _observation_code(seen: Observation) -> int:
    return _interval_code(seen.interval) << 1 | seen.changed


@lru_cache(maxsize=65536)  # there are no more of them
def _observation(code: int) -> Observation:
    return Observation(_interval(code >> 1), bool(code & 1))


def _pack_older(older: Evidence | None) -> bytes | None:
    """Six bytes: two spans like those of the history, and a number of changes in steps of 1/256."""
    if older is None:
        return None
    changes = min(65535, round(older.changes * 256))
    return struct.pack(">3H", _interval_code(older.unchanged), changes, _interval_code(older.interval))


def _unpack_older(data: bytes | None) -> Evidence | None:
    if data is None:
        return None
    unchanged, changes, interval = struct.unpack(">3H", data)
    return Evidence(_interval(unchanged), changes / 256, _interval(interval))


def _pack_elsewhere(elsewhere: Elsewhere | None) -> str | None:
    if elsewhere is None:
        return None
    code = elsewhere.relation[0]
    return (code.upper() if elsewhere.settled else code) + elsewhere.url


def _unpack_elsewhere(text: str | None) -> Elsewhere | None:
    if text is None:
        return None
    return Elsewhere(_RELATIONS[text[0].lower()], text[1:], text[0].isupper())


def _interval_code(seconds: float) -> int:
    return min(32767, round(math.log(max(seconds, _LEAST) / _LEAST) * _STEPS_PER_E))


def _interval(code: int) -> float:
    return _LEAST * math.exp(code / _STEPS_PER_E)

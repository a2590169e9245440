"""How records are kept in Redis: nothing is lost on the way, and older records are read."""

from __future__ import annotations

import math

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrawl.core.elsewhere import Elsewhere, Relation
from incrawl.core.records import HISTORY_LENGTH, Observation, UrlRecord
from incrawl.frontier.packing import _DEFAULTS, LISTS, SCHEMA, RecordError, pack, unpack

spans = st.floats(0, 1e9).map(lambda seconds: round(seconds, 3))
shares = st.none() | st.floats(0, 1)
small = st.integers(0, 2**31)
text = st.text(st.characters(codec="utf-8"))
records = st.builds(
    UrlRecord,
    url=text,
    level=st.integers(0, 255),
    refresh_time=st.none() | spans,
    last_crawl=st.none() | spans,
    pl=shares,
    pg=shares,
    document=st.none() | text,
    fingerprint=st.binary(max_size=16),
    size=small,
    type=st.sampled_from(["", "text/html", "text/plain", "image/png"]) | text,
    visits=small,
    changes=small,
    failures=small,
    history=st.lists(
        st.builds(Observation, st.floats(1e-3, 1e9), st.booleans()), max_size=HISTORY_LENGTH
    ).map(tuple),
    list=st.integers(0, LISTS - 1),
    fr=small,
    fr_max=small,
    interest=shares,
    rank=st.none() | st.floats(0, 10),
    request=text,
    recrawl_threshold=shares,
    older=st.none(),  # is kept in coarse steps
    elsewhere=st.none() | st.builds(Elsewhere, st.sampled_from(Relation), text, st.booleans()),
    barred=text,
)


@settings(max_examples=40)
@given(records)
def test_a_record_comes_back_as_it_was(record: UrlRecord) -> None:
    back = unpack(pack(record))
    assert back._replace(history=()) == record._replace(history=())
    for seen, kept in zip(record.history, back.history, strict=True):
        assert kept.changed == seen.changed
        assert math.isclose(kept.interval, seen.interval, rel_tol=1e-3)


@settings(max_examples=40)
@given(records)
def test_what_was_read_is_packed_into_the_same_bytes(record: UrlRecord) -> None:
    """`amend` compares bytes, and counts on it."""
    packed = pack(record)
    assert pack(unpack(packed)) == packed


@settings(max_examples=40)
@given(records)
def test_level_and_list_stand_where_scripts_read_them(record: UrlRecord) -> None:
    assert tuple(pack(record)[:2]) == (record.level, record.list)


@pytest.mark.parametrize(("level", "kept"), [(-1, 0), (0, 0), (255, 255), (300, 255)])
def test_levels_are_kept_in_bounds(level: int, kept: int) -> None:
    assert unpack(pack(UrlRecord("http://a.test/", level))).level == kept


def test_a_list_that_no_worker_leases_from_is_refused() -> None:
    with pytest.raises(ValueError, match="no list 3"):
        pack(UrlRecord("http://a.test/", list=3))


def test_an_unvisited_url_costs_little_more_than_its_letters() -> None:
    url = "http://www.example.com/" + "x" * 47
    assert len(pack(UrlRecord(url, 2))) <= len(url) + 6


def test_a_record_after_twenty_visits_stays_small() -> None:
    url = "http://www.example.com/" + "x" * 47
    record = UrlRecord(
        url,
        refresh_time=86400.0,
        last_crawl=1.8e9,
        document="20261118T063249Z-a1b2",
        fingerprint=bytes(8),
        size=20000,
        type="text/html",
        visits=21,
        changes=7,
        history=(Observation(86400.0, True),) * HISTORY_LENGTH,
    )
    assert len(pack(record)) <= len(url) + 105


@settings(max_examples=40)
@given(records, st.integers(2, 20))
def test_an_older_record_with_fewer_fields_is_read(record: UrlRecord, length: int) -> None:
    """An incrawl that knew fewer fields wrote a shorter array; the others get their defaults."""
    packed = pack(record)
    array = msgpack.unpackb(packed[2:])
    older = unpack(packed[:2] + msgpack.packb(array[:length]))
    assert msgpack.unpackb(pack(older)[2:]) == _trimmed(array[:length])
    assert (older.url, older.level, older.list) == (record.url, record.level, record.list)


def _trimmed(array: list[object]) -> list[object]:
    """Without the fields at the end that have their default value."""
    while array[2:] and array[-1] == _DEFAULTS[len(array) - 3]:
        array = array[:-1]
    return array


def test_fields_that_a_later_incrawl_added_at_the_end_are_skipped() -> None:
    record = UrlRecord("http://a.test/", visits=3)
    packed = pack(record)
    array = msgpack.unpackb(packed[2:])
    full = [*array, *_DEFAULTS[len(array) - 2 :]]
    assert unpack(packed[:2] + msgpack.packb([*full, "new", 1])) == record


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"\0\0",
        b"\0\0\xff",
        pack(UrlRecord("http://a.test/", visits=3))[:-1],
        b"\0\0" + msgpack.packb([SCHEMA]),
        b"\0\0" + msgpack.packb("text"),
        b"\0\0" + msgpack.packb([SCHEMA, "u", 1, 1, None, b"", 0, 99]),
    ],
)
def test_a_damaged_record_is_told(data: bytes) -> None:
    with pytest.raises(RecordError, match="damaged"):
        unpack(data)


def test_a_record_of_a_newer_schema_is_told() -> None:
    with pytest.raises(RecordError, match="newer"):
        unpack(b"\0\0" + msgpack.packb([SCHEMA + 1, {"other": "shape"}]))

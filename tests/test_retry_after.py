"""Retry-After and growing backoff."""

from __future__ import annotations

import pytest

from incrawl.core.retry_after import LONGEST_HOLD, backoff, hold_time, retry_after

NOW = 784111777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("99999999999999999999", LONGEST_HOLD),
        ("Sun, 06 Nov 1994 08:50:37 GMT", 60.0),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60.0),
        ("Sun Nov  6 08:50:37 1994", 60.0),
        ("Sun, 06 Nov 1994 08:00:00 GMT", 0.0),
        ("Sun, 06 Nov 2094 08:00:00 GMT", LONGEST_HOLD),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("١٢", None),
        ("Sun, 99 Foo 1994 99:99:99 GMT", None),
        ("0000-00-00", None),
    ],
)
def test_seconds_or_date(value: str, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


def test_backoff_grows_and_is_bounded() -> None:
    assert [backoff(times, 1.0) for times in (0, 1, 2, 3)] == [60, 60, 120, 240]
    assert [backoff(times, 0.0) for times in (1, 2, 3)] == [30, 60, 120]
    assert backoff(10_000, 1.0) == LONGEST_HOLD


@pytest.mark.parametrize(
    ("header", "times", "seconds"),
    [
        ("120", 1, 120),
        ("0", 1, 1),
        ("0", 3, 60),  # said the third time in a row, it is not believed
        ("7200", 3, 7200),
        ("", 1, 45),
        ("", 2, 90),
        ("garbage", 2, 90),
    ],
)
def test_the_server_is_heard_first(header: str, times: int, seconds: float) -> None:
    assert hold_time(header, times, 0.5, NOW) == seconds

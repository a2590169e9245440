"""Values as people read them in a terminal. What comes from the web is hostile there."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from io import TextIOWrapper
from typing import Any

from rich.console import Console
from rich.table import Table

from incrawl.core.values import format_span, parse_span
from incrawl.errors import ConfigError

PIPE_WIDTH = 250
"""Columns when the output is no terminal: URLs should stay in one line for grep."""


def clean(text: str) -> str:
    """Without control characters, escape sequences and signs that turn the direction of writing."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def tolerate_any_terminal() -> None:
    """A sign that the terminal's encoding does not have becomes a question mark, not an error."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def make_console() -> Console:
    """Prints text as it is: no markup, no emoji codes, which a page could carry."""
    tolerate_any_terminal()
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(markup=False, emoji=False, highlight=False, width=width)


def make_table(*columns: str, title: str | None = None) -> Table:
    """A table whose columns named with a leading `#` hold numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        right = column.startswith("#")
        table.add_column(column.lstrip("#"), justify="right" if right else "left", overflow="fold")
    return table


def facts_table(facts: Mapping[str, Any]) -> Table:
    """Two columns: names and values."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), clean(str(value)))
    return table


def percent(share: float) -> str:
    """A share as people read it; what is more than nothing is not told as nothing.

    >>> percent(0.2), percent(0.002)
    ('20%', 'under 1%')
    """
    return "under 1%" if 0 < share < 0.005 else f"{share:.0%}"


def moment(seconds: float | None) -> str:
    """A time in UTC, or a dash for none."""
    if seconds is None:
        return "-"
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"


def ahead(seconds: float | None, now: float) -> str:
    """How far off a time is: `in 2h`, `3d ago`."""
    if seconds is None:
        return "never"
    if abs(seconds - now) < 1:
        return "now"
    return f"in {format_span(seconds - now)}" if seconds > now else f"{format_span(now - seconds)} ago"


def read_moment(option: str, text: str) -> float:
    """A time from what people write: a span back from now (`2h`), or a date and time in UTC."""
    try:
        return time.time() - parse_span(text)
    except ValueError:
        pass
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{option} cannot be {text!r}: write a span such as 2h or 7d, or a date.") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()

"""`scrapy changes`: what changed, newest first."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice, takewhile
from math import inf

from incrawl.cli.command import OperatorCommand
from incrawl.cli.targets import read_site
from incrawl.cli.text import clean, make_console, make_table, moment, read_moment
from incrawl.core.records import Outcome
from incrawl.core.urls import host_key
from incrawl.errors import ConfigError
from incrawl.repository import Change

KINDS = ("structural", "content", "presentation", "behavioural")
SIZES = ("none", "minor", "major")


class Command(OperatorCommand):
    def short_desc(self) -> str:
        return "Show which pages changed, newest first, and how"

    def long_desc(self) -> str:
        return (
            "Shows which pages changed, newest first. It reads the repository alone, so it works "
            "while no server runs. With --json, one object per line."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--kind", metavar="KIND", help=f"only changes of this kind: {', '.join(KINDS)}")
        parser.add_argument("--size", metavar="SIZE", help=f"only changes of this size: {', '.join(SIZES)}")
        parser.add_argument("--site", metavar="SITE", help="only pages of this host")
        parser.add_argument("--since", metavar="TIME", help="only since then: 2h, 7d, 2026-11-18")
        parser.add_argument("--until", metavar="TIME", help="only until then, written in the same way")
        parser.add_argument("--limit", type=int, default=100, help="changes to show (default: 100; 0: all)")
        parser.add_argument(
            "--new", action="store_true", help="also pages that were found for the first time"
        )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        changes = islice(selected(self.stored(opts.spider).changes(), opts), opts.limit or None)
        if opts.json:
            for change in changes:
                print(json.dumps(asdict(change)))
        else:
            show(changes)


def selected(changes: Iterator[Change], opts: argparse.Namespace) -> Iterator[Change]:
    """Those of `changes` that the options ask for. All options are checked before anything is read."""
    if opts.limit < 0:
        raise ConfigError("--limit must not be below 0.")
    kind, size = one_of("--kind", opts.kind, KINDS), one_of("--size", opts.size, SIZES)
    site = read_site(opts.site) if opts.site else None
    since = read_moment("--since", opts.since) if opts.since else None
    until = read_moment("--until", opts.until) if opts.until else inf
    outcomes = {Outcome.CHANGED, Outcome.NEW} if opts.new else {Outcome.CHANGED}

    def wanted(change: Change) -> bool:
        return (
            change.outcome in outcomes
            and change.time < until
            and (kind is None or kind in change.kinds)
            and (size is None or size == change.size)
            and (site is None or site == site_of(change.url))
        )

    recent = changes if since is None else takewhile(lambda change: change.time >= since, changes)
    return filter(wanted, recent)


def one_of(option: str, value: str | None, allowed: tuple[str, ...]) -> str | None:
    if value is not None and value not in allowed:
        raise ConfigError(f"{option} cannot be {value!r}: choose one of {', '.join(allowed)}.")
    return value


def site_of(url: str) -> str | None:
    try:
        return host_key(url)
    except ValueError:
        return None


def show(changes: Iterator[Change]) -> None:
    table = make_table("time (UTC)", "what", "size", "kinds", "page")
    for change in changes:
        kinds = clean(", ".join(change.kinds))
        table.add_row(moment(change.time), change.outcome, clean(change.size), kinds, clean(change.url))
    make_console().print(table if table.row_count else "Nothing has changed.")

"""`scrapy interest LOGFILE…`: which pages readers ask for, from access logs or CSV."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from rich.console import Console
from rich.progress import Progress

from incrawl.cli.command import FrontierCommand, Report
from incrawl.cli.text import clean, make_console, make_table
from incrawl.collection.readers import write_interest
from incrawl.config import Config
from incrawl.core.ranking.interest import Readers, percentiles
from incrawl.core.ranking.logs import LogReader
from incrawl.core.values import format_span, parse_span
from incrawl.errors import ConfigError
from incrawl.frontier.frontier import Frontier

MANY = 100_000


class Command(FrontierCommand):
    arguments = (0, MANY)

    def __init__(self) -> None:
        super().__init__()
        self._users: dict[str, int] = {}

    def syntax(self) -> str:
        return "[options] LOGFILE..."

    def short_desc(self) -> str:
        return "Find out from access logs how much readers care for each page"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--site", default="", help="site of a log that names no host: https://example.com"
        )
        parser.add_argument("--window", default="30d", help="count users of this span before the newest line")
        parser.add_argument("--top", type=int, default=20, help="pages to show (default: 20)")
        parser.add_argument("--dry-run", action="store_true", help="show what was read, but write nothing")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise ConfigError("scrapy interest needs at least one log file.")
        window = read_window(opts.window)
        reader, readers = LogReader(site=opts.site), Readers()
        errors = Console(stderr=True)
        with Progress(console=errors, transient=True, disable=not errors.is_terminal) as progress:
            for path in args:
                read_file(Path(path), reader, readers, progress)
        self._users = readers.users(window)
        written = None if opts.dry_run else asyncio.run(self._with_frontier(args, opts))
        report = {**make_report(reader, self._users, window), "written": written}
        if opts.json:
            print(json.dumps(report))
        else:
            self.show({**report, "top": opts.top}, make_console())

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        written = await write_interest(frontier, self._users)
        return {"pages": written.pages, "asked_for": written.asked_for, **asdict(written.amended)}

    def show(self, report: Report, console: Console) -> None:
        title = f"Users of the last {format_span(report['window'])}"
        table = make_table("#users", "#interest", "page", title=title)
        for page in report["pages"][: report["top"]]:
            table.add_row(str(page["users"]), f"{page['interest']:.2f}", clean(page["url"]))
        lines = report["lines"]
        console.print(table)
        console.print(
            f"{len(report['pages'])} pages; lines: {lines['hits']} read, {lines['robots']} by robots, "
            f"{lines['other']} other requests, {lines['bad']} bad"
        )
        if report["written"] is not None:
            written = report["written"]
            busy = f", {written['busy']} being visited and left out" if written["busy"] else ""
            console.print(
                f"The collection has {written['pages']} pages, {written['asked_for']} of them with readers; "
                f"{written['done']} records have a new interest{busy}."
            )


def read_window(text: str) -> float:
    try:
        return parse_span(text)
    except ValueError as error:
        raise ConfigError(f"--window cannot be {text!r}: {error}.") from None


def read_file(path: Path, reader: LogReader, readers: Readers, progress: Progress) -> None:
    """Reads one log, gzip or plain, whatever its name; the bar follows the bytes on disk."""
    try:
        with progress.open(path, "rb", description=path.name) as raw:
            readers.add(reader.read(text_lines(raw)))
    except (OSError, EOFError) as error:
        raise ConfigError(f"Cannot read {path}: {error}.") from None


def text_lines(raw: BinaryIO) -> io.TextIOWrapper:
    buffered = io.BufferedReader(raw, 1 << 20)  # type: ignore[type-var]
    packed = buffered.peek(2)[:2] == b"\x1f\x8b"
    binary: Any = gzip.GzipFile(fileobj=buffered) if packed else buffered
    return io.TextIOWrapper(binary, encoding="utf-8", errors="replace")


def make_report(reader: LogReader, users: dict[str, int], window: float) -> dict[str, Any]:
    interest = percentiles(users)
    ordered = sorted(users, key=lambda url: (-users[url], url))
    return {
        "lines": {"hits": reader.hits, "robots": reader.robots, "other": reader.other, "bad": reader.bad},
        "window": window,
        "pages": [{"url": url, "users": users[url], "interest": round(interest[url], 4)} for url in ordered],
    }

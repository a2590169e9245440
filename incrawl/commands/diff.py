"""`scrapy diff`: what changed between two files, or between the last two versions of a page."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from incrawl.cli.command import NotKnown, OperatorCommand
from incrawl.cli.diff_html import side_by_side
from incrawl.cli.diff_terminal import show_diff
from incrawl.cli.targets import read_page
from incrawl.cli.text import make_console, moment
from incrawl.core.changes import NO_RULES, IgnoreRules, Volatility, analyse
from incrawl.core.changes.report import Report
from incrawl.core.urls import canonical, host_key
from incrawl.errors import ConfigError
from incrawl.repository import Change, Repository, Sidecar

NOWHERE = "http://page.invalid/"
"""Base of relative links in files, which do not say where they came from."""


@dataclass(frozen=True, slots=True)
class Version:
    """One side of the comparison."""

    name: str
    body: bytes
    url: str = NOWHERE
    encoding: str | None = None
    volatility: Volatility = Volatility()  # what was known of its volatile parts


class Command(OperatorCommand):
    arguments = (1, 2)

    def syntax(self) -> str:
        return "[options] OLD.html NEW.html | URL"

    def short_desc(self) -> str:
        return "Show what changed between two files, or in a page"

    def long_desc(self) -> str:
        return (
            "Compares two files, or the last two versions of a page in the repository (it needs no server), "
            "and shows what changed: kind, size, structure and each paragraph."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--html", metavar="FILE", help="also write a page with both versions side by side"
        )
        parser.add_argument(
            "--run", metavar="RUN", help="with a URL: what this run found (see scrapy changes)"
        )
        parser.add_argument("--ignore", metavar="CSS", action="append", default=[], help="leave elements out")
        parser.add_argument(
            "--ignore-text", metavar="REGEX", action="append", default=[], help="leave text out"
        )
        parser.add_argument("--ignored", action="store_true", help="also list what did not count")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        old, new = self._versions(args, opts)
        rules = self._rules(new, opts)
        sides = [analyse(side.body, url=side.url, encoding=side.encoding, rules=rules) for side in (old, new)]
        report = Report.of(sides[0], sides[1], rules, old.volatility)
        if opts.html:
            write(Path(opts.html), side_by_side(report, old.name, new.name))
        if opts.json:
            print(json.dumps(report.to_dict()))
        else:
            show_diff(report, make_console(), ignored=opts.ignored)

    def _versions(self, args: list[str], opts: argparse.Namespace) -> tuple[Version, Version]:
        if len(args) == 2:
            return read_file(args[0]), read_file(args[1])
        if "://" not in args[0]:
            raise ConfigError(f"{args[0]!r} is one file, and a comparison takes two (or the URL of a page).")
        return versions_of_page(self.stored(opts.spider), read_page(args[0]), opts.run)

    def _rules(self, version: Version, opts: argparse.Namespace) -> IgnoreRules:
        """What the settings say for the site of a page, and what was typed."""
        known = NO_RULES if version.url == NOWHERE else self.config().ignore.rules_for(host_key(version.url))
        selectors, patterns = (*known.selectors, *opts.ignore), (*known.patterns, *opts.ignore_text)
        try:
            return replace(known, selectors=selectors, patterns=patterns)
        except ValueError as error:
            raise ConfigError(f"What is to be ignored is wrong: {error}.") from None


def read_file(name: str) -> Version:
    try:
        return Version(name, Path(name).read_bytes())
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror or error}.") from None


def write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}.") from None


def versions_of_page(repository: Repository, url: str, run: str | None) -> tuple[Version, Version]:
    """The version that a run found (without one: the newest) and the version before it."""
    for change in changes_of(repository, url):
        if run is None or change.run == run:
            if change.previous is None:
                raise NotKnown(f"{url} has not changed since it was first seen, {moment(change.time)} UTC.")
            before = version(repository, change.previous_url or change.url, change.previous)
            return before, version(repository, change.url, change.run)
    raise NotKnown(f"The repository has no {'version' if run is None else f'change in run {run}'} of {url}.")


def changes_of(repository: Repository, url: str) -> Iterator[Change]:
    wanted = canonical(url)
    return (change for change in repository.changes() if canonical(change.url) == wanted)


def version(repository: Repository, url: str, run: str) -> Version:
    body, sidecar = repository.document(url, run), repository.sidecar(url, run)
    if body is None:
        raise NotKnown(f"The repository no longer has the version of {url} in run {run}.")
    encoding = (sidecar.encoding or None) if sidecar else None
    volatility = Volatility.unpack(repository.volatility(url, run))
    return Version(title_of(run, sidecar), body, url, encoding, volatility)


def title_of(run: str, sidecar: Sidecar | None) -> str:
    return run if sidecar is None else f"{moment(sidecar.time)} UTC"

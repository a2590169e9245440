"""`scrapy recrawl URL|SITE`: pages that are to be visited as soon as may be."""

from __future__ import annotations

import argparse
from collections import Counter

from rich.console import Console

from incrawl.cli.command import FrontierCommand, NotKnown, Report
from incrawl.cli.targets import quarantined_urls, read_target, urls_of_site
from incrawl.cli.text import clean
from incrawl.config import Config
from incrawl.errors import ConfigError
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier


class Command(FrontierCommand):
    arguments = (0, 1)

    def syntax(self) -> str:
        return "[options] URL|SITE, or --quarantined"

    def short_desc(self) -> str:
        return "Make a page, a site or all quarantined pages due now"

    def long_desc(self) -> str:
        return (
            "Makes a page (https://example.com/page), all pages of a site (example.com) or all quarantined "
            "pages due now, gone ones included. They are visited by the crawl that runs or starts next."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--quarantined", action="store_true", help="all quarantined pages")

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        if opts.quarantined == bool(args):
            raise ConfigError("Name a URL or a site, or say --quarantined.")
        name, urls = await named(frontier, args)
        outcomes = Counter([await operations.reschedule(frontier, url, 0.0) for url in urls])
        if not outcomes["moved"] and not outcomes["leased"]:
            raise NotKnown(f"No page of {name} is known to {frontier.namespace}.")
        return {"target": name, "due_now": outcomes["moved"], "being_visited": outcomes["leased"]}

    def show(self, report: Report, console: Console) -> None:
        visited = f", {report['being_visited']} being visited" if report["being_visited"] else ""
        console.print(f"{clean(report['target'])}: {report['due_now']} due now{visited}.")


async def named(frontier: Frontier, args: list[str]) -> tuple[str, list[str]]:
    """What the operator means, in words and as URLs."""
    if not args:
        return "the quarantine", [url async for url in quarantined_urls(frontier)]
    target = read_target(args[0])
    return target.name, await urls_of_site(frontier, target.name) if target.is_site else [target.name]

"""`scrapy forget URL|SITE`: pages that are to be known no longer."""

from __future__ import annotations

import argparse

from rich.console import Console

from incrawl.cli.command import FrontierCommand, NotKnown, Report
from incrawl.cli.targets import read_target, urls_of_site
from incrawl.cli.text import clean
from incrawl.config import Config
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier


class Command(FrontierCommand):
    arguments = (1, 1)

    def syntax(self) -> str:
        return "[options] URL|SITE"

    def short_desc(self) -> str:
        return "Forget a page or all pages of a site"

    def long_desc(self) -> str:
        return (
            "Forgets a page (https://example.com/page) or all pages of a site (example.com): they are "
            "visited no more, unless a seed or a link names them again. Documents stay in the repository."
        )

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        target = read_target(args[0])
        urls = await urls_of_site(frontier, target.name) if target.is_site else [target.name]
        forgotten = [await operations.forget(frontier, url) for url in urls]
        if not any(forgotten):
            raise NotKnown(f"No page of {target.name} is known to {frontier.namespace}.")
        return {"target": target.name, "forgotten": sum(forgotten)}

    def show(self, report: Report, console: Console) -> None:
        pages = "1 page" if report["forgotten"] == 1 else f"{report['forgotten']} pages"
        console.print(f"{clean(report['target'])}: forgot {pages}; documents stay in the repository.")

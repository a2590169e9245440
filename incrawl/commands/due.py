"""`scrapy due`: what a crawl would visit now. It visits nothing and changes nothing."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from rich.console import Console

from incrawl.cli.command import FrontierCommand, Report
from incrawl.cli.text import ahead, clean, make_table, moment
from incrawl.config import Config
from incrawl.errors import ConfigError
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier


class Command(FrontierCommand):
    def short_desc(self) -> str:
        return "List the pages that are due now, without visiting them"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--limit", type=int, default=50, help="pages to list (default: 50)")

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        if opts.limit < 1:
            raise ConfigError("--limit must be at least 1.")
        hosts = [host async for host in operations.hosts(frontier) if host.due]
        urls = [found async for found in operations.due_urls(frontier, opts.limit)]
        return {
            "due": sum(host.due for host in hosts),
            "hosts": [asdict(host) for host in sorted(hosts, key=lambda host: -host.due)],
            "urls": [{"url": url, "due": due} for url, due in sorted(urls, key=lambda found: found[1])],
            "now": frontier.now(),
        }

    def show(self, report: Report, console: Console) -> None:
        if not report["due"]:
            console.print("Nothing is due.")
            return
        now = report["now"]
        hosts = make_table("host", "#due", "may be visited", title=f"{report['due']} due")
        for host in report["hosts"]:
            free = host["next_allowed"]
            allowed = "now" if free is None or free <= now else ahead(free, now)
            hosts.add_row(clean(host["name"]), str(host["due"]), allowed)
        console.print(hosts)
        pages = make_table("due since (UTC)", "page")
        for page in report["urls"]:
            pages.add_row(moment(page["due"]), clean(page["url"]))
        console.print()
        console.print(pages)
        if report["due"] > len(report["urls"]):
            console.print(f"and {report['due'] - len(report['urls'])} more; --limit shows more of them")

"""`scrapy hold SITE`: a host that nobody visits for a while; `--release` ends that."""

from __future__ import annotations

import argparse

from rich.console import Console

from incrawl.cli.command import FrontierCommand, NotKnown, Report
from incrawl.cli.targets import read_site
from incrawl.cli.text import ahead, clean, make_table
from incrawl.config import Config
from incrawl.core.values import parse_span
from incrawl.errors import ConfigError
from incrawl.frontier import keys, operations
from incrawl.frontier.frontier import Frontier

UNTIL_RELEASED = 10 * 365 * 86400.0
REASON = "held by an operator"


class Command(FrontierCommand):
    arguments = (0, 1)

    def syntax(self) -> str:
        return "[options] [SITE]"

    def short_desc(self) -> str:
        return "Hold a site, release it, or list what is held"

    def long_desc(self) -> str:
        return (
            "Nobody visits a site (example.com, localhost:8000) until --release, or for the span of --for. "
            "A hold counts for all spiders on the server. Without a site, lists what is held."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--for", dest="span", metavar="SPAN", help="for so long: 30m, 2h, 7d")
        parser.add_argument("--release", action="store_true", help="let it be visited again")

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        if opts.span and opts.release:
            raise ConfigError("--for and --release exclude each other.")
        if not args:
            if opts.span or opts.release:
                raise ConfigError("Name the site, as example.com.")
            return {"now": frontier.now(), "held": await held(frontier)}
        site = read_site(args[0])
        if opts.release:
            return await release(frontier, site)
        span = read_span(opts.span)
        await frontier.block_host(site, span, REASON)
        return {"site": site, "held_until": frontier.now() + span, "until_released": opts.span is None}

    def show(self, report: Report, console: Console) -> None:
        if "held" in report:
            show_held(report, console)
        elif "released" in report:
            console.print(f"{clean(report['site'])} may be visited again.")
        elif report["until_released"]:
            site = clean(report["site"])
            console.print(f"{site} is held until you type: scrapy hold --release {site}")
        else:
            console.print(f"{clean(report['site'])} is held.")


def read_span(text: str | None) -> float:
    if text is None:
        return UNTIL_RELEASED
    try:
        seconds = parse_span(text)
    except ValueError as error:
        raise ConfigError(f"--for cannot be {text!r}: {error}.") from None
    if not 0 < seconds <= UNTIL_RELEASED:
        raise ConfigError(f"--for cannot be {text!r}: choose between a second and ten years.")
    return seconds


async def release(frontier: Frontier, site: str) -> Report:
    place = frontier.place_host(site)
    if not await frontier.client.hget(keys.host(place.partition, place.id), b"reason"):
        raise NotKnown(f"{site} is not held.")
    await frontier.block_host(site, 0, "")
    return {"site": site, "released": True}


async def held(frontier: Frontier) -> list[dict[str, object]]:
    now = frontier.now()
    return [
        {"site": host.name, "until": host.next_allowed, "reason": host.reason, "due": host.due}
        async for host in operations.hosts(frontier)
        if host.reason and host.next_allowed is not None and host.next_allowed > now
    ]


def show_held(report: Report, console: Console) -> None:
    table = make_table("site", "ends", "why", "#due")
    for host in report["held"]:
        far = host["until"] - report["now"] > UNTIL_RELEASED / 2
        until = "when released" if far else ahead(host["until"], report["now"])
        table.add_row(clean(host["site"]), until, clean(host["reason"]), str(host["due"]))
    console.print(table if table.row_count else "No site is held.")

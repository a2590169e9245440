"""`scrapy status`: how much is known, due and under way, and what stands still."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from rich.console import Console

from incrawl.cli.command import FrontierCommand, Report
from incrawl.cli.targets import quarantined_urls
from incrawl.cli.text import ahead, clean, facts_table, make_table, moment
from incrawl.config import Config, Settings
from incrawl.core.values import format_span
from incrawl.frontier import operations, shared
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.operations import HostStatus
from incrawl.frontier.outside import OutsideServer
from incrawl.frontier.trapped import traps

BUSIEST = 10
DEADLY = 10  # quarantined pages that are named


class Command(FrontierCommand):
    def short_desc(self) -> str:
        return "Show how many pages are known, due and being visited"

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        counts = await operations.counts(frontier)
        hosts = [host async for host in operations.hosts(frontier)]
        now = frontier.now()
        busiest = sorted((host for host in hosts if host.due), key=lambda host: -host.due)
        return {
            "namespace": frontier.namespace,
            **asdict(counts),
            "hosts": len(hosts),
            "held": [asdict(host) for host in hosts if is_held(host, now)],
            "busiest": [asdict(host) for host in busiest[:BUSIEST]],
            "quarantined_pages": [url async for url in first(quarantined_urls(frontier), DEADLY)],
            "traps": [asdict(trap) for trap in await traps(frontier)],
            "policy": config.refresh_policy,
            "budget": await budget_facts(frontier, config),
            "server": server_name(self.project_settings, config),
            "repository": str(config.repository_dir),
            "now": now,
        }

    def show(self, report: Report, console: Console) -> None:
        now = report["now"]
        names = ("namespace", "known", "due", "leased", "suspects", "quarantined", "hosts")
        facts = {name: report[name] for name in names}
        facts["next_due"] = when(report["next_due"], now)
        facts |= {name: report[name] for name in ("policy", "server", "repository")}
        if report["budget"] is not None:
            budget = report["budget"]
            facts["budget"] = (
                f"{budget['left']} of {budget['requests']} left ({format_span(budget['within'])})"
            )
        console.print(facts_table(facts))
        if report["busiest"]:
            console.print()
            console.print(hosts_table("Most due", report["busiest"], now))
        if report["held"]:
            console.print()
            console.print(hosts_table("Held", report["held"], now))
        if report["traps"]:
            console.print()
            console.print(traps_table(report["traps"]))
        if report["quarantined"]:
            console.print()
            console.print(quarantine_table(report["quarantined_pages"], report["quarantined"]))
            console.print("scrapy recrawl --quarantined gives them another try; with a URL, that page alone.")


async def first(urls: AsyncIterator[str], count: int) -> AsyncIterator[str]:
    async for url in urls:
        yield url
        count -= 1
        if count <= 0:
            return


async def budget_facts(frontier: Frontier, config: Config) -> dict[str, Any] | None:
    if config.budget is None:
        return None
    answer = await shared.spend(frontier, config.budget, 0)
    return {"requests": config.budget.count, "within": config.budget.span, "left": answer.left}


def when(seconds: float | None, now: float) -> str:
    return "never" if seconds is None else f"{moment(seconds)} ({ahead(seconds, now)})"


def is_held(host: HostStatus, now: float) -> bool:
    return bool(host.reason) and host.next_allowed is not None and host.next_allowed > now


def hosts_table(title: str, hosts: list[dict[str, Any]], now: float) -> Any:
    table = make_table("host", "#due", "#queued", "may be visited", "why not", title=title)
    for host in hosts:
        free = host["next_allowed"]
        allowed = "now" if free is None or free <= now else ahead(free, now)
        name, reason = clean(host["name"]), clean(host["reason"])
        table.add_row(name, str(host["due"]), str(host["queued"]), allowed, reason)
    return table


def quarantine_table(urls: list[str], count: int) -> Any:
    """Pages that workers have died of, each time while it was their only one."""
    table = make_table("page", title="Quarantined")
    for url in urls:
        table.add_row(clean(url))
    if count > len(urls):
        table.add_row(f"… and {count - len(urls)} more")
    return table


def traps_table(traps: list[dict[str, Any]]) -> Any:
    """URL patterns that are not followed any further, the latest first."""
    table = make_table("pattern", "example", "found", title="Traps")
    for trap in traps:
        table.add_row(clean(trap["pattern"]), clean(trap["example"]), moment(trap["found"]))
    return table


def server_name(settings: Settings, config: Config) -> str:
    outside = OutsideServer.from_settings(settings)
    return f"embedded in {config.state_dir}" if outside is None else outside.name.removeprefix("REDIS_URL ")

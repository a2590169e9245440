"""`scrapy rank`: how important each page is, and which are visited first and more often."""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console

from incrawl.cli.command import FrontierCommand, Report, repository_of
from incrawl.cli.text import clean, facts_table, make_table, moment
from incrawl.collection import passes
from incrawl.collection.job import RankingJob
from incrawl.collection.report import report
from incrawl.config import Config
from incrawl.core.refresh import policy_from
from incrawl.errors import ConfigError
from incrawl.frontier.frontier import Frontier

ORDERS = ("rank", "pvalue", "score")


class Command(FrontierCommand):
    def short_desc(self) -> str:
        return "Rank the pages: PageRank, Pvalue and lists, scores, the 20 % collection"

    def long_desc(self) -> str:
        return (
            "Ranks all known pages by the links of their current versions, and writes ranks and lists "
            "to their records, where crawls that run or start next find them."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--top", type=int, default=20, help="pages to show (default: 20)")
        parser.add_argument("--by", default="rank", help="order of the pages: rank, pvalue or score")
        parser.add_argument("--passes", type=int, default=10, help="passes to show (default: the last 10)")
        parser.add_argument("--dry-run", action="store_true", help="show the ranking, but write nothing")

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        if opts.by not in ORDERS:
            raise ConfigError(f"--by cannot be {opts.by!r}: choose rank, pvalue or score.")
        if opts.top < 0 or opts.passes < 0:
            raise ConfigError("--top and --passes must not be below 0.")
        repository = repository_of(config, frontier)
        size, policy = config.collection_size, policy_from(config)
        job = RankingJob(frontier, repository, policy, size=size, write=not opts.dry_run)
        ranked = await job.run(shown=opts.top, by=opts.by)
        log = passes.read_log(repository, frontier.namespace)
        latest = log[-opts.passes :] if opts.passes else []
        return report(ranked, latest, shown=opts.top, by=opts.by)

    def show(self, report: Report, console: Console) -> None:
        names = ("pages", "documents", "links", "lists", "amended", "busy")
        facts = {name: report[name] for name in names}
        facts["20 % collection"] = report["best"]
        if report["entry_score"] is not None:
            facts["least score in it"] = f"{report['entry_score']:.5f}"
        if report["entered"] is not None:
            facts["entered the collection"] = report["entered"]
            facts["left the collection"] = report["left"]
        console.print(facts_table(facts))
        if report["top"]:
            console.print()
            console.print(pages_table(report["top"], report["by"]))
        if report["passes"]:
            console.print()
            console.print(passes_table(report["passes"]))


def pages_table(pages: list[dict[str, Any]], by: str) -> Any:
    columns = ("#rank", "#forward", "#back", "#Pvalue", "#list", "#age (h)", "#score", "coll.", "#interest")
    table = make_table(*columns, "page", title=f"First by {by}")
    for page in pages:
        table.add_row(
            f"{page['rank']:.2f}",
            str(page["forward"]),
            str(page["back"]),
            str(page["pvalue"]),
            str(page["list"]),
            "-" if page["age"] is None else str(page["age"]),
            "-" if page["score"] is None else f"{page['score']:.5f}",
            page["collection"] or "-",
            "-" if page["interest"] is None else f"{page['interest']:.2f}",
            clean(page["url"]),
        )
    return table


def passes_table(log: list[dict[str, Any]]) -> Any:
    table = make_table("pass", "began (UTC)", "#pages", "#20 %", "#least score", "first page", title="Passes")
    for each in log:
        table.add_row(
            str(each["number"]),
            moment(each["time"]),
            str(each["pages"]),
            str(each["best"]),
            f"{each['entry_score']:.5f}",
            clean(each["first"] or "-"),
        )
    return table

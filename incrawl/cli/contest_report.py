"""The outcome of a contest of policies, as JSON and as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from incrawl.cli.command import Report
from incrawl.cli.text import make_table
from incrawl.core.simulation.contest import Contest
from incrawl.core.simulation.run import Result
from incrawl.core.values import format_span


@dataclass(frozen=True, slots=True)
class Run:
    """All policies at one budget."""

    contest: Contest
    results: dict[str, Result]


def make_report(runs: list[Run], trace: str | None, weights: str) -> dict[str, Any]:
    """What `--json` prints. A single run stands at the top as well."""
    told = [run_report(run.contest, run.results) for run in runs]
    report = {
        "pages": len(runs[0].contest.task.pages),
        "trace": trace,
        "weights": weights,
        "warmup": runs[0].contest.warmup,
        "runs": told,
    }
    return {**report, **told[0]} if len(told) == 1 else report


def run_report(contest: Contest, results: dict[str, Result]) -> dict[str, Any]:
    return {
        "budget": contest.per_day,
        "optimum": contest.optimum,
        "policies": {
            name: {
                "freshness": result.freshness,
                "ratio": result.freshness / contest.optimum,
                "age": result.age,
                "requests": result.requests,
                "hit_rate": result.hit_rate,
                "freshness_from_start": result.freshness_from_start,
            }
            for name, result in results.items()
        },
    }


def show(report: Report, console: Console) -> None:
    for run in report["runs"]:
        console.print(run_table(run, report["pages"]))
        console.print()
    if report["warmup"]:
        console.print(
            f"Measured after the first {report['warmup']:.0%} of each run, in which policies learn; the "
            "last column and the requests are of all of it."
        )


def run_table(run: Report, pages: int) -> Table:
    per_page = f"{run['budget']:.3g} visits per page and day"
    title = f"{pages:,} pages, {per_page}, {run['budget'] * pages:,.0f} a day in all"
    columns = ("policy", "#fresh", "#of optimum", "#age", "#requests", "#found a change", "#fresh from start")
    table = make_table(*columns, title=title)
    table.add_row("(every rate known)", f"{run['optimum']:.1%}", "100.0%")
    for name, result in sorted(run["policies"].items(), key=lambda each: -float(each[1]["freshness"])):
        table.add_row(
            name,
            f"{result['freshness']:.1%}",
            f"{result['ratio']:.1%}",
            format_span(result["age"]),
            f"{result['requests']:,}",
            f"{result['hit_rate']:.1%}",
            f"{result['freshness_from_start']:.1%}",
        )
    return table

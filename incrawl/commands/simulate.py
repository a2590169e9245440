"""`scrapy simulate`: refresh policies against each other, before any of them is let loose on the web."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TaskID

from incrawl.cli.command import OperatorCommand
from incrawl.cli.contest_plot import check_plot_path, write_plot
from incrawl.cli.contest_report import Run, make_report, show
from incrawl.cli.text import make_console
from incrawl.core.simulation.contenders import CONTENDERS, contender
from incrawl.core.simulation.contest import Contest, Setting, mean_rate, read_budgets
from incrawl.core.simulation.traces import Trace, read_trace
from incrawl.errors import ConfigError

BUDGETS = {True: "0.25x,1x,4x", False: "0.25"}  # where none is stated, with and without a trace


class Command(OperatorCommand):
    def short_desc(self) -> str:
        return "Try refresh policies out on simulated pages or on a trace of real changes"

    def long_desc(self) -> str:
        return (
            "Runs refresh policies under a virtual clock, with the code that crawls use, on pages whose "
            "changes are known, and compares how fresh each keeps them with the best that could be done if "
            "every page's rate of change were known. Nothing is fetched, and no server is needed."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--policies", default=",".join(CONTENDERS), help=f"some of {', '.join(CONTENDERS)} (default: all)"
        )
        parser.add_argument(
            "--budget", help="visits per page and day, 0.25 (the default) or 0.05,0.25,1; or multiples of "
            "the pages' mean rate of change, 4x (the default with a trace: 0.25x,1x,4x)"
        )  # fmt: skip
        parser.add_argument("--pages", help="how many pages (default: 2000; with a trace: all of it)")
        parser.add_argument("--visits", default="60", help="visits to a page in the whole run (default: 60)")
        parser.add_argument(
            "--weights", default="uniform", help="importance of the pages: uniform (the default) or zipf"
        )
        parser.add_argument("--trace", metavar="FILE", help="real changes: CSV, also gzip, of page_id,t")
        parser.add_argument(
            "--warmup", default="0.5", help="share of the run that is not measured (default: 0.5)"
        )
        parser.add_argument("--seed", default="1", help="another number draws other pages (default: 1)")
        parser.add_argument("--plot", metavar="FILE", help="draw freshness over budget: FILE.svg or FILE.png")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        names = [name.strip() for name in opts.policies.split(",") if name.strip()]
        if not names:
            raise ConfigError("--policies is empty: name at least one policy.")
        plot = None if opts.plot is None else check_plot_path(Path(opts.plot))
        errors = Console(stderr=True)
        with Progress(console=errors, transient=True, disable=not errors.is_terminal) as progress:
            runs = self._runs(names, contests(opts), progress)
        report = make_report(runs, opts.trace, opts.weights)
        if plot is not None:
            write_plot(report, plot)
        if opts.json:
            print(json.dumps(report))
        else:
            show(report, make_console())

    def _runs(self, names: list[str], contests: list[Contest], progress: Progress) -> list[Run]:
        config = self.config()
        for name in names:  # a mistake is told before the first minute of work
            contender(name, contests[0].task, config)
        runs = [Run(contest, {}) for contest in contests]
        for run in runs:
            for name in dict.fromkeys(names):
                bar = progress.add_task(f"{name}, {run.contest.per_day:.3g} a day", total=1.0)
                advance = partial(show_progress, progress, bar)
                run.results[name] = run.contest.run(name, config, advance)
                advance(1.0)
        return runs


def show_progress(progress: Progress, bar: TaskID, share: float) -> None:
    progress.update(bar, completed=share)


def contests(opts: argparse.Namespace) -> list[Contest]:
    setting = Setting(
        count=None if opts.pages is None else whole_number("--pages", opts.pages, 2),
        visits=number("--visits", opts.visits, 1, 10_000),
        weights=opts.weights,
        seed=whole_number("--seed", opts.seed, 0),
        warmup=number("--warmup", opts.warmup, 0, 0.99),
    )
    if setting.weights not in {"uniform", "zipf"}:
        raise ConfigError(f"--weights cannot be {setting.weights!r}: choose uniform or zipf.")
    budgets = list(read_budgets(opts.budget or BUDGETS[opts.trace is not None]))
    if opts.trace is not None:
        trace: Trace = read_trace(Path(opts.trace)).part(setting.count, setting.seed)
        return [setting.contest_on(trace, budget.per_day(trace.mean_rate())) for budget in budgets]
    rate = mean_rate(setting.contest(1.0).task.pages)
    return [setting.contest(budget.per_day(rate)) for budget in budgets]


def number(option: str, text: str, least: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise ConfigError(f"{option} cannot be {text!r}: write a number from {least:g} to {most:g}.")
    return value


def whole_number(option: str, text: str, least: int) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= least):
        raise ConfigError(f"{option} cannot be {text!r}: write a whole number of at least {least}.")
    return int(text)

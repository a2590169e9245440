"""Refresh policies: what they reach of the optimum, what a decision costs, how fast ranks and logs are read.

    python benchmarks/policies.py [--pages 1000] [--trace FILE …]

Shares of the optimum come out the same on every machine. Costs are CPU time: a decision as a share of an
lxml parse of a page of 20 KB, ranking and reading as seconds for a million, which depend on the machine.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path

import lxml.html
import numpy as np
from rich.console import Console
from rich.table import Table

from incrawl.config import Config
from incrawl.core.ranking.interest import Readers
from incrawl.core.ranking.logs import LogReader
from incrawl.core.ranking.pagerank import pagerank
from incrawl.core.records import Observation, Outcome, UrlRecord, Visit
from incrawl.core.refresh import policy_from
from incrawl.core.refresh.policy import Collection, LearnsFromAll
from incrawl.core.simulation.contest import Contest, Setting
from incrawl.core.simulation.pages import DAY
from incrawl.core.simulation.traces import read_trace

NAMES = ("budget", "maximum_likelihood", "uniform", "nutch", "self_adjusting")
MILLION = 1_000_000
CONFIG = Config.from_settings({"INCRAWL_BUDGET": "20000/day"})


def contests(pages: int, traces: list[Path]) -> dict[str, Contest]:
    found = {}
    for weights in ("uniform", "zipf"):
        setting = Setting(pages, visits=60, weights=weights, seed=1, warmup=0.5)
        found |= {f"{weights}, {per_day:g} a day": setting.contest(per_day) for per_day in (0.05, 0.25, 1)}
    for path in traces:
        trace, setting = read_trace(path), Setting(None, 60, "uniform", 1, warmup=0.5)
        for factor in (0.25, 1, 4):
            per_day = factor * trace.mean_rate() * DAY
            found[f"{path.name.partition('.')[0]}, {factor:g} ×"] = setting.contest_on(trace, per_day)
    return found


def freshness_table(contests: dict[str, Contest]) -> Table:
    table = Table("pages, budget", "optimum", *NAMES, title="Freshness ÷ that where every rate is known")
    for name, contest in contests.items():
        results = {policy: contest.run(policy, CONFIG) for policy in NAMES}
        shares = [
            f"{result.freshness / contest.optimum:.3f} ({result.freshness_from_start / contest.optimum:.3f})"
            for result in results.values()
        ]
        table.add_row(name, f"{contest.optimum:.3f}", *shares)
    table.caption = "of the second half of the run; in parentheses, of all of it, learning included"
    return table


def cpu(work: Callable[[], object], times: int) -> float:
    began = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - began) / times


def cost_table() -> Table:
    table = Table("what", "CPU", title="Costs")
    page = b"<html><body>" + b"<div class=a><p>Some words of <a href=/b>a page</a>.</p></div>" * 330
    parse = cpu(lambda: lxml.html.document_fromstring(page), 50)
    for name in ("self_adjusting", "budget"):
        decision = cpu(decide(name), 1000)
        table.add_row(f"a decision of {name}", f"{decision / parse:.3f} × a parse of {len(page) // 1000} KB")
    table.add_row("PageRank, a million links", f"{cpu(rank_a_million, 1):.2f} s")
    table.add_row("interest, a million log lines", f"{cpu(read_a_million, 1):.2f} s")
    return table


def decide(name: str) -> Callable[[], object]:
    """A visit to a page with a full history, in a collection that the policy has learnt from."""
    policy, chance = policy_from(CONFIG, name), random.Random(1)
    records = [
        UrlRecord(
            f"http://a/{number}",
            refresh_time=DAY,
            last_crawl=0.0,
            visits=21,
            history=tuple(Observation(DAY, chance.random() < 0.3) for _ in range(20)),
        )
        for number in range(300)
    ]
    collection = Collection(pages=len(records))
    if isinstance(policy, LearnsFromAll):
        learner = policy.learner(DAY)
        for record in records:
            learner.add(record)
        collection = learner.learnt(collection)
    return lambda: policy.next_refresh(records[0], Visit(DAY, Outcome.UNCHANGED), collection)


def rank_a_million() -> object:
    chance, pages = np.random.default_rng(1), 100_000
    sources = chance.integers(0, pages, MILLION)
    return pagerank(sources, (chance.pareto(1.2, MILLION) * 10).astype(np.int64) % pages, pages)


def read_a_million() -> object:
    line = '10.0.{}.{} - - [18/Nov/2026:10:00:00 +0000] "GET /page/{} HTTP/1.1" 200 512 "-" "Mozilla/5.0"'
    lines = (line.format(number % 250, number % 199, number % 5003) for number in range(MILLION))
    readers = Readers()
    readers.add(LogReader(site="http://a").read(lines))
    return readers.users()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--trace", type=Path, action="append", default=[])
    given = parser.parse_args()
    console = Console(width=140)
    console.print(cost_table())
    console.print(freshness_table(contests(given.pages, given.trace)))


if __name__ == "__main__":
    main()

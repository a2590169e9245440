"""Whole crawls of a loopback site, side by side: Scrapy's own scheduler, scrapy-redis, incrawl.

    python benchmarks/crawl.py [--pages 20000] [--hosts 50] [--rounds 3]

Each contender crawls the same site in a process of its own; rounds are interleaved, so that noise on
the machine hits all alike. CPU seconds per page are compared first, then pages per second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table
from site_of_pages import Site

from incrawl.frontier.embedded import ensure_server, stop_server

HERE = Path(__file__).parent
CONTENDERS = ("memory", "scrapy-redis", "incrawl-frontier", "incrawl")


def crawl(contender: str, urls: str, pages: int, server: str, state: Path) -> dict[str, float]:
    """One crawl in a process of its own; its CPU, wall time and pages."""
    command = [sys.executable, str(HERE / "crawl_once.py"), contender, urls, server, str(state)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{contender} failed:\n{done.stderr[-3000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if result["pages"] != pages:
        raise SystemExit(f"{contender} fetched {result['pages']} of {pages} pages:\n{done.stderr[-3000:]}")
    return result


def measure(pages: int, hosts: int, rounds: int, contenders: list[str]) -> dict[str, list[dict[str, float]]]:
    results: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
    command = [sys.executable, str(HERE / "site_of_pages.py"), str(pages), str(hosts)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as site:
        assert site.stdout is not None and site.stdin is not None
        served = Site(pages, hosts, int(site.stdout.readline()))
        urls = ",".join(served.url(number) for number in range(hosts))
        for number in range(rounds):
            for name in contenders:
                with tempfile.TemporaryDirectory(prefix="incrawl-bench") as folder:
                    state = Path(folder)
                    server = ensure_server(state / "server")
                    results[name].append(crawl(name, urls, pages, server, state))
                    stop_server(state / "server")
                print(number + 1, name, results[name][-1], file=sys.stderr)
        site.stdin.close()
    return results


def show(results: dict[str, list[dict[str, float]]]) -> None:
    table = Table(title="Whole crawl; Scrapy's own scheduler = 1, more is better")
    for heading in ("scheduler", "CPU ms/page", "pages per CPU s, ratio", "pages/s", "ratio"):
        table.add_column(heading, justify="left" if heading == "scheduler" else "right")
    base = next(iter(results.values()))
    cpu_base = median(run["cpu"] / run["pages"] for run in base)
    wall_base = median(run["pages"] / run["wall"] for run in base)
    for name, runs in results.items():
        cpu = median(run["cpu"] / run["pages"] for run in runs)
        rate = median(run["pages"] / run["wall"] for run in runs)
        table.add_row(
            name, f"{cpu * 1000:.2f}", f"{cpu_base / cpu:.2f}", f"{rate:.0f}", f"{rate / wall_base:.2f}"
        )
    Console().print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(CONTENDERS), help="contenders, the first one is the base")
    options = parser.parse_args()
    os.environ.setdefault("PYTHONHASHSEED", "0")
    show(measure(options.pages, options.hosts, options.rounds, options.only.split(",")))

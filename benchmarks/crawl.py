"""Whole crawls of a loopback site, side by side: Scrapy's own scheduler, scrapy-redis, incrawl.

    python benchmarks/crawl.py [--pages 20000] [--hosts 50] [--rounds 3] [--only memory,incrawl]

Each contender crawls the same site in a process of its own; rounds are interleaved, so that noise on
the machine hits all alike. CPU seconds per page are compared first, then pages per second. The site is
served by nginx where there is one (`apt install nginx-light`), else by a small server in Python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import nginx
import redis
from aims import tell
from cores import worth_of_two
from rich.console import Console
from rich.table import Table
from site_of_pages import Site, served

from incrawl.frontier.embedded import ensure_server, stop_server

HERE = Path(__file__).parent
AIMS = (  # pages per CPU second, compared with another's
    ("incrawl-frontier", "memory", 1.15),
    ("incrawl-frontier", "scrapy-redis", 2.0),
    ("incrawl", "memory", 0.85),
)
CONTENDERS = ("memory", "scrapy-redis", "incrawl-frontier", "incrawl", "incrawl × 2")


def crawl(contender: str, urls: str, pages: int, state: Path) -> Run:
    """One crawl, by as many processes as the contender asks for."""
    name, _, workers = contender.partition(" × ")
    server = ensure_server(state / "server")
    if contender == "scrapy-redis":
        # It waits for every write, and its users' servers do not wait for the disk each time.
        with redis.Redis.from_url(server) as client:
            client.config_set("appendfsync", "everysec")
    busy = busy_seconds()
    command = [sys.executable, str(HERE / "crawl_once.py"), name, urls, server, str(state)]
    started = time.perf_counter()
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(int(workers or 1))
    ]
    ended = [process.communicate() for process in processes]
    busy = (busy_seconds() - busy) / (time.perf_counter() - started)
    with redis.Redis.from_url(server) as client:
        used = client.info("cpu")
    stop_server(state / "server")
    if any(process.returncode for process in processes):
        raise SystemExit(f"{contender} failed:\n{ended[0][1][-3000:]}")
    results = [json.loads(output.splitlines()[-1]) for output, _ in ended]
    fetched = sum(result["pages"] for result in results)
    if fetched != pages:
        raise SystemExit(f"{contender} fetched {fetched} of {pages} pages:\n{ended[0][1][-3000:]}")
    wall = max(result["ended"] for result in results) - min(result["started"] for result in results)
    assert wall < time.perf_counter() - started
    cpu = sum(result["cpu"] for result in results)
    return Run(cpu / pages, (used["used_cpu_user"] + used["used_cpu_sys"]) / pages, pages / wall, busy)


def busy_seconds() -> float:
    """CPU seconds that all cores of this machine have spent on anything since it started (Linux; else 0)."""
    try:
        user, nice, system, *_ = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        return 0.0
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Run:
    cpu: float  # seconds per page
    server: float  # CPU seconds of the Redis server per page
    rate: float  # pages per second
    busy: float  # cores in use on average, everything on this machine


@contextmanager
def serving(pages: int, hosts: int) -> Iterator[Site]:
    """The site, by the best server there is."""
    with tempfile.TemporaryDirectory(prefix="incrawl-site") as folder:
        found = nginx.find_nginx()
        print("served by", found or "Python: no nginx was found", file=sys.stderr)
        with nginx.serving(found, pages, hosts, Path(folder)) if found else served(pages, hosts) as site:
            yield site


def measure(pages: int, hosts: int, rounds: int, contenders: list[str]) -> dict[str, list[Run]]:
    results: dict[str, list[Run]] = {name: [] for name in contenders}
    with serving(pages, hosts) as site:
        urls = ",".join(site.url(number) for number in range(hosts))
        for number in range(rounds):
            for name in contenders:
                with tempfile.TemporaryDirectory(prefix="incrawl-bench") as state:
                    results[name].append(crawl(name, urls, pages, Path(state)))
                print(number + 1, name, results[name][-1], file=sys.stderr)
    return results


def show(results: dict[str, list[Run]]) -> None:
    base = next(iter(results))
    table = Table(title=f"Whole crawl; {base} = 1, more is better")
    for heading in (
        "scheduler",
        "CPU ms/page",
        "pages per CPU s, ratio",
        "pages/s",
        "ratio",
        "Redis ms/page",
        "busy cores",
    ):
        table.add_column(heading, justify="left" if heading == "scheduler" else "right")
    cpu = {name: median(run.cpu for run in runs) for name, runs in results.items()}
    rate = {name: median(run.rate for run in runs) for name, runs in results.items()}
    for name in results:
        table.add_row(
            name,
            f"{cpu[name] * 1000:.2f}",
            f"{cpu[base] / cpu[name]:.2f}",
            f"{rate[name]:.0f}",
            f"{rate[name] / rate[base]:.2f}",
            f"{median(run.server for run in results[name]) * 1000:.2f}",
            f"{median(run.busy for run in results[name]):.2f}",
        )
    Console(width=110).print(table)
    for one, base, least in AIMS:
        if one in results and base in results:
            tell(f"pages per CPU second, {one} : {base}", cpu[base] / cpu[one], least=least)
    for one in results:
        if f"{one} × 2" in results:
            tell(f"pages per second, two workers : one ({one})", rate[f"{one} × 2"] / rate[one], least=1.8)
            print(f"Two processes that only compute do {worth_of_two():.2f} × the work of one here.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(CONTENDERS), help="contenders, the first one is the base")
    options = parser.parse_args()
    os.environ.setdefault("PYTHONHASHSEED", "0")
    show(measure(options.pages, options.hosts, options.rounds, options.only.split(",")))

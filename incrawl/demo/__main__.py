"""`python -m incrawl.demo`: crawls the bundled demo site in a few short rounds and shows what came of it."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from rich.console import Console

from incrawl.cli.text import tolerate_any_terminal
from incrawl.demo.findings import Findings, collect
from incrawl.demo.report import show
from incrawl.demo.rounds import crawl_rounds, fresh_state
from incrawl.demo.site import DemoSite
from incrawl.errors import IncrawlError


def main() -> int:
    options = read_options()
    tolerate_any_terminal()
    console = Console()
    try:
        with DemoSite() as site, fresh_state(options.state_dir.absolute()) as state_dir:
            findings = crawl(site, state_dir, options.rounds, console)
            return 0 if show(findings, site, options.state_dir, console) else 1
    except IncrawlError as error:
        print(f"incrawl: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m incrawl.demo", description=__doc__)
    parser.add_argument("--rounds", type=int, default=8, help="times to crawl the site (default: 8)")
    parser.add_argument(
        "--state-dir",
        type=Path,
        default=Path(".demo"),
        help="where the crawl keeps its state (default: .demo)",
    )
    return parser.parse_args()


def crawl(site: DemoSite, state_dir: Path, rounds: int, console: Console) -> Findings:
    console.print(
        f"A demo site with {len(site.pages)} pages runs on this machine. Some change all the time, some "
        "now and then, most never; some go, some are slow. It is crawled again and again:"
    )
    starts: list[float] = []
    with console.status("starting") as status:
        for start in crawl_rounds(site, state_dir, rounds):
            starts.append(start)
            status.update(f"round {len(starts)} of {rounds} is over: {len(site.hits)} requests so far")
        return asyncio.run(collect(state_dir, starts))


if __name__ == "__main__":
    sys.exit(main())

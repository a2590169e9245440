"""Crawls the demo site in rounds: between two of them the site changes, and the crawler is not there.

Each round is what a cron job would do: one `scrapy crawl incremental` that takes what is due and ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from incrawl.demo.site import DemoSite
from incrawl.errors import IncrawlError
from incrawl.frontier.embedded import stop_server

MARK = "demo-seeds.txt"
SETTINGS = {
    "INCRAWL_MAX_REFRESH_TIME": "1h",
    # The demo site is our own, and it is on this machine.
    "INCRAWL_HOST_INTERVAL": "0.01s",
    "INCRAWL_ALLOW_NETWORKS": "loopback",
    "INCRAWL_CONTACT": "demo@localhost",
    # Embedded, whatever the environment says.
    "REDIS_URL": "",
}
SHORTEST_PERIOD, LONGEST_PERIOD = 3.0, 8.0
"""Seconds from the start of a round to that of the next, on a machine that is idle and on a very busy one."""


@contextmanager
def fresh_state(state_dir: Path) -> Iterator[Path]:
    """An empty state directory. One of an earlier demo is replaced; any other is left alone."""
    if state_dir.exists() and any(state_dir.iterdir()):
        if not (state_dir / MARK).exists():
            raise IncrawlError(f"{state_dir} is in use for something else: name another with --state-dir.")
        stop_server(state_dir)
        shutil.rmtree(state_dir)
    state_dir.mkdir(parents=True, exist_ok=True)
    (state_dir / MARK).touch()
    try:
        yield state_dir
    finally:
        stop_server(state_dir)


def crawl_rounds(site: DemoSite, state_dir: Path, rounds: int) -> Iterator[float]:
    """Crawls `rounds` times, and gives the time at which each round began, after it has ended."""
    (state_dir / MARK).write_text(site.seeds())
    period = period_of(state_dir)
    for number in range(rounds):
        began = time.time()
        site.round = number
        crawl_once(state_dir, ["-a", f"seeds={state_dir / MARK}"], refresh_times(period))
        yield began
        if number < rounds - 1:
            time.sleep(max(0.0, began + period - time.time()))


def period_of(state_dir: Path) -> float:
    """The time between two rounds on this machine, as busy as it is: a run that finds nothing to do tells."""
    began = time.monotonic()
    crawl_once(state_dir, [], {})
    return min(max(SHORTEST_PERIOD, 1.8 * (time.monotonic() - began)), LONGEST_PERIOD)


def refresh_times(period: float) -> dict[str, str]:
    """Days become rounds, so that refresh times can be seen growing and shrinking.

    A new page is due again in the next round; one that was unchanged then is left out of the one after.
    """
    return {
        "INCRAWL_AVERAGE_REFRESH_TIME": f"{period * 2 / 3:.2f}s",
        "INCRAWL_MIN_REFRESH_TIME": f"{period / 30:.2f}s",
    }


def crawl_once(state_dir: Path, arguments: list[str], times: dict[str, str]) -> None:
    """One run in a process of its own; one that fails is told with the last line that it wrote."""
    places = {"INCRAWL_STATE_DIR": str(state_dir), "LOG_FILE": str(state_dir / "crawl.log")}
    settings = SETTINGS | times | places
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "incremental", *arguments]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "incrawl.settings"}
    run = subprocess.run([*command, *options], env=environment, capture_output=True, text=True)
    if run.returncode:
        told = (run.stderr or run.stdout).strip().splitlines()
        raise IncrawlError(f"The demo crawl failed: {told[-1] if told else f'see {state_dir}/crawl.log'}")

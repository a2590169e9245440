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
    # Days become seconds, so that refresh times can be seen growing and shrinking.
    "INCRAWL_AVERAGE_REFRESH_TIME": "2s",
    "INCRAWL_MIN_REFRESH_TIME": "0.1s",
    "INCRAWL_MAX_REFRESH_TIME": "1h",
    # The demo site is our own, and it is on this machine.
    "INCRAWL_HOST_INTERVAL": "0.01s",
    "INCRAWL_ALLOW_NETWORKS": "loopback",
    "INCRAWL_CONTACT": "demo@localhost",
    # Embedded, whatever the environment says.
    "REDIS_URL": "",
}
PERIOD = 3.0
"""Seconds from the start of a round to that of the next: enough for a new page to be due again."""


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
    for number in range(rounds):
        began = time.time()
        site.round = number
        crawl_once(state_dir)
        yield began
        if number < rounds - 1:
            time.sleep(max(0.0, began + PERIOD - time.time()))


def crawl_once(state_dir: Path) -> None:
    """One run in a process of its own; one that fails is told with the last line that it wrote."""
    settings = SETTINGS | {"INCRAWL_STATE_DIR": str(state_dir), "LOG_FILE": str(state_dir / "crawl.log")}
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "incremental", "-a", f"seeds={state_dir / MARK}"]
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "incrawl.settings"}
    run = subprocess.run([*command, *options], env=environment, capture_output=True, text=True)
    if run.returncode:
        told = (run.stderr or run.stdout).strip().splitlines()
        raise IncrawlError(f"The demo crawl failed: {told[-1] if told else f'see {state_dir}/crawl.log'}")

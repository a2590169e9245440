"""Nothing lost, nothing fetched twice: short drills in every run, the full ones under `make soak`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from drills import crawl_in, kill_at_hubs, kill_outside, kill_server, kill_workers, restart_time, show
from frontiers import running_server
from swarm import Forker


def test_killed_workers_lose_nothing(forker: Forker, state_dir: Path) -> None:
    show("killed workers", kill_workers(forker, state_dir, workers=3, pages=150, kills=4, lease=2))


@pytest.mark.soak
def test_a_hundred_killed_workers_lose_nothing(forker: Forker, state_dir: Path) -> None:
    figures = kill_workers(forker, state_dir, workers=8, pages=10_000, kills=100, lease=5)
    show("100 killed workers", figures)
    assert figures["recovery, longest s"] < 5 + 1 + 1.5  # a lease, a sweep, and a busy machine


def test_a_worker_killed_at_a_hub_loses_no_link(forker: Forker, state_dir: Path) -> None:
    show("kill at a hub", kill_at_hubs(forker, state_dir, rounds=1, links=2000, lease=3))


@pytest.mark.soak
def test_fifty_workers_killed_at_hubs_lose_no_link(forker: Forker, state_dir: Path) -> None:
    figures = kill_at_hubs(forker, state_dir, rounds=50, links=2000, lease=4)
    show("50 kills at hubs", figures)
    assert figures["killed amid the links"] > 0


def test_a_killed_server_loses_nothing(forker: Forker, state_dir: Path) -> None:
    kill = partial(restart_time, state_dir)
    figures = kill_server(forker, crawl_in(state_dir, 10), kill, workers=2, pages=150, kills=2)
    show("killed server", figures)


@pytest.mark.soak
def test_a_server_killed_twenty_times_loses_nothing(forker: Forker, state_dir: Path) -> None:
    kill = partial(restart_time, state_dir)
    figures = kill_server(forker, crawl_in(state_dir, 30), kill, workers=4, pages=5000, kills=20)
    show("server killed 20 times", figures)
    assert figures["return to first script call, longest s"] < 5


@pytest.mark.soak
def test_an_outside_server_killed_twenty_times_loses_nothing(forker: Forker, state_dir: Path) -> None:
    with running_server("--appendonly", "yes", "--appendfsync", "everysec") as server:
        crawl = crawl_in(state_dir, 30, REDIS_URL=server.url)
        kill = partial(kill_outside, server, 2.0)
        figures = kill_server(forker, crawl, kill, workers=4, pages=2000, kills=20)
    show("outside server killed 20 times", figures)
    assert figures["return to first script call, longest s"] < 5

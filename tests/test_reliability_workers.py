"""Workers that are cut off, that have wrong clocks, or that a page kills: short and long drills."""

from __future__ import annotations

from pathlib import Path

import pytest
from drills import show
from drills_of_workers import cut_off, poison, wrong_clocks
from swarm import Forker


def test_a_worker_cut_off_for_longer_than_its_lease_is_refused(forker: Forker, state_dir: Path) -> None:
    show("cut off", cut_off(forker, state_dir, pages=3, held=1, lease=1))


@pytest.mark.soak
def test_forty_late_results_of_a_worker_that_was_cut_off_are_refused(forker: Forker, state_dir: Path) -> None:
    show("cut off amid 40 pages", cut_off(forker, state_dir, pages=60, held=40, lease=2))


def test_wrong_clocks_end_no_lease_and_shrink_no_gap(forker: Forker, state_dir: Path) -> None:
    show("wrong clocks", wrong_clocks(forker, state_dir, pages=6, workers=3, slow=1))


@pytest.mark.soak
def test_many_wrong_clocks_end_no_lease_and_shrink_no_gap(forker: Forker, state_dir: Path) -> None:
    show("six wrong clocks", wrong_clocks(forker, state_dir, pages=100, workers=6, slow=8))


def test_a_page_that_kills_its_workers_is_quarantined_and_can_be_released(
    forker: Forker, state_dir: Path
) -> None:
    show("a deadly page", poison(forker, state_dir, pages=12, deadly=1))


@pytest.mark.soak
def test_pages_that_kill_their_workers_are_quarantined_and_can_be_released(
    forker: Forker, state_dir: Path
) -> None:
    show("five deadly pages", poison(forker, state_dir, pages=200, deadly=5))

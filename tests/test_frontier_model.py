"""Any steps in any order: every URL stays in exactly one state, and none is forgotten."""

from __future__ import annotations

import pytest
from frontier_model import FrontierMachine
from frontiers import Bench
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

MODEST = settings(
    max_examples=15, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


def check(bench: Bench, extent: settings) -> None:
    class Machine(FrontierMachine):
        pass

    Machine.bench = bench
    run_state_machine_as_test(Machine, settings=extent)


def test_every_url_is_in_exactly_one_state(server_bench: Bench) -> None:
    check(server_bench, MODEST)


def test_every_url_is_in_exactly_one_state_on_a_cluster(cluster_bench: Bench) -> None:
    check(cluster_bench, settings(MODEST, max_examples=6))


@pytest.mark.soak
def test_every_url_is_in_exactly_one_state_for_long(server_bench: Bench) -> None:
    # Other steps each time, unlike the short version.
    extent = settings(MODEST, max_examples=1500, stateful_step_count=60, derandomize=False)
    check(server_bench, extent)
    print(f"\n{extent.max_examples} runs of up to {extent.stateful_step_count} steps: no URL in two states")

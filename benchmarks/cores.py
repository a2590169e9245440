"""What a second core is worth on this machine: the bound of all that two processes can gain.

    python benchmarks/cores.py

Two "cores" of a rented machine may be two threads of one: then two busy processes do not do twice as much.
"""

from __future__ import annotations

import multiprocessing
import time
from statistics import median

WORK = 3_000_000
ROUNDS = 5


def compute(_: int) -> None:
    total = 0
    for number in range(WORK):
        total += number * number


def seconds(processes: int) -> float:
    """For as many shares of work as there are processes, at the same time."""
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.map(time.sleep, [0.05] * processes, chunksize=1)  # all of them have started
        started = time.perf_counter()
        pool.map(compute, range(processes), chunksize=1)
        return time.perf_counter() - started


def worth_of_two() -> float:
    """How much more two busy processes do than one, by turns of one and two."""
    return median(2 * seconds(1) / seconds(2) for _ in range(ROUNDS))


if __name__ == "__main__":
    print(f"Two processes that do nothing but compute do {worth_of_two():.2f} × the work of one here.")

"""Traces of real changes: CSV or gzip CSV, `page_id,t`: the page changed at Unix second t."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from incrawl.core.simulation.pages import Pages, TracedChanges, Vector, weights_of
from incrawl.errors import ConfigError

HEADER = ("page_id", "t")


@dataclass(frozen=True, slots=True)
class Trace:
    """The times of each page's changes, in order, in seconds from the first of all."""

    times: list[list[float]]
    span: float

    def part(self, count: int | None, seed: int) -> Trace:
        """`count` pages drawn from all."""
        if count is None or count >= len(self.times):
            return self
        chosen = np.random.default_rng([seed, 3]).permutation(len(self.times))[:count]
        return Trace([self.times[page] for page in sorted(chosen)], self.span)

    def pages(self, weights: str, seed: int) -> Pages:
        """The pages as a crawler comes to know them: each at its first change, as it may not have been there
        before."""
        known = np.array([changes[0] for changes in self.times])
        return Pages(self._rates(known), weights_of(len(known), weights, seed), known, self.span)

    def _rates(self, known: Vector) -> Vector:
        """Changes per second of each page, over the time that it is known. A page that was never seen to
        change again has half a change, for want of better."""
        counts = np.array([max(len(changes) - 1, 0.5) for changes in self.times])
        return np.asarray(counts / np.maximum(self.span - known, 1.0))

    def mean_rate(self) -> float:
        """Changes per page and second, over the time that pages are known."""
        changes = sum(len(times) - 1 for times in self.times)
        lives = sum(self.span - times[0] for times in self.times)
        return changes / lives if lives > 0 else 0.0

    def changes(self) -> TracedChanges:
        return TracedChanges(self.times)


def read_trace(path: Path) -> Trace:
    """Raises ConfigError that names the line where there is no page id and time."""
    times: dict[str, list[float]] = {}
    try:
        for number, line in enumerate(lines_of(path), 1):
            fields = tuple(field.strip() for field in line.split(","))
            if not line.strip() or (number == 1 and fields == HEADER):
                continue
            times.setdefault(fields[0], []).append(time_of(fields, path, number))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"The trace {path} cannot be read: {error}.") from None
    start, end = bounds(times, path)
    return Trace([sorted(time - start for time in each) for each in times.values()], end - start)


def lines_of(path: Path) -> Iterator[str]:
    with path.open("rb") as raw:
        is_packed = raw.read(2) == b"\x1f\x8b"
    with gzip.open(path, "rt", encoding="utf-8") if is_packed else path.open(encoding="utf-8") as lines:
        yield from lines


def time_of(fields: tuple[str, ...], path: Path, number: int) -> float:
    try:
        page, text = fields
        time = float(text)
    except ValueError:
        page, time = "", math.nan
    if not page or not math.isfinite(time):
        raise ConfigError(f"Line {number} of the trace {path} is not a page id and a Unix time: page_id,t.")
    return time


def bounds(times: dict[str, list[float]], path: Path) -> tuple[float, float]:
    """The first and the last change of all."""
    if not times:
        raise ConfigError(f"The trace {path} holds no changes.")
    start, end = min(map(min, times.values())), max(map(max, times.values()))
    if start == end:
        raise ConfigError(
            f"All changes of the trace {path} are at the same time: there is nothing to follow."
        )
    return start, end

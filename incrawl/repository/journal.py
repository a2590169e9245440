"""What changed, newest first: one journal per run, one line per version, appended when it is promoted."""

from __future__ import annotations

import heapq
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from incrawl.core.records import Outcome
from incrawl.repository.folders import folder, lines_backwards, open_existing, open_log
from incrawl.repository.paths import JOURNAL_ENDING
from incrawl.repository.sidecar import Sidecar

JOURNAL = "changes" + JOURNAL_ENDING
MAX_PARAGRAPHS = 20
_LOOK_AHEAD = 256


@dataclass(frozen=True, slots=True)
class Change:
    """A new version of a page, as `scrapy changes` tells it."""

    url: str
    time: float
    outcome: Outcome
    kinds: tuple[str, ...]
    size: str
    paragraphs: tuple[str, ...]  # the first MAX_PARAGRAPHS places
    run: str
    previous: str | None
    previous_url: str = ""  # where the page has moved: the address of the version before


def journal_line(sidecar: Sidecar, doc_id: str) -> bytes:
    line = {
        "doc_id": doc_id,
        "url": sidecar.url,
        "time": sidecar.time,
        "outcome": str(sidecar.outcome),
        "kinds": sidecar.kinds,
        "size": sidecar.size,
        "paragraphs": sidecar.paragraphs[:MAX_PARAGRAPHS],
        "previous": sidecar.previous,
    }
    if sidecar.previous_url:
        line["previous_url"] = sidecar.previous_url
    return json.dumps(line, separators=(",", ":")).encode()


def has_line(doc_id: str, journal: int) -> bool:
    """Whether the journal tells of this page already: a run has one version of a page at most."""
    mark = f'"doc_id":"{doc_id}"'.encode()
    return any(mark in line and line.endswith(b"}") for line in lines_backwards(journal))


def newest_first(root: Path, runs: Iterable[str]) -> Iterator[Change]:
    """The changes of all `runs` by falling time. Lines that a crash has cut off are left out."""
    merged = heapq.merge(*(_of_run(root, run) for run in runs), key=attrgetter("time"), reverse=True)
    return _smoothed(merged)


def _smoothed(changes: Iterator[Change]) -> Iterator[Change]:
    """Pages that were in flight together are promoted in any order: sorts them within a small window."""
    window: list[tuple[float, int, Change]] = []
    for count, change in enumerate(changes):
        heapq.heappush(window, (-change.time, count, change))
        if len(window) > _LOOK_AHEAD:
            yield heapq.heappop(window)[2]
    while window:
        yield heapq.heappop(window)[2]


def _of_run(root: Path, run: str) -> Iterator[Change]:
    try:
        with folder(root, [run]) as inside:
            journal = open_existing(JOURNAL, inside)
    except FileNotFoundError:
        return
    try:
        parsed = (_parse(line, run) for line in lines_backwards(journal))
        yield from (change for change in parsed if change is not None)
    finally:
        os.close(journal)


def _parse(line: bytes, run: str) -> Change | None:
    try:
        seen = json.loads(line)
        return Change(
            url=str(seen["url"]),
            time=float(seen["time"]),
            outcome=Outcome(seen["outcome"]),
            kinds=tuple(seen["kinds"]),
            size=str(seen["size"]),
            paragraphs=tuple(seen["paragraphs"]),
            run=run,
            previous=seen["previous"],
            previous_url=str(seen.get("previous_url", "")),
        )
    except (ValueError, TypeError, KeyError):
        return None


def open_journal(run_folder: int) -> int:
    return open_log(JOURNAL, run_folder)

"""What change detection costs, as ratios to an lxml parse of the same pages within one run.

    python benchmarks/changes.py [PAGE_OR_DIRECTORY ...] [--rounds 9] [--most 200]

Without pages it takes HTML that is found on this machine (documentation under /usr/share/doc) and, where
they are, the page pairs beside the project. CPU time is measured, the best of several rounds, so that noise
on the machine counts little. Both sides of every ratio are timed in turn, page by page.

A second table shows how the time grows when broken, deep or endless pages become four times as large: linear
time gives about 4.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from lxml import etree
from rich.console import Console
from rich.table import Table

from incrawl.core.changes import Signatures, analyse, body_hash, compare

FOUND_HERE = (
    Path("/usr/share/doc"),
    Path("/usr/lib/node_modules/npm/docs"),
    Path(__file__).parents[2] / "shared",
)
SMALLEST, LARGEST = 2_000, 2_000_000
CLASSES = ((0, 10_000), (10_000, 50_000), (50_000, 200_000), (200_000, LARGEST))
URL = "http://example.com/a/page"
NOTES = """equal: bytes are those of last time. signatures: all of them, on top of the parse.
unchanged, changed: verdict from stored signatures; explained: with the places named.
stored: bytes per page."""
MONSTERS = {
    "nested tags, 200,000": b"<div>",
    "nested tags with text": b"<div>x ",
    "wrongly nested": b"<b><p></b><i></p>",
    "many paragraphs": b"<p>some words 12:30</p>",
    "many links": b"<a href='/page?id=7&amp;sid=a1'>x</a>",
    "one long text": b"words and words ",
    "bare brackets": b"<",
    "open attributes": b"<a b='",
    "broken names": b'<p a"b=c>',
    "font sizes": b"<font size=7><small>x",
}
SMALL_MONSTER = 50_000  # pieces; the large ones have four times as many
WORD = b" the "  # is replaced by another one to get a changed page


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that one page takes, and bytes."""

    size: int
    parse: float
    equal: float  # bytes are those of last time
    analysis: float  # parse and all signatures
    unchanged: float  # verdict from stored signatures, nothing changed
    changed: float  # verdict from stored signatures, one paragraph changed
    explained: float  # the same, with the places named
    packing: float
    stored: int
    paragraphs: int


def best(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def cost_of(body: bytes, rounds: int) -> Cost:
    signatures = analyse(body, url=URL).signatures
    stored = signatures.pack()
    changed = analyse(body.replace(WORD, b" one ", 1), url=URL).signatures
    parser = etree.HTMLParser()
    return Cost(
        size=len(body),
        parse=best(lambda: etree.fromstring(body, parser), rounds),
        equal=best(lambda: body_hash(body) == signatures.body_hash, rounds),
        analysis=best(lambda: analyse(body, url=URL).signatures, rounds),
        unchanged=best(lambda: compare(Signatures.unpack(stored), signatures).changed, rounds),
        changed=best(lambda: compare(Signatures.unpack(stored), changed).size, rounds),
        explained=best(lambda: compare(Signatures.unpack(stored), changed).to_dict(), rounds),
        packing=best(signatures.pack, rounds),
        stored=len(stored),
        paragraphs=len(signatures),
    )


def pages(places: Iterable[Path], most: int) -> list[bytes]:
    """Pages of bearable size, chosen at random but the same in every run."""
    files = [
        path
        for place in places
        for path in ([place] if place.is_file() else place.rglob("*.htm*"))
        if path.is_file() and SMALLEST <= path.stat().st_size < LARGEST
    ]
    chosen = random.Random(1).sample(sorted(files), min(most, len(files)))
    return [path.read_bytes() for path in chosen]


def show(costs: list[Cost], console: Console) -> None:
    table = Table(title="Ratios to an lxml parse", title_justify="left", box=None)
    columns = ("kB", "pages", "parse", "equal", "signatures", "unchanged", "changed", "explained", "packing")
    for column in (*columns, "stored"):
        table.add_column(column, justify="right")
    for low, high in (*CLASSES, (0, LARGEST)):
        group = [cost for cost in costs if low <= cost.size < high]
        if group:
            table.add_row(f"{low // 1000}–{high // 1000}", str(len(group)), *row(group))
    console.print(table)
    console.print(NOTES)


def row(group: list[Cost]) -> list[str]:
    parse = sum(cost.parse for cost in group)

    def ratio(value: Callable[[Cost], float]) -> float:
        return sum(map(value, group)) / parse

    return [
        f"{parse / len(group) * 1000:.2f} ms",
        f"{ratio(lambda cost: cost.equal):.2%}",
        f"{ratio(lambda cost: cost.analysis - cost.parse):.2f} ×",
        f"{ratio(lambda cost: cost.unchanged):.3f} ×",
        f"{ratio(lambda cost: cost.changed):.3f} ×",
        f"{ratio(lambda cost: cost.explained):.3f} ×",
        f"{ratio(lambda cost: cost.packing):.3f} ×",
        f"{sum(cost.stored for cost in group) // len(group):,}",
    ]


def show_growth(console: Console, rounds: int) -> None:
    table = Table(title="Time for a page four times as large", title_justify="left", box=None)
    table.add_column("page")
    table.add_column("analysis", justify="right")
    table.add_column("comparison", justify="right")
    for name, piece in MONSTERS.items():
        small, large = (growth_costs(piece * size, rounds) for size in (SMALL_MONSTER, 4 * SMALL_MONSTER))
        table.add_row(name, *(f"{after / before:.1f} ×" for before, after in zip(small, large, strict=True)))
    console.print(table)


def growth_costs(body: bytes, rounds: int) -> tuple[float, float]:
    """Seconds for an analysis, and for a comparison with the same page turned around."""
    old, new = analyse(b"<p>first" + body, url=URL).signatures, analyse(body + b"<p>last", url=URL).signatures
    return best(lambda: analyse(body, url=URL), rounds), best(lambda: compare(old, new).to_dict(), rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--most", type=int, default=200)
    options = parser.parse_args()
    found = pages(options.places or [place for place in FOUND_HERE if place.exists()], options.most)
    if not found:
        raise SystemExit("No pages found: name files or directories of HTML.")
    console = Console(width=120)
    show([cost_of(body, options.rounds) for body in found], console)
    console.print()
    show_growth(console, rounds=2)


if __name__ == "__main__":
    main()

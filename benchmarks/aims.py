"""What a benchmark is to reach: says of each figure whether it has."""

from __future__ import annotations


def tell(what: str, value: float, *, least: float | None = None, most: float | None = None) -> None:
    """`what` is at `least`, or at `most`, the aim."""
    aim = least if least is not None else most
    assert aim is not None
    reached = value >= aim if least is not None else value <= aim
    word = "at least" if least is not None else "at most"
    print(f"{'reached' if reached else 'MISSED ':8} {what}: {value:,.2f}, aim {word} {aim:,g}")

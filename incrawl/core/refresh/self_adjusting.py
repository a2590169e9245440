"""The self-adjusting refresh time of paper 000 (eq. 1, 2): the default policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from incrawl.core.records import UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits, LimitSettings


def adjustment(probability: float, pl: float, pg: float) -> float:
    """Δt / t(n) of eq. 2: below zero shortens the refresh time, above zero stretches it.

    >>> adjustment(0.6, pl=0.3, pg=0.7)
    0.0
    >>> round(100 * adjustment(0.85, pl=0.3, pg=0.7), 2)
    -21.43
    """
    shorter = 1 - probability / pg if probability > pg else 0.0
    longer = 1 - probability / pl if probability < pl else 0.0
    return shorter + longer


def check_thresholds(pl: float, pg: float) -> None:
    """Raises ValueError unless 0 < pl < pg ≤ 1, which eq. 2 and eq. 4 take for granted."""
    if not 0 < pl < pg <= 1:
        raise ValueError(f"the thresholds must be 0 < pl < pg <= 1, not pl = {pl:g} and pg = {pg:g}")


class Settings(LimitSettings, Protocol):
    @property
    def pl(self) -> float: ...
    @property
    def pg(self) -> float: ...


@dataclass(frozen=True, slots=True)
class SelfAdjusting:
    """Pages found changed more often than `pg` are visited sooner, less often than `pl` later."""

    limits: Limits = Limits()
    pl: float = 0.3
    pg: float = 0.7

    def __post_init__(self) -> None:
        check_thresholds(self.pl, self.pg)

    @classmethod
    def from_config(cls, config: Settings) -> SelfAdjusting:
        return cls(Limits.from_config(config), config.pl, config.pg)

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        current = self.limits.current(record)
        return self.limits.clamp(current + self.change(record, visit) * current)

    def change(self, record: UrlRecord, visit: Visit) -> float:
        """Δt / t(n); zero where this visit compared nothing (the first one, failures, refusals)."""
        probability = record.change_probability()
        if probability is None or not visit.compared:
            return 0.0
        return adjustment(probability, *self.thresholds(record))

    def thresholds(self, record: UrlRecord) -> tuple[float, float]:
        """The record's own pl and pg where it has them, else those of the settings."""
        pl = self.pl if record.pl is None else record.pl
        pg = self.pg if record.pg is None else record.pg
        return pl, pg

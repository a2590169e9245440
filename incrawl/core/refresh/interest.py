"""Refresh times that follow the readers, too: paper 001 (eq. 3, 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from incrawl.core.records import UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.refresh.self_adjusting import SelfAdjusting, adjustment, check_thresholds
from incrawl.core.refresh.self_adjusting import Settings as ContentSettings


class Settings(ContentSettings, Protocol):
    @property
    def interest_pl(self) -> float: ...
    @property
    def interest_pg(self) -> float: ...
    @property
    def interest_gate(self) -> float: ...
    @property
    def content_weight(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Interest:
    """Eq. 3: one part of the adjustment follows the changes, the other the readers.

    `weight` is the part of the content (0.5 in the paper; 1 gives eq. 1–2 exactly), `gate` the
    interest below which a page is crawled "with normal frequency". Without any access log a
    record has no interest, and the whole weight goes to the content.
    """

    content: SelfAdjusting = SelfAdjusting()
    pl: float = 0.5
    pg: float = 0.8
    gate: float = 0.0
    weight: float = 0.5

    def __post_init__(self) -> None:
        check_thresholds(self.pl, self.pg)

    @classmethod
    def from_config(cls, config: Settings) -> Interest:
        content = SelfAdjusting.from_config(config)
        return cls(
            content, config.interest_pl, config.interest_pg, config.interest_gate, config.content_weight
        )

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        current = self.limits.current(record)
        return self.limits.clamp(current + self.change(record, visit) * current)

    def change(self, record: UrlRecord, visit: Visit) -> float:
        """(Δt1 + Δt2) / t(n); zero where this visit compared nothing."""
        if record.change_probability() is None or not visit.compared:
            return 0.0
        by_content = self.content.change(record, visit)
        if record.interest is None:
            return by_content
        return self.weight * by_content + (1 - self.weight) * self.change_by_interest(record.interest)

    def change_by_interest(self, interest: float) -> float:
        """Δt2 / t(n) of eq. 4, with `a` as a gate: inside the step functions it would make
        the result jump up and down as interest grows."""
        return 0.0 if interest < self.gate else adjustment(interest, self.pl, self.pg)

    @property
    def limits(self) -> Limits:
        return self.content.limits

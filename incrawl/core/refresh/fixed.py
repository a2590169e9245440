"""Every page after the same span: what a nightly re-crawl does, and the line to compare with."""

from __future__ import annotations

from dataclasses import dataclass

from incrawl.core.records import UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits, LimitSettings


@dataclass(frozen=True, slots=True)
class Fixed:
    """Each page keeps the refresh time it was given, by its seed or by the settings."""

    limits: Limits = Limits()

    @classmethod
    def from_config(cls, config: LimitSettings) -> Fixed:
        return cls(Limits.from_config(config))

    def next_refresh(self, record: UrlRecord, visit: Visit, collection: Collection) -> float:
        return self.limits.current(record)

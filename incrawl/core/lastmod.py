"""Do the dates in a host's sitemaps tell the truth? One that calls all pages changed loses its say."""

from __future__ import annotations

import json
from dataclasses import dataclass

REMEMBERED = 50  # claims after which older ones count less
BELIEVED_ABOVE = 0.3  # share of claims that turned out true
GRACE = 4  # claims before anything is held against a host


@dataclass(frozen=True, slots=True)
class Claims:
    """Claims that a page had changed, by what its next visit found."""

    right: float = 0.0
    wrong: float = 0.0

    @property
    def believed(self) -> bool:
        """Whether a claim still brings a page's visit forward.

        >>> Claims(right=0, wrong=5).believed, Claims(right=3, wrong=4).believed
        (False, True)
        """
        made = self.right + self.wrong
        return made <= GRACE or self.right / made > BELIEVED_ABOVE

    def after(self, *, changed: bool) -> Claims:
        """Another claim was put to the test."""
        kept = 1 - 1 / REMEMBERED
        return Claims(self.right * kept + changed, self.wrong * kept + (not changed))

    def pack(self) -> bytes:
        return json.dumps([self.right, self.wrong]).encode()

    @classmethod
    def unpack(cls, data: bytes | None) -> Claims:
        try:
            right, wrong = json.loads(data) if data else (0.0, 0.0)
            return cls(float(right), float(wrong))
        except (ValueError, TypeError):
            return cls()


def is_news(changed: float | None, last_crawl: float | None, now: float) -> bool:
    """Whether a date claims a change since the last visit; dates in the future claim nothing."""
    return changed is not None and last_crawl is not None and last_crawl < changed <= now

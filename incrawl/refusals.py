"""Why a request or a response is not let through: what middlewares raise and visits read.

IgnoreRequest (Scrapy's)
├── Refused   a rule says no to this URL or response; the visit ends as refused, the old document stays
│   └── Cut   the request was sent, and its answer was cut off
└── Held      the host is left in peace for a while; the URL goes back to its queue, unvisited

Both are subclasses of Scrapy's own exception, so that it neither retries nor logs them as errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector


# Rules about URLs, not about what came back: as long as they hold, there is no use in asking again.
BARRING = frozenset({"robots", "filters", "traps"})


class Refused(IgnoreRequest):
    """`part` and `reason` name the rule, and the stats key `incrawl/<part>/<reason>`."""

    def __init__(self, part: str, reason: str, detail: str = ""):
        super().__init__(f"{part}/{reason}" + (f": {detail}" if detail else ""))
        self.part = part
        self.reason = reason

    @property
    def bars(self) -> bool:
        """Whether the URL leaves its queue; what is known of it stays."""
        return self.part in BARRING


class Cut(Refused):
    """The host has been asked and has answered, though nothing is left of the answer."""


class Held(IgnoreRequest):
    """The host may not be asked for `seconds`; nothing was learnt about the URL itself."""

    def __init__(self, host: str, seconds: float, reason: str):
        super().__init__(f"{host} is held for {seconds:.0f} s: {reason}")
        self.host = host
        self.seconds = seconds
        self.reason = reason


def refuse(stats: StatsCollector, part: str, reason: str, detail: str = "") -> Refused:
    """Counts a refusal and makes the exception to raise."""
    stats.inc_value(f"incrawl/{part}/{reason}")
    return Refused(part, reason, detail)


def was_sent(exception: Exception) -> bool:
    """Whether a request that ended so had gone out: what a rule stopped had not, what was cut off had."""
    return isinstance(exception, Cut) or not isinstance(exception, IgnoreRequest)

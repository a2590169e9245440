"""What a response's status or a failed request says about a page."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest
from twisted.python.failure import Failure

from incrawl.core.records import Outcome

_BY_STATUS = {
    304: Outcome.NOT_MODIFIED,
    401: Outcome.REFUSED,
    403: Outcome.REFUSED,
    404: Outcome.GONE,
    410: Outcome.GONE,
    451: Outcome.REFUSED,
}


def outcome_of_status(status: int) -> Outcome | None:
    """The outcome of a visit that brought no document; None where there is one to look at."""
    return None if 200 <= status < 300 else _BY_STATUS.get(status, Outcome.FAILED)


def outcome_of_failure(failure: Failure) -> Outcome:
    """Requests that a rule stopped (robots.txt, filters) are refused, all others failed."""
    return Outcome.REFUSED if isinstance(failure.value, IgnoreRequest) else Outcome.FAILED

"""One visit to one page, from its lease to its acknowledgement.

A page is done when its callback is exhausted, its items are through the pipelines and the requests
that only this process can make for it have ended. Each of these *holds* the visit; when the last one
lets go, the visit is handed to the ledger, which acknowledges it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from incrawl.core.records import Outcome, UrlRecord

if TYPE_CHECKING:
    from scrapy import Request

    from incrawl.core.elsewhere import Elsewhere
    from incrawl.frontier.frontier import Find, Lease
    from incrawl.items import Page
    from incrawl.repository import Sidecar, Staged

META_KEY = "incrawl"


class HostLock(Enum):
    """What has become of the lock that a lease puts on its page's host: it is good for one request."""

    FRESH = "fresh"
    BUSY = "busy"  # a request is under way
    SPENT = "spent"
    LEFT = "left"  # given up before the visit's end, so that others may have the host


class PageVisit:
    """Travels in `request.meta["incrawl"]`, through redirects and retries."""

    def __init__(
        self,
        lease: Lease,
        deadline: float,
        done: Callable[[PageVisit], None],
        parent: PageVisit | None = None,
    ) -> None:
        self.lease = lease
        self.deadline = deadline  # monotonic: nothing is sent after it unless the lease was renewed
        self.parent = parent  # of a request that stays in this process: the page that asked for it
        self.started = time.monotonic()
        self.host_lock = HostLock.FRESH
        self.response_ended: float | None = None  # monotonic; of the request that the lock was good for
        self.conditional = False  # the page was asked for only if it had changed
        self.paid = False  # a request of it was taken out of the budget
        self.put_back_for: float | None = None  # seconds: nothing was learnt, the page is due again then
        self.barred_by = ""  # the rule that forbids the URL: it leaves the queue, with its history kept
        self.look_again_after: float | None = None  # seconds, where the page is to be seen again sooner
        self.outcome: Outcome | None = None
        self.status: int | None = None
        self.failed = False  # a later error overrides what was found before
        self.why = ""
        self.kept: Sidecar | None = None  # the version before, where it was looked at to ask for changes only
        self.page: Page | None = None
        self.elsewhere: Elsewhere | None = None  # another address of the page, as this visit found
        self.taken_along = False  # the visit is part of the history that has gone there
        self.finds: list[Find] = []  # the page's links, for the frontier
        self.asked: list[tuple[str, str]] = []  # an add-on spider's: URL, what to do with it (JSON)
        self.asked_here: set[bytes] = set()  # fingerprints of the requests that stay in this process
        self.arrived = False  # a response has reached the spider's side
        self._request_open = True
        self._holds = 1  # the request itself
        self._done = done

    @property
    def record(self) -> UrlRecord:
        return self.lease.record

    @property
    def url(self) -> str:
        return self.lease.record.url

    @property
    def root(self) -> PageVisit:
        """The visit of the page itself, of which this may be a part."""
        return self if self.parent is None else self.parent.root

    @property
    def host(self) -> str:
        return self.lease.place.host.name

    def child(self) -> PageVisit:
        """A visit for a request that this page asked for and that only this process can make."""
        self.hold()
        return PageVisit(self.lease, math.inf, self._done, parent=self)

    def hold(self) -> None:
        self._holds += 1

    def let_go(self) -> None:
        self._holds -= 1
        if self._holds == 0:
            self._done(self)

    def request_done(self) -> None:
        """The request has been dealt with, by its callback or by its errback, or by both."""
        if self._request_open:
            self._request_open = False
            self.let_go()

    def end(self, outcome: Outcome, status: int | None = None, why: str = "") -> None:
        """Says how the visit ended; the first word counts."""
        if self.outcome is None:
            self.outcome, self.status, self.why = outcome, status, why

    def put_back(self, seconds: float) -> None:
        """The page could not be asked for: it is due again after `seconds`, as if never leased."""
        self.put_back_for = seconds

    def fail(self, why: str) -> None:
        """An error in the spider or in a pipeline: the page is tried again, its old version stays."""
        self.failed = True
        self.why = why

    def take_staged(self) -> Staged | None:
        """The version that waits on the disk. Who takes it settles it: nobody else does so again.

        A later visit's version may bear the same name there.
        """
        page = self.page
        if page is None:
            return None
        staged, page.staged = page.staged, None
        return staged

    def is_over(self, now: float) -> bool:
        return now >= self.deadline

    def since_response(self) -> float | None:
        """Seconds since the last response ended; None when nothing was sent."""
        return None if self.response_ended is None else time.monotonic() - self.response_ended


def visit_of(request: Request | None) -> PageVisit | None:
    """The visit that a request belongs to, if any."""
    carried: Any = None if request is None else request.meta.get(META_KEY)
    return carried if isinstance(carried, PageVisit) else None

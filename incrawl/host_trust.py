"""What workers share about the honesty of hosts: their validators, and their sitemaps' dates."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING

from incrawl.core.records import COMPARED, Outcome
from incrawl.core.validators import SHARED_NAME, Trust, Validators

if TYPE_CHECKING:
    from incrawl.page_visit import PageVisit
    from incrawl.worker import Worker

logger = logging.getLogger(__name__)

MEMORY = 30 * 24 * 3600.0  # seconds after which a host gets another chance
OWN_LIFETIME = 600.0  # seconds that a worker does without asking the others
MAX_HOSTS = 10_000
OFTEN = 0.3  # share of changed visits from which a change is no surprise


class HostTrust:
    """One per worker."""

    def __init__(self, worker: Worker):
        self._worker = worker
        self._known: OrderedDict[str, tuple[Trust, float]] = OrderedDict()

    async def of(self, host: str) -> Trust:
        trust, expires = self._known.get(host, (Trust(), 0.0))
        if self._worker.frontier.now() >= expires:
            trust = Trust.unpack(await self._worker.frontier.cache_get(host, SHARED_NAME))
            self._keep(host, trust)
        return trust

    async def judge(self, visit: PageVisit, outcome: Outcome) -> None:
        """A visit has ended: what does it say about the host's validators?"""
        before = await self.of(visit.host)
        after = judged(before, visit, outcome)
        if after == before:
            return
        self._keep(visit.host, after)
        await self._worker.frontier.cache_set(visit.host, SHARED_NAME, after.pack(), MEMORY)
        if before.honest and not after.honest:
            self._worker.count("incrawl/conditional/liars")
            logger.warning(
                "%s says that pages are not modified though they are; it is no longer asked", visit.host
            )
        elif before.etag and not after.etag:
            self._worker.count("incrawl/conditional/useless")
            logger.info("%s gives unchanged pages other ETags; they are no longer sent", visit.host)

    def _keep(self, host: str, trust: Trust) -> None:
        self._known[host] = trust, self._worker.frontier.now() + OWN_LIFETIME
        self._known.move_to_end(host)
        while len(self._known) > MAX_HOSTS:
            self._known.popitem(last=False)


def judged(trust: Trust, visit: PageVisit, outcome: Outcome) -> Trust:
    if outcome is Outcome.NOT_MODIFIED:
        return trust.after_not_modified() if visit.conditional else trust
    page = visit.page
    # A page that was redirected has the validators of another address.
    if page is None or page.previous is None or outcome not in COMPARED or page.url != visit.url:
        return trust
    stored = Validators(page.previous.etag, page.previous.last_modified)
    received = Validators(page.etag, page.last_modified)
    changed = outcome is Outcome.CHANGED
    if not stored:
        return trust
    if visit.conditional:
        return trust.after_conditional(stored, received, changed=changed)
    often = (visit.record.change_probability() or 0.0) > OFTEN
    return trust.after_full_fetch(stored, received, changed=changed, often_changed=often)

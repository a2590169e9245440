"""This worker's hand in the budget that all workers of a frontier share (`INCRAWL_BUDGET`).

A request is counted when it is sent, and counted anew when its answer has come: whatever happens on the
way, no window of time sees more requests *at the servers* than the budget allows.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from incrawl.core.values import Rate
from incrawl.frontier import shared
from incrawl.frontier.frontier import Frontier

LOOK = 1.0  # seconds between two looks at a budget that is spent: others may give something back


class BudgetSpent(Exception):  # noqa: N818 - an answer, not a mistake
    """Nothing may be sent for longer than the crawl waits."""


class Purse:
    """Asked by the feeder how many pages are worth leasing, and by the downloader for each request."""

    def __init__(self, frontier: Frontier, budget: Rate, patience: float, count: Callable[..., None]) -> None:
        self._frontier = frontier
        self._budget = budget
        self._patience = patience
        self._count = count
        self._line = asyncio.Lock()  # requests of this worker are served in the order of their coming
        self.wait = 0.0  # seconds until anything may be sent, as of the latest answer

    @property
    def is_spent_for_long(self) -> bool:
        return self.wait > self._patience

    async def left(self) -> int:
        """Requests that may be sent now."""
        answer = await shared.spend(self._frontier, self._budget, 0)
        self.wait = answer.wait
        return answer.left

    async def spend(self, goes_on: Callable[[], bool]) -> bytes:
        """Takes one request out of the budget, waiting for it if need be; its stamp is for `settle`.

        A crawl that no longer `goes_on` waits for nothing.
        """
        async with self._line:
            while True:
                answer = await shared.spend(self._frontier, self._budget, 1, _once())
                self.wait = answer.wait
                if answer.granted:
                    self._count("incrawl/budget/spent")
                    return answer.stamp
                if self.is_spent_for_long or not goes_on():
                    self._count("incrawl/budget/held")
                    raise BudgetSpent
                self._count("incrawl/budget/waited")
                await asyncio.sleep(min(answer.wait, LOOK))

    async def settle(self, stamp: bytes, *, sent: bool) -> None:
        """The request has ended, or it was never sent and is given back."""
        await shared.spend(self._frontier, self._budget, int(sent), _once(stamp))
        if not sent:
            self._count("incrawl/budget/given_back")


def _once(stamp: bytes = b"") -> bytes:
    """With a token of this call behind the stamp it counts once, even if it is repeated for a lost answer."""
    return stamp + b":" + os.urandom(8)

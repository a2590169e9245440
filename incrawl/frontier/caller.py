"""Carries calls to the server, many at a time, and waits while the server is away.

Script calls made while a batch is under way leave together in the next one: tasks write straight-line
code and the server still sees few, full round trips. Where many calls wait, a second batch is under way
at the same time, so that neither side waits for the other. A server that is out of reach, loading, failing
over or full is waited for; its absence is told once, and so is its return.
"""

from __future__ import annotations

import asyncio
import logging
import re
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from redis.asyncio import RedisCluster
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import (
    ClusterError,
    ConnectionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    ResponseError,
    TimeoutError,
    TryAgainError,
)

from incrawl.frontier.scripts import Script

logger = logging.getLogger(__name__)

BATCH = 16
SENDERS = 2
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
_AWAY = (
    ConnectionError,
    TimeoutError,
    ClusterError,
    RedisClusterException,
    ReadOnlyError,
    TryAgainError,
    OutOfMemoryError,
    OSError,
)
# A disk that is full, replicas that are missing, a script that takes long: the server says so, and recovers.
# Before Redis 7 it says so amid a sentence about the script: "Error running script (…): -OOM command not …".
_PASSING = re.compile(
    r"(?:^|: -)(OOM|READONLY|MISCONF|NOREPLICAS|BUSY|MASTERDOWN|CLUSTERDOWN|LOADING)\b", re.ASCII
)


def is_away(error: BaseException) -> bool:
    """Whether the server cannot take a call just now, so that waiting will help."""
    return isinstance(error, _AWAY) or _passing(error) != "" or _was_cut_off(error)


def _passing(error: BaseException) -> str:
    found = _PASSING.search(str(error)) if isinstance(error, ResponseError) else None
    return found[1] if found else ""


def _was_cut_off(error: BaseException) -> bool:
    """Whether the connection was closed while words were put on it, by another task or by the other side.

    redis-py and asyncio stumble over what is gone by then, instead of saying so (redis-py's issue 4287).
    The words were made before that, so nothing of ours can be at fault.
    """
    if not isinstance(error, (AttributeError, TypeError)):
        return False
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code is AbstractConnection.send_packed_command.__code__ for frame, _ in frames)


@dataclass(slots=True)
class Call:
    script: Script
    arguments: tuple[Any, ...]  # number of keys, keys, ARGV
    answer: asyncio.Future[Any]
    tried: bool = False  # the server could not take it


class Caller:
    """One per client. Answers come however long that takes; errors are programmers' mistakes only."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._clustered = isinstance(client, RedisCluster)
        self._queue: list[Call] = []
        self._senders: set[asyncio.Task[None]] = set()
        self._waiting = 0  # calls that the server could not take yet

    async def call(self, script: Script, *arguments: Any) -> Any:
        """The reply of a script."""
        if self._clustered:
            # Nodes fail one by one: calls for the others do not wait for it.
            return await self._patiently(lambda: self._evaluate(script, arguments))
        call = Call(script, arguments, asyncio.get_running_loop().create_future())
        self._queue.append(call)
        if not self._senders or (len(self._queue) > BATCH and len(self._senders) < SENDERS):
            self._senders.add(asyncio.create_task(self._send()))
        return await call.answer

    async def command(self, *words: Any) -> Any:
        """The reply of a plain command."""
        return await self._patiently(lambda: self.client.execute_command(*words))

    async def _patiently(self, attempt: Callable[[], Awaitable[Any]]) -> Any:
        """Makes attempts until the server has taken one."""
        pause = 0.0
        try:
            while True:
                try:
                    return await attempt()
                except Exception as error:
                    if not is_away(error):
                        raise
                    pause = await self._wait(pause, error)
        finally:
            self._stop_waiting(pause)

    async def _send(self) -> None:
        """Sends batch after batch. Calls that the server could not take queue up again behind the others."""
        pause = 0.0
        try:
            while self._queue:
                batch = self._queue[:BATCH]
                del self._queue[:BATCH]
                refusal = self._hand_out(batch, await self._exchange(batch))
                if refusal is not None:
                    pause = await self._wait(pause, refusal)
                elif not any(call.tried for call in self._queue):
                    pause = self._stop_waiting(pause)
        finally:
            self._senders.discard(asyncio.current_task())  # at once: the next call looks whether one is left
            self._stop_waiting(pause)

    def _hand_out(self, batch: list[Call], replies: list[Any]) -> BaseException | None:
        """Gives each call its reply; returns why others have to be sent again."""
        refusal = None
        for call, reply in zip(batch, replies, strict=True):
            if not _answered(call, reply):
                refusal, call.tried = reply, True
                self._queue.append(call)
        return refusal

    async def _exchange(self, batch: list[Call]) -> list[Any]:
        """One reply or exception for each call."""
        if len(batch) == 1:
            return await self._single(batch[0])
        pipeline = self.client.pipeline(transaction=False)
        for call in batch:
            pipeline.evalsha(call.script.sha, *call.arguments)
        try:
            replies = await pipeline.execute(raise_on_error=False)
        except Exception as error:
            return [error] * len(batch)
        missing = any(isinstance(reply, NoScriptError) for reply in replies)
        return await self._loaded(batch, replies) if missing else list(replies)

    async def _loaded(self, batch: list[Call], replies: list[Any]) -> list[Any]:
        """Runs the calls again whose script the server had not seen."""
        for at, call in enumerate(batch):
            if isinstance(replies[at], NoScriptError):
                replies[at] = (await self._single(call))[0]
        return replies

    async def _single(self, call: Call) -> list[Any]:
        try:
            return [await self._evaluate(call.script, call.arguments)]
        except Exception as error:
            return [error]

    async def _evaluate(self, script: Script, arguments: tuple[Any, ...]) -> Any:
        try:
            return await self.client.evalsha(script.sha, *arguments)
        except NoScriptError:
            return await self.client.eval(script.text, *arguments)

    async def _wait(self, pause: float, error: BaseException) -> float:
        """Sleeps before the next attempt; returns how long. The first pause of a call is 0 before."""
        if not pause:
            self._waiting += 1
            if self._waiting == 1:
                _tell_absence(error)
        pause = min(pause * 2 or FIRST_PAUSE, LONGEST_PAUSE)
        await asyncio.sleep(pause)
        return pause

    def _stop_waiting(self, pause: float) -> float:
        if pause:
            self._waiting -= 1
            if not self._waiting:
                logger.info("The server is back")
        return 0.0


def _answered(call: Call, reply: Any) -> bool:
    """Gives a call its reply, unless it has to be sent again. A caller that has gone gets nothing."""
    if isinstance(reply, BaseException) and is_away(reply):
        return call.answer.done()
    if not call.answer.done():
        if isinstance(reply, BaseException):
            call.answer.set_exception(reply)
        else:
            call.answer.set_result(reply)
    return True


def _tell_absence(error: BaseException) -> None:
    if isinstance(error, OutOfMemoryError) or _passing(error) == "OOM":
        logger.error("The server's memory is full (maxmemory): the crawl waits until there is room")
    else:
        logger.warning("The server is away (%s): waiting for it", str(error) or type(error).__name__)

"""Makes sure that what was written has reached a replica, where a server has any.

A primary that dies takes its last writes with it. Links must not be lost like that once their page
counts as visited, so their discovery waits for one replica. Without replicas nothing is waited for.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode, PipelineCommand
from redis.exceptions import NoPermissionError, ResponseError

from incrawl.frontier import keys
from incrawl.frontier.caller import is_away

logger = logging.getLogger(__name__)

TIMEOUT = 1000  # ms that a replica may take
REST = 30.0  # seconds between two looks for replicas, and after one that did not answer
_WAIT = ("WAIT", 1, TIMEOUT)


class Replicas(Protocol):
    """Asked before and after a write."""

    async def primary(self, partition: int) -> Any:
        """Who is going to take a write; None where there is no replica to wait for."""

    async def has_reached_one(self, primary: Any, partition: int) -> bool:
        """False when the write may be lost, because its primary has gone: then it is to be repeated."""


def replicas_of(client: Any) -> Replicas:
    return ClusterReplicas(client) if isinstance(client, RedisCluster) else ServerReplicas(client)


class ServerReplicas:
    """The replicas of a single server."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._look = _Look()

    async def primary(self, partition: int) -> Redis | None:
        some = await self._look.finds_some(lambda: self._client.info("replication"))
        return self._client if some else None

    async def has_reached_one(self, primary: Redis, partition: int) -> bool:
        pipeline = primary.pipeline(transaction=False)
        pipeline.execute_command(*_mark(partition))
        pipeline.execute_command(*_WAIT)
        try:
            _, acknowledged = await pipeline.execute()
        except Exception as error:
            return _is_repeated(error)
        self._look.note(acknowledged)
        return True


class ClusterReplicas:
    """The replicas of a cluster's primaries."""

    def __init__(self, client: RedisCluster) -> None:
        self._client = client
        self._looks: defaultdict[str, _Look] = defaultdict(_Look)  # by the primary's name

    async def primary(self, partition: int) -> ClusterNode | None:
        node = self._client.get_node_from_key(keys.tag(partition).decode())
        if node is None:
            return None
        # A client's map of the cluster may be older than a replica: the primary itself knows.
        some = await self._looks[node.name].finds_some(lambda: node.execute_command("INFO", "replication"))
        return node if some else None

    async def has_reached_one(self, primary: ClusterNode, partition: int) -> bool:
        commands = [PipelineCommand(0, *_mark(partition)), PipelineCommand(1, *_WAIT)]
        try:
            failed = await primary.execute_pipeline(commands)
        except Exception as error:
            return _is_repeated(error)
        if failed:
            return _is_repeated(next(c.result for c in commands if isinstance(c.result, Exception)))
        self._looks[primary.name].note(commands[1].result)
        return True


class _Look:
    """Whether a primary has replicas that answer, asked from time to time."""

    def __init__(self) -> None:
        self._some = False
        self._next = 0.0  # monotonic
        self._asking = asyncio.Lock()  # many discoveries begin at once: one of them asks for all

    async def finds_some(self, ask: Callable[[], Awaitable[Any]]) -> bool:
        async with self._asking:
            if time.monotonic() >= self._next:
                # A primary that does not answer has as many as before: its write will tell.
                try:
                    self._some = bool((await ask()).get("connected_slaves"))
                    self._next = time.monotonic() + REST
                except Exception as error:
                    if not _is_the_servers(error):
                        raise
        return self._some

    def note(self, acknowledged: Any) -> None:
        """How many replicas have answered in time; none: they are left alone for a while."""
        if not acknowledged:
            logger.warning("No replica has acknowledged new links within %d ms: going on without", TIMEOUT)
            self._some = False
            self._next = time.monotonic() + REST


def _is_repeated(error: Exception) -> bool:
    """False, for the write: what failed was a primary that has gone, or is one no longer."""
    if isinstance(error, NoPermissionError) or not _is_the_servers(error):
        raise error
    return False


def _is_the_servers(error: Exception) -> bool:
    return isinstance(error, ResponseError) or is_away(error)


def _mark(partition: int) -> tuple[Any, ...]:
    """WAIT is about the writes of its own connection: a small one comes first."""
    return ("SET", keys.sync(partition), b"")

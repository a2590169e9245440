"""Connects to the frontier's server: an outside one that the settings name, else the embedded one."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from redis.asyncio import ConnectionPool, Redis, RedisCluster, UnixDomainSocketConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import InvalidResponse, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from incrawl.config import Config, Settings
from incrawl.errors import ConfigError, ServerError
from incrawl.frontier.caller import is_away
from incrawl.frontier.embedded import ensure_server_async
from incrawl.frontier.outside import DEFAULTS, Client, OutsideServer, fixed_options, reason
from incrawl.frontier.server_check import ServerFacts, ask_server, reject_unusable, warnings_about
from incrawl.frontier.server_dir import ServerDir

ATTEMPTS = 6
"""Times that a lost connection is tried again; together a few seconds."""

logger = logging.getLogger(__name__)


async def connect(settings: Settings, config: Config, *, warn: bool = True) -> Client:
    """A client that has reached its server; ServerError or ConfigError says why there is none.

    A cluster is recognised by asking the server. Close the client with `aclose`. Whoever connects only to
    have a look need not `warn` of what an outside server lacks.
    """
    outside = OutsideServer.from_settings(settings)
    if outside is None:
        return await connect_embedded(config.state_dir)
    facts = await _scout(outside)
    reject_unusable(facts, outside.name)
    client = outside.client(RedisCluster if facts.cluster else Redis, ATTEMPTS)
    try:
        await client.initialize()
        if warn:
            await _warn(client, outside.name, facts)
    except RedisError as error:
        await client.aclose()
        raise ServerError(f"{outside.name} cannot be used: {reason(error)}.") from None
    return client


async def _warn(client: Client, name: str, facts: ServerFacts) -> None:
    """Tells what the server lacks; of a cluster, what each of its primaries does."""
    servers = {name: facts}
    if isinstance(client, RedisCluster):
        servers = {}
        for node in client.get_primaries():
            try:
                servers[node.name] = await ask_server(client, target_nodes=node)
            except RedisError as error:
                if not is_away(error):
                    raise
                # A primary that fails just now is waited for by whoever needs it.
                logger.info("%s is away (%s)", node.name, reason(error))
    for server, found in servers.items():
        for warning in warnings_about(found):
            logger.warning("%s: %s.", server, warning)


async def connect_embedded(state_dir: Path) -> Redis:
    """A client of the embedded server, started if need be, and again whenever it was killed."""
    await ensure_server_async(state_dir)
    pool = ConnectionPool(
        connection_class=EmbeddedConnection,
        path=str(ServerDir(state_dir).socket()),
        state_dir=state_dir,
        socket_timeout=DEFAULTS["socket_timeout"],
        **fixed_options(ATTEMPTS),
    )
    return Redis.from_pool(pool)


class EmbeddedConnection(UnixDomainSocketConnection):
    """Brings the embedded server back before connecting, should it have been killed meanwhile."""

    def __init__(self, *, state_dir: Path, **options: Any) -> None:
        super().__init__(**options)
        self._state_dir = state_dir

    async def _connect(self) -> None:
        try:
            await ensure_server_async(self._state_dir)
        except ServerError as error:
            raise RedisConnectionError(str(error)) from error
        await super()._connect()  # type: ignore[no-untyped-call]


async def _scout(outside: OutsideServer) -> ServerFacts:
    """Asks one server once, so that an unreachable one is reported at once."""
    client = outside.client(Redis, attempts=0)
    assert isinstance(client, Redis)
    try:
        return await ask_server(client)
    except TypeError as error:
        raise ConfigError(f"REDIS_PARAMS cannot be used: {reason(error)}.") from None
    except (RedisConnectionError, RedisTimeoutError, OSError) as error:
        raise ServerError(f"{outside.name} cannot be reached: {reason(error)}.") from None
    except InvalidResponse:
        raise ServerError(f"{outside.name} cannot be used: what answers there is no Redis server.") from None
    except RedisError as error:
        raise ServerError(f"{outside.name} cannot be used: {reason(error)}.") from None
    finally:
        await client.aclose()

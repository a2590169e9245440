"""What an outside server must be, and what it had better be: asked once, when a process connects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import NoPermissionError, ResponseError

from incrawl.errors import ServerError
from incrawl.frontier.binary import OLDEST_REDIS, ServerVersion

COMPACT_VALUE = 1024
"""Bytes up to which a packed record should stay in a hash's compact form."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What the server says of itself."""

    version: ServerVersion
    cluster: bool
    replica: bool
    evicts: str  # its eviction policy where it has a memory limit, else ""
    append_only: bool
    snapshots: bool | None  # None where the server does not tell
    compact_value: int | None  # None where the server does not tell


async def ask_server(client: Redis | RedisCluster, **node: Any) -> ServerFacts:
    """Reads the facts from INFO and, where it is allowed, CONFIG; of one `target_nodes` of a cluster."""
    info: Mapping[str, Any] = await client.info(**node)
    config = await _config(client, node)
    limited = bool(info.get("maxmemory")) and info.get("maxmemory_policy", "noeviction") != "noeviction"
    compact = config.get("hash-max-listpack-value") or config.get("hash-max-ziplist-value")
    return ServerFacts(
        version=version_in(info),
        cluster=bool(info.get("cluster_enabled")),
        replica=info.get("role") == "slave",
        evicts=str(info["maxmemory_policy"]) if limited else "",
        append_only=bool(info.get("aof_enabled")),
        snapshots=bool(config["save"]) if "save" in config else None,
        compact_value=int(compact) if compact else None,
    )


async def _config(client: Redis | RedisCluster, node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Hosted servers often forbid CONFIG; then these facts stay unknown."""
    try:
        saving = await client.config_get("save", **node)
        packing = await client.config_get("hash-max-*-value", **node)
    except (NoPermissionError, ResponseError):
        return {}
    return {str(name): value for name, value in (saving | packing).items()}


def version_in(info: Mapping[str, Any]) -> ServerVersion:
    """Valkey tells its own version beside the Redis version that it stands for."""
    product = "valkey" if "valkey_version" in info else "redis"
    major, minor = str(info.get(f"{product}_version", "0.0")).split(".")[:2]
    return ServerVersion(product, (int(major), int(minor)))


def reject_unusable(facts: ServerFacts, name: str) -> None:
    """A server that cannot carry a frontier raises ServerError; `name` is how the user named it."""
    if not facts.version.usable:
        oldest = ".".join(map(str, OLDEST_REDIS))
        raise ServerError(f"{name} is {facts.version}, but incrawl needs Redis {oldest} or Valkey.")
    if facts.replica and not facts.cluster:
        raise ServerError(f"{name} is a read-only replica: name its primary server.")


def warnings_about(facts: ServerFacts) -> list[str]:
    """What may cost data or memory on this server, one sentence each."""
    found = []
    if facts.evicts:
        found.append(
            f"it evicts keys when memory is full (maxmemory-policy {facts.evicts}), so URLs can get lost: "
            "set maxmemory-policy noeviction"
        )
    if not facts.append_only and facts.snapshots is False:
        found.append("it keeps nothing on disk, so a restart forgets every URL: set appendonly yes")
    elif not facts.append_only:
        found.append("it has no append-only file, so a crash can lose minutes of work: set appendonly yes")
    if facts.compact_value is not None and facts.compact_value < COMPACT_VALUE:
        found.append(
            f"its hash-max-listpack-value is {facts.compact_value}, so records take several times the "
            f"memory: set it to {COMPACT_VALUE}"
        )
    return found

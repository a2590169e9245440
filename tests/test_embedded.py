"""The embedded server: one per state directory, detached, private, and back again after a kill."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from incrawl.errors import ServerError
from incrawl.frontier import binary, embedded
from incrawl.frontier.binary import ServerVersion
from incrawl.frontier.embedded import ensure_server, server_info, stop_server
from incrawl.frontier.server_dir import LONGEST_SOCKET_PATH, ServerDir

STARTER = """
import os, sys
from pathlib import Path
from incrawl.frontier.embedded import ensure_server, server_info
state_dir, count = Path(sys.argv[1]), int(sys.argv[2])
waiting, gate = os.pipe()
answers = []
for _ in range(count):
    answer, tell = os.pipe()
    if os.fork() == 0:
        os.read(waiting, 1)
        ensure_server(state_dir)
        os.write(tell, b"%d" % server_info(state_dir).pid)
        os._exit(0)
    os.close(tell)
    answers.append(answer)
os.write(gate, b"." * count)
print(*(os.read(answer, 20).decode() for answer in answers))
"""


def client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url)


def kill(state_dir: Path) -> None:
    """Ends the server by force and waits until the kernel has cleared it away."""
    info = server_info(state_dir)
    assert info is not None
    os.kill(info.pid, signal.SIGKILL)
    while ServerDir(state_dir).runs():
        time.sleep(0.005)


def start_processes(state_dir: Path, count: int) -> list[int]:
    """The pid of the server that each of `count` processes found, all let go at the same moment."""
    done = subprocess.run(
        [sys.executable, "-c", STARTER, str(state_dir), str(count)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    return [int(pid) for pid in done.stdout.split()]


def test_sixteen_processes_at_once_find_one_server(state_dir: Path) -> None:
    pids = start_processes(state_dir, 16)
    assert len(pids) == 16
    assert len(set(pids)) == 1


def test_sixteen_processes_at_once_bring_back_one_killed_server(state_dir: Path) -> None:
    client(ensure_server(state_dir)).set("url", "known")
    kill(state_dir)
    assert len(set(start_processes(state_dir, 16))) == 1
    assert client(ensure_server(state_dir)).get("url") == b"known"


def test_the_server_outlives_the_process_that_started_it(state_dir: Path) -> None:
    (pid,) = start_processes(state_dir, 1)
    info = server_info(state_dir)
    assert info is not None
    assert info.pid == pid
    assert os.getsid(pid) not in (os.getsid(0), 0)


def test_a_killed_server_comes_back_with_every_acknowledged_write(state_dir: Path) -> None:
    acknowledged = [0] * 4
    for _ in range(5):
        url = ensure_server(state_dir)
        writers = [Thread(target=count_up, args=(url, place, acknowledged)) for place in range(4)]
        for writer in writers:
            writer.start()
        time.sleep(0.1)
        kill(state_dir)
        for writer in writers:
            writer.join()
        stored = client(ensure_server(state_dir)).mget(range(4))
        # A write whose answer the kill cut off may be there as well.
        assert all(int(kept) - told in (0, 1) for kept, told in zip(stored, acknowledged, strict=True))
    assert min(acknowledged) > 5


def count_up(url: str, place: int, acknowledged: list[int]) -> None:
    """Adds one to a key again and again until the server is gone, and notes the last answer."""
    writer = redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0))
    with suppress(redis.ConnectionError):
        while True:
            acknowledged[place] = int(writer.incr(str(place)))


def test_a_stale_pid_and_socket_do_not_mislead(state_dir: Path) -> None:
    url = ensure_server(state_dir)
    kill(state_dir)
    place = ServerDir(state_dir)
    assert place.socket().exists()
    (place.path / "server.pid").write_text(f"{os.getpid()}\n")  # the pid now belongs to somebody else
    assert server_info(state_dir) is None
    assert ensure_server(state_dir) == url
    assert client(url).ping()


def test_it_listens_on_a_private_socket_only_and_never_evicts(state_dir: Path) -> None:
    url = ensure_server(state_dir)
    place = ServerDir(state_dir)
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.socket().stat().st_mode) == 0o600
    config = client(url).config_get("*")
    wanted = {"port": "0", "appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
    assert {name: config[name] for name in wanted} == wanted
    assert config["hash-max-listpack-value"] == "1024"


def test_stopping_ends_it_and_loses_nothing(state_dir: Path) -> None:
    client(ensure_server(state_dir)).set("url", "known")
    assert stop_server(state_dir)
    assert server_info(state_dir) is None
    assert not stop_server(state_dir)
    assert client(ensure_server(state_dir)).get("url") == b"known"


def test_nothing_runs_where_nothing_was_started(tmp_path: Path) -> None:
    assert server_info(tmp_path) is None
    assert not stop_server(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_long_path_gets_a_short_private_socket(state_dir: Path) -> None:
    deep = state_dir / ("d" * 120) / "ünï"
    try:
        url = ensure_server(deep)
        socket = Path(url.removeprefix("unix://"))
        assert len(os.fsencode(socket)) <= LONGEST_SOCKET_PATH
        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
        assert client(url).config_get("dir")["dir"] == str(deep / "server")
        moved = deep.rename(state_dir / ("e" * 120))
        assert ensure_server(moved) == url
        copied = Path(
            shutil.copytree(moved / "server", state_dir / ("f" * 120) / "server", ignore=no_sockets)
        )
        assert ensure_server(copied.parent) != url
    finally:
        for folder in (deep, state_dir / ("e" * 120), state_dir / ("f" * 120)):
            stop_server(folder)


@pytest.mark.parametrize("name", ["a b", "per%20cent", "what?#", 'quo"te', "ünï"])
def test_odd_paths_work(name: str, state_dir: Path) -> None:
    place = state_dir / name
    try:
        assert client(ensure_server(place)).ping()
    finally:
        assert stop_server(place)


def no_sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if stat.S_ISSOCK(Path(folder, name).lstat().st_mode)]


def test_a_state_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    place = tmp_path / "state"
    place.write_text("")
    with pytest.raises(ServerError, match="INCRAWL_STATE_DIR") as raised:
        ensure_server(place)
    assert str(place) in str(raised.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_state_directory_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ServerError, match=r"Permission denied.*INCRAWL_STATE_DIR"):
        ensure_server(tmp_path / "state")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_another_users_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    os.chown(tmp_path / "server", 12345, 12345)
    with pytest.raises(ServerError, match=r"belongs to another user.*INCRAWL_STATE_DIR"):
        ensure_server(tmp_path)


def test_without_any_binary_the_error_names_the_ways_out(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binary, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(state_dir))
    with pytest.raises(ServerError, match="REDIS_URL"):
        ensure_server(state_dir)


def test_a_server_on_the_path_is_the_fallback(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = state_dir / "bin"
    tools.mkdir()
    (tools / "redis-server").symlink_to(binary.find_binary())
    monkeypatch.setattr(binary, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tools))
    assert binary.find_binary() == tools / "redis-server"
    assert client(ensure_server(state_dir)).ping()


def test_an_older_server_refuses_newer_data(state_dir: Path) -> None:
    ensure_server(state_dir)
    stop_server(state_dir)
    ServerDir(state_dir).note_version(ServerVersion("valkey", (99, 0)))
    with pytest.raises(ServerError, match=r"written by valkey 99\.0.*INCRAWL_STATE_DIR"):
        ensure_server(state_dir)


@pytest.mark.parametrize(
    ("reader", "writer", "reads"),
    [
        ("valkey 9.1", "valkey 9.1", True),
        ("valkey 9.1", "valkey 9.0", True),
        ("valkey 9.0", "valkey 9.1", False),
        ("valkey 9.1", "redis 7.2", True),
        ("valkey 9.1", "redis 8.0", False),
        ("redis 8.0", "valkey 7.2", False),
        ("redis 7.0", "redis 7.2", False),
    ],
)
def test_which_server_reads_whose_data(reader: str, writer: str, reads: bool) -> None:
    old, new = ServerVersion.parse(writer), ServerVersion.parse(reader)
    assert old is not None
    assert new is not None
    assert new.reads(old) is reads


def test_damaged_data_is_reported_with_the_servers_own_words(state_dir: Path) -> None:
    client(ensure_server(state_dir)).set("url", "known")
    stop_server(state_dir)
    for part in (state_dir / "server" / "appendonlydir").glob("*.incr.aof"):
        part.write_bytes(b"this is no append-only file\r\n")
    with pytest.raises(ServerError, match=r"ended while starting: .*Bad file format.*server\.log"):
        ensure_server(state_dir)


def test_an_unknown_locale_does_not_keep_it_from_starting(
    state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "xx_YY.UTF-8")
    assert client(ensure_server(state_dir)).ping()


def test_a_server_that_hangs_is_never_doubled(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_server(state_dir)
    info = server_info(state_dir)
    assert info is not None
    ServerDir(state_dir).socket().unlink()
    monkeypatch.setattr(embedded, "PATIENCE", 0.1)
    with pytest.raises(ServerError, match="runs but does not answer"):
        ensure_server(state_dir)
    os.kill(info.pid, signal.SIGTERM)
    while ServerDir(state_dir).runs():
        time.sleep(0.005)

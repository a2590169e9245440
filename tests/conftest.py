"""Fixtures that give each test real servers of its own: Valkey on a socket, HTTP on loopback."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from frontiers import Bench, running_cluster, running_server
from hypothesis import settings
from swarm import Forker

from incrawl.demo.loopback import Answerer, LoopbackServer
from incrawl.demo.site import DemoSite
from incrawl.frontier.embedded import ensure_server, stop_server

# What an operator's shell says about places is not meant for tests.
for name in ("REDIS_URL", "INCRAWL_STATE_DIR"):
    os.environ.pop(name, None)

# The same examples in every run, however busy the machine: a failure is then the change's own.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


@pytest.fixture
def state_dir() -> Iterator[Path]:
    """A state directory with a short path (pytest's own are too long for a socket); its server is stopped."""
    path = Path(tempfile.mkdtemp(prefix="incrawl-test-", dir="/tmp"))
    yield path
    stop_server(path)
    shutil.rmtree(path)


@pytest.fixture
def server(state_dir: Path) -> str:
    """The `unix://` URL of a fresh embedded server."""
    return ensure_server(state_dir)


@pytest.fixture
def redis_url(server: str) -> str:
    """What a test sets REDIS_URL to."""
    return server


@pytest.fixture
def demo_site() -> Iterator[DemoSite]:
    """The bundled demo site on loopback, at its first round."""
    with DemoSite() as site:
        yield site


@pytest.fixture
def serve() -> Iterator[Callable[[Answerer], str]]:
    """Starts a web server on loopback for a function that answers requests; gives its URL."""
    servers: list[LoopbackServer] = []

    def start(answerer: Answerer) -> str:
        servers.append(LoopbackServer("127.0.0.1", answerer))
        return servers[-1].url

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def server_bench() -> Iterator[Bench]:
    """A single server for frontiers."""
    with running_server() as server:
        yield Bench(server.url)


@pytest.fixture(scope="session")
def cluster_bench() -> Iterator[Bench]:
    """A cluster of three primaries with a replica each, for frontiers."""
    with running_cluster() as servers:
        yield Bench(servers[0].url, clustered=True)


@pytest.fixture(params=["server", "cluster"])
def bench(request: pytest.FixtureRequest) -> Bench:
    """Both of them in turn, emptied."""
    found: Bench = request.getfixturevalue(f"{request.param}_bench")
    found.wipe()
    return found


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """Starts workers that need not import anything."""
    process = Forker()
    yield process
    process.stop()

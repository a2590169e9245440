"""Many workers on one frontier, for tests that kill, stop and restart them: a fast site on loopback
that knows who asked for what and when, and workers that are started in no time and killed by pid.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from crawls import PATIENCE, ROOT, Crawl

from incrawl.core.records import UrlRecord
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier

WORKER = "X-Test-Worker"
_HEAD = re.compile(rb"GET (\S+) HTTP/1.1\r\n(?:.*\r\n)*?(?i:x-test-worker): (\d+)\r\n")
_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Fetch:
    """One request; times are monotonic."""

    path: str
    worker: int
    time: float


class FastSite:
    """A web site in a thread of its own: `pages` maps a path to a page's links.

    `hook(path, worker)`, if given, is awaited before a page is sent.
    """

    def __init__(self, pages: dict[str, Sequence[str]]) -> None:
        self.pages = pages
        self.fetches: list[Fetch] = []
        self.ended: list[float] = []  # monotonic times at which answers had been sent
        self.hook: Callable[[str, int], Awaitable[None]] | None = None
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0)
        )
        self.host = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._answer(head))
                await writer.drain()
                self.ended.append(time.monotonic())
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()

    async def _answer(self, head: bytes) -> bytes:
        asked = _HEAD.match(head)
        if asked is None or asked[1] == b"/robots.txt":
            return _NOT_FOUND
        path, worker = asked[1].decode(), int(asked[2])
        self.fetches.append(Fetch(path, worker, time.monotonic()))
        if self.hook is not None:
            await self.hook(path, worker)
        if path not in self.pages:
            return _NOT_FOUND
        body = page_of(path, self.pages[path])
        length = f"Content-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        return b"HTTP/1.1 200 OK\r\n" + length.encode() + body

    def fetchers(self) -> dict[str, list[int]]:
        """For each page who fetched it, in order."""
        found: dict[str, list[int]] = defaultdict(list)
        for fetch in self.fetches:
            found[fetch.path].append(fetch.worker)
        return found


def page_of(path: str, links: Sequence[str]) -> bytes:
    """Each page has words of its own: pages that are all alike would be taken for a trap."""
    noise = b"".join(blake2b(f"{path} {n}".encode()).digest() for n in range(8))
    words = "".join(chr(ord("a") + byte) if byte < 26 else " " for byte in (byte % 32 for byte in noise))
    anchors = "".join(f'<a href="{link}">{link}</a>\n' for link in links)
    text = f"<html><head><title>{path}</title></head><body><p>{words}</p>{anchors}</body></html>"
    return text.encode()


def tree(count: int, fan: int = 10) -> dict[str, Sequence[str]]:
    """`count` pages below `/`, each linking to the next `fan` ones."""
    paths = ["/", *(f"/p/{number}" for number in range(1, count + 1))]
    return {path: paths[at * fan + 1 : at * fan + fan + 1] for at, path in enumerate(paths)}


@contextmanager
def site_of(pages: dict[str, Sequence[str]]) -> Iterator[FastSite]:
    site = FastSite(pages)
    try:
        yield site
    finally:
        site.stop()


@dataclass
class Worker:
    """One `scrapy crawl` process."""

    number: int
    pid: int
    log_file: Path
    killed_at: float | None = None
    _handle: int = field(init=False)

    def __post_init__(self) -> None:
        self._handle = os.pidfd_open(self.pid)

    @property
    def running(self) -> bool:
        return not select.select([self._handle], [], [], 0)[0]

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def signal(self, number: int) -> None:
        if self.running:
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        self.killed_at = time.monotonic()
        self.signal(signal.SIGKILL)
        self.wait()

    def wait(self, patience: float = PATIENCE) -> None:
        ended = select.select([self._handle], [], [], patience)[0]
        assert ended, f"worker {self.number} does not end; its log:\n{self.log[-3000:]}"


class Forker:
    """Starts `scrapy` processes that need not import anything; see forker.py. One serves all tests."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
        environment.pop("SCRAPY_SETTINGS_MODULE", None)
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", ROOT / "tests" / "forker.py"],
            cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def fork(self, words: list[str], log: Path, stats: Path, clock: float = 0.0, **others: Any) -> int:
        """The pid of a new process; `others` as forker.py has them."""
        order = {
            "words": words,
            "environment": {"CRAWLS_STATS_FILE": str(stats)},
            "log": str(log),
            "clock": clock,
            **others,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


class Swarm:
    """Workers of one crawl. Those that still run when the `with` block ends are killed."""

    def __init__(self, forker: Forker, crawl: Crawl, urls: str) -> None:
        self.crawl = crawl
        self.urls = urls
        self.workers: list[Worker] = []
        self._forker = forker
        self._commands = 0

    def __enter__(self) -> Swarm:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.signal(signal.SIGKILL)

    def start(self, *, clock: float = 0.0, seeded: bool = True, **settings: str) -> Worker:
        """A new worker, whose clock is off by `clock` seconds; not `seeded`, it takes what is known."""
        number = len(self.workers)
        headers = json.dumps({WORKER: str(number)})
        given = {**self.crawl.settings, "DEFAULT_REQUEST_HEADERS": headers, **settings}
        words = ["crawl", "incremental", *(("-a", f"urls={self.urls}") if seeded else ())]
        worker = self._fork(number, words, given, clock)
        self.workers.append(worker)
        return worker

    def ask(self, *words: str) -> str:
        """The output of an operator's command."""
        command = self.command(*words)
        command.wait(10 * PATIENCE)
        return command.log

    def command(self, *words: str) -> Worker:
        """An operator's command that is under way."""
        self._commands += 1
        return self._fork(-self._commands, list(words), self.crawl.settings)

    def _fork(self, number: int, words: list[str], settings: dict[str, str], clock: float = 0.0) -> Worker:
        words += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        log = self._file(number, "log")
        others = {"code": str(self._file(number, "code"))}
        return Worker(
            number, self._forker.fork(words, log, self._file(number, "stats"), clock, **others), log
        )

    def _file(self, number: int, kind: str) -> Path:
        return self.crawl.state_dir / f"worker-{number}.{kind}"

    def running(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.running]

    def killed(self) -> set[int]:
        return {worker.number for worker in self.workers if worker.killed_at is not None}

    def stats(self, worker: Worker) -> dict[str, Any]:
        """The stats of a worker that came to its own end."""
        stats: dict[str, Any] = json.loads(self._file(worker.number, "stats").read_text())
        return stats

    def code(self, worker: Worker) -> int:
        """The exit code of a worker that came to its own end."""
        return int(self._file(worker.number, "code").read_text())

    def records(self) -> dict[str, UrlRecord]:
        async def read(frontier: Frontier) -> dict[str, UrlRecord]:
            return {record.url: record async for record in operations.records(frontier)}

        found: dict[str, UrlRecord] = self.crawl.ask(read)
        return found


def fetched(site: FastSite, count: int) -> Callable[[], bool]:
    return lambda: len(site.fetches) >= count

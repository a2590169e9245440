"""Real crawls for tests: a web site on loopback that keeps an account, and `scrapy crawl` in processes.

with Site({"/": page("/a"), "/a": Reply(body="…")}) as site:
    crawl = Crawl(state_dir, INCRAWL_HOST_INTERVAL="0")
    done = crawl.run("incremental", urls=site.url("/"))
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, Self, TypeVar

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from incrawl.config import Config
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.operations import Counts, Known
from incrawl.repository import Repository
from incrawl.worker import open_frontier

if TYPE_CHECKING:
    from swarm import Forker

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0  # seconds that a process or a condition may take before the test fails
_REFRESH_TIMES = [f"INCRAWL_{which}_REFRESH_TIME" for which in ("AVERAGE", "MIN", "MAX")]
DUE_NEXT_TIME = dict.fromkeys(_REFRESH_TIMES, "0.001s")
"""For a crawl whose pages are all due again in the next run, however soon that begins."""

Asked = TypeVar("Asked")


@dataclass(frozen=True)
class Reply:
    """What a request gets. `drop`: the connection is closed without an answer."""

    body: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False


@dataclass(frozen=True)
class Hit:
    """One request as the site saw it; times are monotonic, of its arrival and of the answer's end."""

    path: str
    began: float
    ended: float
    method: str = "GET"
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


Answerer = Callable[[int], Reply]
"""From the number of earlier requests for the page to the answer."""


class Site:
    """Serves `pages`, which tests may change at any time, until the `with` block ends."""

    def __init__(self, pages: dict[str, Reply | Answerer], host: str = "127.0.0.1") -> None:
        self.pages = pages
        self.hits: list[Hit] = []
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = _Server((host, 0), _Handler)
        self._server.site = self
        self.host = f"{host}:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    def answer(self, path: str) -> Reply:
        with self._lock:
            before = self._counts[path]
            self._counts[path] += 1
        page = self.pages.get(path, Reply("<h1>Not here</h1>", 404))
        return page if isinstance(page, Reply) else page(before)

    def paths(self) -> list[str]:
        """What was asked for, in order, without robots.txt."""
        return [hit.path for hit in self.hits if hit.path != "/robots.txt"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    site: Site

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # the parent's version asks the name service

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        began = time.monotonic()
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        reply = self.server.site.answer(self.path)
        time.sleep(reply.delay)
        if reply.drop:
            self.close_connection = True
        else:
            self.send(reply)
        hit = Hit(self.path, began, time.monotonic(), self.command, sent, dict(self.headers))
        self.server.site.hits.append(hit)

    do_POST = do_GET  # noqa: N815 - as http.server names it

    def send(self, reply: Reply) -> None:
        body = reply.body.encode()
        self.send_response(reply.status)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in (headers | reply.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The site keeps its own account."""


def html(*links: str, text: str = "Some words that stay.", title: str = "A page") -> str:
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return f"<html><head><title>{title}</title></head><body><p>{text}</p><ul>{anchors}</ul></body></html>"


def many_pages(count: int, delay: float = 0.0) -> dict[str, Reply | Answerer]:
    """A front page and `count` pages below it, each of which says something of its own."""
    paths = [f"/page/{number}" for number in range(count)]
    words = str.maketrans("0123456789", "qwertyuiop")
    texts = [f"A page about {str(number).translate(words) * 20}." for number in range(count)]
    below = {path: Reply(html(text=text), delay=delay) for path, text in zip(paths, texts, strict=True)}
    return {"/": Reply(html(*paths))} | below


@dataclass(frozen=True)
class Done:
    """What a crawl's process left."""

    code: int
    out: str
    log: str
    stats: dict[str, Any]

    def visits(self) -> dict[str, int]:
        """Visits by outcome."""
        prefix = "incrawl/visit/"
        return {k.removeprefix(prefix): n for k, n in self.stats.items() if k.startswith(prefix)}


class Crawl:
    """`scrapy crawl` with one state directory and settings, as often as a test wants."""

    def __init__(
        self,
        state_dir: Path,
        *,
        project: Path = ROOT,
        fresh: bool = False,
        largest_file: int | None = None,
        **settings: str,
    ) -> None:
        self.state_dir = state_dir
        self.project = project
        self.fresh = fresh  # whether each run is a new interpreter, which takes a second longer
        self.largest_file = largest_file  # bytes: a disk that is full for larger ones (not of fresh runs)
        self.settings = {
            "INCRAWL_STATE_DIR": str(state_dir),
            "INCRAWL_ALLOW_NETWORKS": "loopback",
            "INCRAWL_CONTACT": "tests@localhost",
            "INCRAWL_HOST_INTERVAL": "0",
            "EXTENSIONS": '{"crawls.StatsFile": 1}',
            **settings,
        }

    def start(self, spider: str = "incremental", *options: str, **arguments: str) -> Process:
        return Process(self, [spider, *options, *_pairs("-a", arguments), *_pairs("-s", self.settings)])

    def run(self, spider: str = "incremental", *options: str, **arguments: str) -> Done:
        with self.start(spider, *options, **arguments) as process:
            return process.wait()

    def ask(self, question: Callable[[Frontier], Any], spider: str = "incremental") -> Any:
        """Opens the frontier and awaits the answer to a question."""

        async def asked() -> Any:
            settings = self._settings()
            frontier = await open_frontier(settings, Config.from_settings(settings), spider)
            try:
                return await question(frontier)
            finally:
                await frontier.close()

        return asyncio.run(asked())

    def counts(self, spider: str = "incremental") -> Counts:
        counts: Counts = self.ask(operations.counts, spider)
        return counts

    def known(self, *urls: str, spider: str = "incremental") -> list[Known | None]:
        async def look(frontier: Frontier) -> list[Known | None]:
            return [await operations.look(frontier, url) for url in urls]

        found: list[Known | None] = self.ask(look, spider)
        return found

    def one(self, url: str, spider: str = "incremental") -> Known:
        [known] = self.known(url, spider=spider)
        assert known is not None, url
        return known

    def repository(self) -> Repository:
        return Repository(Config.from_settings(self._settings()).repository_dir)

    def staged_rests(self) -> list[Path]:
        """Files of versions that were neither promoted nor discarded."""
        return [path for path in self.state_dir.glob("repository/*/.staged/*") if path.name != "alive"]

    def _settings(self) -> Settings:
        settings = Settings()
        settings.setmodule("incrawl.settings")
        if self.project != ROOT:
            settings.set("BOT_NAME", "bookshop", "cmdline")
        settings.setdict(self.settings, "cmdline")
        return settings


class Process:
    """A crawl that runs; the end of the `with` block ends it, should it still be there."""

    def __init__(self, crawl: Crawl, words: list[str]) -> None:
        place = crawl.state_dir / f"process-{time.monotonic_ns()}"
        place.mkdir(parents=True)
        self._log, self._out, self._code = place / "log", place / "out", place / "code"
        self._stats = place / "stats.json"
        self._fresh: subprocess.Popen[bytes] | None = None
        start = self._start_fresh if crawl.fresh else self._fork
        self._handle = os.pidfd_open(start(crawl, ["crawl", *words]))

    def _start_fresh(self, crawl: Crawl, words: list[str]) -> int:
        path = [str(ROOT / "tests"), str(ROOT), os.environ.get("PYTHONPATH", "")]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "CRAWLS_STATS_FILE": str(self._stats),
        }
        environment.pop("SCRAPY_SETTINGS_MODULE", None)
        command = [sys.executable, "-m", "scrapy", *words]
        with self._log.open("wb") as log, self._out.open("wb") as out:
            self._fresh = subprocess.Popen(
                command, cwd=crawl.project, env=environment, stdout=out, stderr=log
            )
        return self._fresh.pid

    def _fork(self, crawl: Crawl, words: list[str]) -> int:
        files = {"out": str(self._out), "code": str(self._code)}
        others = {"folder": str(crawl.project), "largest_file": crawl.largest_file}
        return forker().fork(words, self._log, self._stats, **files, **others)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self._handle)

    @property
    def running(self) -> bool:
        return not self._has_ended(0)

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def signal(self, number: int) -> None:
        if self.running:
            signal.pidfd_send_signal(self._handle, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        assert self._has_ended(PATIENCE)

    def wait(self, patience: float = PATIENCE) -> Done:
        assert self._has_ended(patience), f"the crawl does not end; its log:\n{self.log}"
        stats = json.loads(self._stats.read_text()) if self._stats.exists() else {}
        return Done(self._exit_code(), self._out.read_text(), self.log, stats)

    def _has_ended(self, patience: float) -> bool:
        ended = bool(select.select([self._handle], [], [], patience)[0])
        if ended and self._fresh is not None:
            self._fresh.wait()
        return ended

    def _exit_code(self) -> int:
        if self._fresh is not None:
            return int(self._fresh.returncode)
        return int(self._code.read_text()) if self._code.exists() else -1


@cache
def forker() -> Forker:
    """Starts all crawls that need not be fresh interpreters; ends with the tests."""
    from swarm import Forker  # which stands on this module

    made = Forker()
    atexit.register(made.stop)
    return made


def until(condition: Callable[[], Asked], patience: float = PATIENCE) -> Asked:
    """Waits for a condition, and returns what it found."""
    deadline = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)
    return found


@contextmanager
def short_dir() -> Iterator[Path]:
    """A state directory for a whole module; the server in it is stopped."""
    import shutil
    import tempfile

    from incrawl.frontier.embedded import stop_server

    path = Path(tempfile.mkdtemp(prefix="incrawl-test-", dir="/tmp"))
    try:
        yield path
    finally:
        stop_server(path)
        shutil.rmtree(path)


class StatsFile:
    """A Scrapy extension, run in the crawl's process: writes the stats where the test finds them."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls()
        extension.crawler = crawler
        crawler.signals.connect(extension.write, signals.engine_stopped)
        return extension

    crawler: Crawler

    def write(self) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        stats = json.dumps({**self.crawler.stats.get_stats(), "peak_memory": peak}, default=str)
        Path(os.environ["CRAWLS_STATS_FILE"]).write_text(stats)


def _pairs(option: str, values: dict[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in (option, f"{name}={value}")]

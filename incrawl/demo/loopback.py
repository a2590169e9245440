"""A small web server on loopback, run by threads of this process, that asks a function for every answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Thread
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request gets. Without an `etag` the page has no validator."""

    status: int
    body: str = ""
    content_type: str = "text/html; charset=utf-8"
    etag: str = ""


Answerer: TypeAlias = Callable[[str, str], Answer]
"""From a path and an If-None-Match header ("" where there is none) to the answer."""


class LoopbackServer(ThreadingHTTPServer):
    """Serves from the moment it is made until `stop`."""

    daemon_threads = True

    def __init__(self, host: str, answerer: Answerer) -> None:
        self.answerer = answerer
        super().__init__((host, 0), _Handler)
        self.url = f"http://{host}:{self.server_address[1]}"
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def server_bind(self) -> None:
        # The parent's version asks the name service who we are; nothing here leaves loopback.
        TCPServer.server_bind(self)

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


def listen(host: str, answerer: Answerer) -> LoopbackServer:
    """A server on `host`; where there is no loopback address but 127.0.0.1 (macOS), on a port of that."""
    try:
        return LoopbackServer(host, answerer)
    except OSError:
        return LoopbackServer("127.0.0.1", answerer)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LoopbackServer

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        answer = self.server.answerer(path, self.headers.get("If-None-Match", ""))
        body = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(body)))
        if answer.etag:
            self.send_header("ETag", answer.etag)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: whoever answers keeps the account."""

"""A large loopback site for the crawl benchmarks: pages of about 20 KB with 30 links each.

Pages are made from their number when they are asked for; the server is a bare asyncio protocol and
takes about a hundredth of the time that a crawler needs for the page.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LINKS = 30
SECTIONS = 32
SYLLABLES = [first + second for first in "bcdfglmnprstv" for second in ("a", "e", "i", "o", "u", "an", "er")]


def sentences(count: int) -> list[str]:
    """Made-up sentences of about 50 characters."""
    rng = random.Random(count)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(1000)]
    return [" ".join(rng.choices(words, k=8)).capitalize() + ". " for _ in range(count)]


SENTENCES = sentences(4000)


class Site:
    """Page `n` lies on host `n % hosts`; its links stay on the host and are the same each time."""

    def __init__(self, pages: int, hosts: int, port: int) -> None:
        self.pages, self.hosts, self.port = pages, hosts, port

    def url(self, number: int) -> str:
        return f"http://127.0.0.{number % self.hosts + 1}:{self.port}/section/page-{number:07d}.html"

    def body(self, number: int) -> bytes:
        # The first two links make a binary tree of all pages of a host, so that each is reached.
        rng = random.Random(number)
        place, host = divmod(number, self.hosts)
        on_host = (self.pages - host + self.hosts - 1) // self.hosts
        children = [child for child in (2 * place + 1, 2 * place + 2) if child < on_host]
        places = children + [rng.randrange(on_host) for _ in range(LINKS - len(children))]
        numbers = [self.hosts * each + host for each in places]
        links = "".join(f'<li><a href="{self.url(n)}">Page {n}</a></li>' for n in numbers)
        head = f"<html><head><title>Page {number}</title></head><body><h1>Page {number}</h1>"
        return f"{head}<ul>{links}</ul>{self.text(rng)}</body></html>".encode()

    def text(self, rng: random.Random) -> str:
        """Pages differ in their words: a site of pages that are all alike would be taken for a trap."""
        said = rng.choices(SENTENCES, k=9 * SECTIONS)
        return "".join(
            f"<section class='c{n}'><h2>Part {n}</h2><p>{''.join(said[9 * n : 9 * n + 4])}</p>"
            f"<p>{''.join(said[9 * n + 4 : 9 * n + 9])}</p></section>"
            for n in range(SECTIONS)
        )


class Connection(asyncio.Protocol):
    def __init__(self, site: Site) -> None:
        self.site = site
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            path = self.buffer.split(b" ", 2)[1]
            self.buffer = self.buffer[end + 4 :]
            self.transport.write(self.answer(path))

    def answer(self, path: bytes) -> bytes:
        if not path.startswith(b"/section/page-"):
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        body = self.site.body(int(path[14:21]))
        return (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%b"
            % (
                len(body),
                body,
            )
        )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def served(pages: int, hosts: int) -> Iterator[Site]:
    """The site, served by a process of its own for as long as the `with` block lasts."""
    command = [sys.executable, __file__, str(pages), str(hosts)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and server.stdin is not None
        try:
            yield Site(pages, hosts, int(server.stdout.readline()))
        finally:
            server.stdin.close()


async def serve(pages: int, hosts: int) -> None:
    """Serves until the parent process closes the pipe on standard input; prints the port."""
    site = Site(pages, hosts, free_port())
    addresses = [f"127.0.0.{host + 1}" for host in range(hosts)]
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(site), addresses, site.port, backlog=1024)
    print(site.port, flush=True)
    await asyncio.to_thread(os.read, 0, 1)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))

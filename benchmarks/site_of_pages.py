"""A large loopback site for the crawl benchmarks: pages of about 20 KB with 30 links each.

Pages are made from their number when they are asked for; the server is a bare asyncio protocol and
takes about a hundredth of the time that a crawler needs for the page.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import sys

LINKS = 30
FILLER = "".join(
    f"<section class='c{n}'><h2>Part {n}</h2><p>{'Plain words that fill a page of ordinary length. ' * 4}</p>"
    f"<p>{'More of them, so that a parser has something to do. ' * 5}</p></section>"
    for n in range(32)
)


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
        return f"{head}<ul>{links}</ul>{FILLER}</body></html>".encode()


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


async def serve(pages: int, hosts: int) -> None:
    """Serves until the parent process closes the pipe on standard input; prints the port."""
    listener = socket.create_server(("", 0), backlog=1024)
    site = Site(pages, hosts, listener.getsockname()[1])
    server = await asyncio.get_running_loop().create_server(lambda: Connection(site), sock=listener)
    print(site.port, flush=True)
    await asyncio.to_thread(os.read, 0, 1)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))

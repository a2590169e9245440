"""A web server that misbehaves on purpose, on loopback, for the tests of politeness and safety.

It speaks raw HTTP/1.1 over asyncio, in a thread of its own, so that it can send what no honest
server would. Every request is taken down with its time, host and path. A page is a coroutine that
writes to the connection; `PAGES` maps paths to pages, and tests may add their own.
"""

from __future__ import annotations

import asyncio
import threading
import time
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from gzip import compress as gzip_compress

import brotli
from backports import zstd

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Seen:
    """One request as the server saw it."""

    time: float
    host: str
    path: str
    headers: dict[str, str]


@dataclass
class Exchange:
    """One request and the connection to answer on."""

    seen: Seen
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def reply(
        self, body: bytes | str = b"", status: str = "200 OK", kind: str = "text/html", **headers: str
    ) -> None:
        body = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", f"Content-Type: {kind}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


Page = Callable[[Exchange], Awaitable[None]]


@dataclass
class HostileServer:
    """`with HostileServer() as server:` listens on a free port of 127.0.0.1 until the block ends."""

    pages: dict[str, Page] = field(default_factory=dict)
    log: list[Seen] = field(default_factory=list)
    address: str = "127.0.0.1"
    port: int = 0
    connections: int = 0

    def __enter__(self) -> HostileServer:
        self.pages = {**PAGES, **self.pages}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        started = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self.serve, self.address, self.port, limit=MEGABYTE), self.loop
        )
        self.server = started.result(10)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        async def stop() -> None:
            self.server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        asyncio.run_coroutine_threadsafe(stop(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                exchange = Exchange(read_head(head), writer)
                self.log.append(exchange.seen)
                await self.page_for(exchange.seen.path)(exchange)
        writer.close()

    def page_for(self, path: str) -> Page:
        plain = path.partition("?")[0]
        while plain and plain not in self.pages:
            plain = plain[:-1]  # the longest known beginning answers for everything below it
        return self.pages.get(plain, not_found)

    def url(self, path: str = "/", host: str = "") -> str:
        return f"http://{host or self.address}:{self.port}{path}"

    def paths(self) -> list[str]:
        return [seen.path for seen in self.log]


def read_head(head: bytes) -> Seen:
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    return Seen(time.monotonic(), headers.get("host", ""), first.split(" ")[1], headers)


# --- pages -------------------------------------------------------------------------------------


async def not_found(exchange: Exchange) -> None:
    await exchange.reply("nothing here", "404 Not Found")


async def good(exchange: Exchange) -> None:
    await exchange.reply(f"<html><title>Good</title><p>Good page {exchange.seen.path}</html>")


def fixed(body: bytes | str, status: str = "200 OK", kind: str = "text/html", **headers: str) -> Page:
    """A page that always answers the same."""

    async def page(exchange: Exchange) -> None:
        await exchange.reply(body, status, kind, **headers)

    return page


def redirect(to: str, status: str = "302 Found") -> Page:
    return fixed("", status, Location=to)


async def endless_body(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>")
    while True:
        await exchange.send(b"<p>more</p>" * 6000)


async def huge_announced(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999999\r\n\r\n<html>"
    )
    await asyncio.sleep(600)


async def slow_body(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        await exchange.send(b"x")
        await asyncio.sleep(0.1)


async def slow_headers(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    for number in range(10_000):
        await exchange.send(b"X-Slow-%d: x\r\n" % number)
        await asyncio.sleep(0.1)


async def no_answer(exchange: Exchange) -> None:
    await asyncio.sleep(600)


async def many_headers(exchange: Exchange) -> None:
    """20 MB of small headers."""
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    for number in range(1000):
        await exchange.send(b"".join(b"X-%d-%d: y\r\n" % (number, line) for line in range(1800)))
    await exchange.send(b"Content-Length: 2\r\n\r\nok")


async def long_header(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nX-Long: " + b"y" * MEGABYTE + b"\r\nContent-Length: 2\r\n\r\nok")


async def endless_interim(exchange: Exchange) -> None:
    while True:
        await exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


async def tiny_chunks(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(300):
        await exchange.send(b"1\r\nx\r\n" * 10_000)
    await exchange.send(b"0\r\n\r\n")


async def cut_off(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<html>half"
    )
    exchange.writer.close()


async def garbage(exchange: Exchange) -> None:
    await exchange.send(b"\x00\xff\x13\x37 this is no HTTP\r\n\r\n")
    exchange.writer.close()


async def contradictory(exchange: Exchange) -> None:
    await exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\nContent-Type: image/png\r\n"
        b"Content-Type: text/html; charset=klingon\r\nno colon here\r\nContent-Length: 40\r\n\r\n"
        b"<meta charset=utf-7><p>+ADw-\xff\xfe\xc3<p></p>  "
    )


def bomb(*codings: str, size: int = 32 * MEGABYTE) -> Page:
    """`size` bytes of nothing, packed by each coding in turn."""

    async def page(exchange: Exchange) -> None:
        body = await asyncio.to_thread(packed, b"\0" * size, *codings)
        await exchange.reply(body, Content_Encoding=", ".join(codings))

    return page


def packed(body: bytes, *codings: str) -> bytes:
    for coding in codings:
        body = CODERS[coding](body)
    return body


CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip_compress(body, 1),
    "deflate": lambda body: zlib.compress(body, 1),
    "br": lambda body: brotli.compress(body, quality=1),
    "zstd": lambda body: zstd.compress(body, 1),
}

PAGES: dict[str, Page] = {
    "/good": good,
    "/robots.txt": not_found,
    "/endless-body": endless_body,
    "/huge": huge_announced,
    "/slow-body": slow_body,
    "/slow-headers": slow_headers,
    "/no-answer": no_answer,
    "/many-headers": many_headers,
    "/long-header": long_header,
    "/endless-interim": endless_interim,
    "/tiny-chunks": tiny_chunks,
    "/cut-off": cut_off,
    "/garbage": garbage,
    "/contradictory": contradictory,
    "/nested-tags": fixed("<div>" * 200_000),
    "/charset/codec": fixed("<p>Said to be base64, and is not", kind="text/html; charset=base64"),
    "/charset/undefined": fixed("<meta charset=undefined><p>Said to be undefined"),
    "/refresh-to-nowhere": fixed("<meta http-equiv=refresh content='0;url=http://[::1'><p>Stays here"),
    "/base-is-nowhere": fixed("<base href='http://['><p>Somewhere</p><a href=/good/1>good</a>"),
    "/loop": redirect("/loop"),
    "/to-file": redirect("file:///etc/passwd"),
    "/to-metadata": redirect("http://169.254.169.254/latest/meta-data/"),
    "/to-credentials": redirect("http://user:secret@127.0.0.1/x"),
    "/png-as-html": fixed(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
    "/pdf": fixed(b"%PDF-1.7", kind="application/pdf"),
    "/html-without-type": fixed("<!doctype html><p>no type", kind=""),
    "/bomb/gzip": bomb("gzip"),
    "/bomb/deflate": bomb("deflate"),
    "/bomb/br": bomb("br"),
    "/bomb/zstd": bomb("zstd"),
    "/bomb/gzip-in-br": bomb("gzip", "br"),
    "/bomb/zstd-in-gzip": bomb("zstd", "gzip"),
    "/bomb/br-in-zstd": bomb("br", "zstd"),
    "/bomb/deflate-in-deflate": bomb("deflate", "deflate"),
    "/bomb/nested": bomb("gzip", "br", "zstd", "deflate"),
    "/bomb/deep": bomb("gzip", *["deflate"] * 500, size=1000),
}

"""Scrapy's HTTP/1.1 handler with bounds on what a server may send before and as the body.

Scrapy bounds the body (here by `INCRAWL_MAX_BODY`) and the time (`download_timeout`, from the name look-up to
the last byte, so that slow drips end too). Twisted bounds a header line, but not their number; and
it works through every chunk of a body by itself, so that a server can keep a worker busy with
millions of one-byte chunks. What goes over a bound is refused by name: `limits/body`, `limits/headers`,
`limits/chunks`.
"""

# ruff: noqa: N802 - Twisted names the methods.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, ResponseDataLossError
from twisted.web.client import ResponseFailed
from twisted.web.http import _ChunkedTransferDecoder

from incrawl.config import Config
from incrawl.refusals import Cut

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

MAX_HEADER_LINES = 256
MAX_HEADER_BYTES = 64 * 1024
MAX_CHUNKS = 50_000


class OverLimitError(Exception):
    """The server sent more of something than any honest page needs."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class BoundedChunks:
    """Twisted's decoder of chunked bodies; counts chunks, and hands on in one piece what one read brought."""

    def __init__(self, decoder: _ChunkedTransferDecoder):
        self.decoder = decoder
        self.seen = 0
        self.chunks: list[bytes] = []
        self.hand_on, decoder.dataCallback = decoder.dataCallback, self.take
        self.finish, decoder.finishCallback = decoder.finishCallback, self.finished

    def dataReceived(self, data: bytes) -> None:
        self.decoder.dataReceived(data)
        self.flush()

    def noMoreData(self) -> None:
        self.decoder.noMoreData()

    def take(self, chunk: bytes) -> None:
        self.seen += 1
        if self.seen > MAX_CHUNKS:
            raise OverLimitError("chunks")
        self.chunks.append(chunk)

    def finished(self, rest: bytes) -> None:
        self.flush()
        self.finish(rest)

    def flush(self) -> None:
        joined = b"".join(self.chunks)
        self.chunks.clear()
        if joined:
            self.hand_on(joined)


class BoundedParser(_LenientHTTPClientParser):
    """Counts what it reads; interim 1xx responses count towards the same bounds."""

    # Defaults on the class, because Twisted makes the parser and it becomes a BoundedParser afterwards.
    header_lines = 0
    header_bytes = 0

    def lineReceived(self, line: bytes) -> None:
        self.header_lines += 1
        self.header_bytes += len(line)
        if self.header_lines > MAX_HEADER_LINES or self.header_bytes > MAX_HEADER_BYTES:
            raise OverLimitError("headers")
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:
        raise OverLimitError("headers")

    def switchToBodyMode(self, decoder: Any) -> None:
        if isinstance(decoder, _ChunkedTransferDecoder):
            decoder = BoundedChunks(decoder)
        super().switchToBodyMode(decoder)  # type: ignore[no-untyped-call]


class BoundedProtocol(_LenientHTTP11ClientProtocol):
    def request(self, request: Any) -> Deferred[Any]:
        deferred = super().request(request)
        # Twisted hard-codes the parser's class; Scrapy replaces it in the same way.
        assert self._parser is not None
        self._parser.__class__ = BoundedParser
        return deferred


class BoundedFactory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: Any) -> BoundedProtocol:
        return BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]


class BoundedHTTP11DownloadHandler(HTTP11DownloadHandler):
    """Set in `DOWNLOAD_HANDLERS` for http and https."""

    def __init__(self, crawler: Crawler):
        super().__init__(crawler)
        self._default_maxsize = Config.from_settings(crawler.settings).max_body
        self._default_warnsize = 0
        self._pool._factory = BoundedFactory
        # Twisted would send a request again, at once, that a kept connection lost: nobody's turn.
        self._pool.retryAutomatically = False

    async def download_request(self, request: Request) -> Response:
        try:
            return await super().download_request(request)
        except (DownloadFailedError, ResponseDataLossError) as error:
            limit = limit_behind(error)
            if limit is None:
                raise
            raise self.cut(limit.reason) from error
        except DownloadCancelledError as error:
            raise self.cut("body") from error

    def cut(self, reason: str) -> Cut:
        self.crawler.stats.inc_value(f"incrawl/limits/{reason}")
        return Cut("limits", reason)


def limit_behind(error: Exception) -> OverLimitError | None:
    """The bound that was the cause of a failed download, if one was."""
    cause = error.__cause__
    reasons = cause.reasons if isinstance(cause, ResponseFailed) else ()
    return next((reason.value for reason in reasons if reason.check(OverLimitError)), None)

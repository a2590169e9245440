"""Content pages only: by extension, by type, by first bytes."""

from __future__ import annotations

import gzip

import pytest
from hostile import Exchange, HostileServer, fixed, redirect
from probe import probe

from incrawl.core.content import ContentRule, extension_of, media_type

RULE = ContentRule()
PAGE = b"<!DOCTYPE html><html><head><title>x</title></head><body>text</body></html>"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://a.test/", True),
        ("http://a.test/page", True),
        ("http://a.test/page.html", True),
        ("http://a.test/page.php?file=x.pdf", True),
        ("http://a.test/feed.xml", True),
        ("http://a.test/v1.2/", True),
        ("http://a.test/v1.2", True),
        ("http://pictures.png/", True),
        ("http://a.test/.png", True),
        ("http://a.test/x.pdf/", True),
        ("http://a.test/x.pdf", False),
        ("http://a.test/X.PDF?download=1#page=2", False),
        ("http://a.test/x%2Epdf", False),
        ("http://a.test/x.pdf;jsessionid=1", False),
        ("http://a.test/style.css?v=3", False),
        ("http://a.test/app.min.js", False),
        ("http://a.test/a.tar.gz", False),
        ("http://a.test/report.docx", False),
        ("http://[bad/x.pdf", True),
    ],
)
def test_by_extension(url: str, wanted: bool) -> None:
    assert RULE.wants_url(url) is wanted


@pytest.mark.parametrize(
    ("content_type", "wanted"),
    [
        ("text/html", True),
        ("Text/HTML; charset=utf-8", True),
        ("text/html, text/html", True),
        ("application/xhtml+xml", True),
        ("application/rss+xml", True),
        ("text/css", False),
        ("image/svg+xml", False),
        ("application/pdf", False),
        ("application/json", False),
        ("", None),
        ("garbage", None),
        ("a/b/c", None),
        ("application/octet-stream", None),
    ],
)
def test_by_type(content_type: str, wanted: bool | None) -> None:
    assert RULE.wants_type(content_type) is wanted


@pytest.mark.parametrize(
    ("content_type", "body", "wanted"),
    [
        ("text/html", PAGE, True),
        ("text/html", b"", True),
        ("text/html", b"MZ is a monogram, BM another", True),
        ("text/html", "Größe, 大きさ".encode(), True),
        ("text/html", "Größe".encode("latin-1"), True),
        ("text/html", "大きさ".encode("iso2022_jp"), True),
        ("text/html", "<p>wide</p>".encode("utf-16"), True),
        ("text/html; charset=UTF-16LE", "<p>wide</p>".encode("utf-16-le"), True),
        ("text/html", b"\xef\xbb\xbf" + PAGE, True),
        ("text/html", PNG, False),
        ("text/html", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", False),
        ("text/html", b"PK\x03\x04rest", False),
        ("text/html", gzip.compress(b"x", mtime=0), False),
        ("text/plain", b"text\x00more", False),
        ("application/xhtml+xml", b"GIF89a", False),
        ("", PAGE, True),
        ("", b"  \n<HTML>", True),
        ("", "<html>".encode("utf-16"), True),
        ("", b"just words", False),
        ("application/octet-stream", PNG, False),
        ("application/octet-stream", PAGE, True),
        ("image/png", PAGE, False),
    ],
)
def test_by_first_bytes(content_type: str, body: bytes, wanted: bool) -> None:
    assert RULE.wants_body(content_type, body) is wanted


def test_a_user_may_keep_more() -> None:
    rule = ContentRule(frozenset({"text/*", "application/pdf"}))
    assert rule.wants_url("http://a.test/x.pdf")
    assert rule.wants_type("text/css")
    assert rule.wants_body("application/pdf", b"%PDF-1.7")
    assert not rule.wants_url("http://a.test/x.png")


@pytest.mark.parametrize("text", ["", ";", "text", "\x00/\x00", "text/html;" * 1000])
def test_odd_types_are_no_error(text: str) -> None:
    assert media_type(text) in {"", "text/html", "\x00/\x00"}


def test_extension_is_bounded_by_the_last_segment() -> None:
    assert extension_of("http://a.test/a.b/c") == ""
    assert extension_of("http://a.test/a.b/c.D") == "d"


def test_in_a_crawl_nothing_else_is_requested_or_kept() -> None:
    sent: list[int] = []

    async def long_film(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 99999999\r\n\r\n")
        while True:
            await exchange.send(b"x" * 65536)
            sent.append(65536)

    pages = {
        "/film": long_film,
        "/packed": fixed(gzip.compress(PAGE, mtime=0), Content_Encoding="gzip"),
        "/packed-png": fixed(gzip.compress(PNG, mtime=0), Content_Encoding="gzip"),
        "/missing-picture": fixed(PNG, "404 Not Found", "image/png"),
        "/old.pdf": redirect("/good/moved"),
    }
    expected = {
        "/good/1": 200,
        "/good/picture.png": "Refused: content/extension",
        "/old.pdf": "Refused: content/extension",
        "/film": "Refused: content/type: video/mp4",
        "/pdf": "Refused: content/type: application/pdf",
        "/png-as-html": "Refused: content/bytes: text/html",
        "/html-without-type": 200,
        "/packed": 200,
        "/packed-png": "Refused: content/bytes: text/html",
        "/missing-picture": 404,
    }
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"incrawl.middlewares.content_only.ContentOnlyMiddleware": 585},
        # A download that is stopped closes its connection, on which another request may just have been sent.
        "RETRY_ENABLED": True,
    }
    with HostileServer(pages) as server:
        report = probe([server.url(path) for path in expected], settings)
        told = {path: report[server.url(path)].error or report[server.url(path)].status for path in expected}
        assert told == expected
        assert "/good/picture.png" not in server.paths()
        assert sum(sent) < 20_000_000
    counted = {name: count for name, count in report.stats.items() if name.startswith("incrawl/content/")}
    assert counted == {"incrawl/content/extension": 2, "incrawl/content/type": 2, "incrawl/content/bytes": 2}

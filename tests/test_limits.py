"""Time, size, header, chunk, encoding, redirect and link limits, against a server that breaks them all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from crawls import Crawl, Site, many_pages
from hostile import Exchange, HostileServer, bomb, fixed, packed, redirect
from probe import Report, probe

MIDDLEWARES = "incrawl.middlewares."
LIMITED: dict[str, Any] = {
    "DOWNLOADER_MIDDLEWARES": {
        MIDDLEWARES + "limits.LimitsMiddleware": 880,
        MIDDLEWARES + "compression.BoundedCompressionMiddleware": 590,
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
        "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": None,
    },
    "INCRAWL_MAX_BODY": "1MiB",
    "INCRAWL_PAGE_TIME": "6s",
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
}
EXPECTED = {
    "/endless-body": "limits/body",
    "/huge": "limits/body",
    "/slow-body": "DownloadTimeoutError",
    "/slow-headers": "DownloadTimeoutError",
    "/no-answer": "DownloadTimeoutError",
    "/many-headers": "limits/headers",
    "/long-header": "limits/headers",
    "/endless-interim": "limits/headers",
    "/tiny-chunks": "limits/chunks",
    "/cut-off": "ResponseDataLossError",
    "/garbage": "DownloadFailedError",
    "/loop": "IgnoreRequest: max redirections reached",
    "/bomb/gzip": "limits/body",
    "/bomb/deflate": "limits/body",
    "/bomb/br": "limits/body",
    "/bomb/zstd": "limits/body",
    "/bomb/nested": "limits/encodings",
    "/bomb/deep": "limits/encodings",
    "/bomb/gzip-in-br": "limits/body",
    "/bomb/zstd-in-gzip": "limits/body",
    "/bomb/br-in-zstd": "limits/body",
    "/bomb/deflate-in-deflate": "limits/body",
    "/bomb/twice": "limits/body",
    "/broken-gzip": "ResponseDataLossError",
    "/broken-deflate": "ResponseDataLossError",
    "/broken-br": "ResponseDataLossError",
    "/broken-zstd": "ResponseDataLossError",
    "/long-redirect": "limits/url_length",
}


SLOW = ["/slow-body", "/slow-headers", "/no-answer", "/slow-redirect"]


async def slow_redirect(exchange: Exchange) -> None:
    """Each hop is quick enough by itself."""
    await asyncio.sleep(0.4)
    await exchange.reply("", "302 Found", Location=f"/slow-redirect?{exchange.seen.time}")


@pytest.fixture(scope="module")
def crawl() -> tuple[HostileServer, Report]:
    """One crawl over all bad pages at once, with good ones among them."""
    bad = {f"/broken-{coding}": fixed(b"\x1f\x8b\x00no such data", Content_Encoding=coding)
           for coding in ("gzip", "deflate", "br", "zstd")}  # fmt: skip
    pages = {
        **bad,
        "/bomb/twice": bomb("gzip", "gzip"),
        "/long-redirect": redirect("/" + "x" * 3000),
        "/slow-redirect": slow_redirect,
        "/unpacked": fixed(packed(b"<p>unpacked", "gzip", "br"), Content_Encoding="gzip, br"),
        "/chunked": fixed(b"3\r\n<p>\r\n5\r\nwhole\r\n0\r\n\r\n", Transfer_Encoding="chunked"),
    }
    good = ["/unpacked", "/good/1", "/good/2", "/chunked", "/nested-tags", "/contradictory"]
    with HostileServer(pages) as server:
        # Apart, so that on a busy machine only pages that are slow by themselves run out of time.
        slow = probe([server.url(path) for path in SLOW], {**LIMITED, "INCRAWL_PAGE_TIME": "2s"})
        rest = probe([server.url(path) for path in [*EXPECTED, *good] if path not in SLOW], LIMITED)
    stats = {
        name: slow.stats.get(name, 0) + rest.stats[name] for name in rest.stats if name.startswith("incrawl/")
    }
    peak = max(slow.peak_megabytes, rest.peak_megabytes)
    return server, Report(slow.outcomes | rest.outcomes, stats, peak, slow.log + rest.log)


@pytest.mark.parametrize(("path", "told"), EXPECTED.items())
def test_what_goes_over_a_limit_is_told_by_name(
    crawl: tuple[HostileServer, Report], path: str, told: str
) -> None:
    server, report = crawl
    assert told in report[server.url(path)].error


@pytest.mark.parametrize(
    "path", ["/good/1", "/good/2", "/unpacked", "/chunked", "/nested-tags", "/contradictory"]
)
def test_good_pages_come_through(crawl: tuple[HostileServer, Report], path: str) -> None:
    server, report = crawl
    assert report[server.url(path)].status == 200
    assert "download_stopped" not in report[server.url(path)].flags


def test_unpacked_and_chunked_bodies_are_whole(crawl: tuple[HostileServer, Report]) -> None:
    server, report = crawl
    assert report[server.url("/unpacked")].body == "<p>unpacked"
    assert report[server.url("/chunked")].body == "<p>whole"


def test_the_time_of_all_redirects_counts(crawl: tuple[HostileServer, Report]) -> None:
    server, report = crawl
    error = report[server.url("/slow-redirect")].error
    assert error.startswith(("DownloadTimeoutError", "Refused: limits/page_time"))
    hops = [seen for seen in server.log if seen.path.startswith("/slow-redirect")]
    assert len(hops) <= 5  # 20 redirects were allowed; the time was over after 2 s of 0.4 s each


def test_memory_and_counts(crawl: tuple[HostileServer, Report]) -> None:
    _, report = crawl
    assert report.peak_megabytes < 384
    refused = [told for told in EXPECTED.values() if told.startswith("limits/")]
    for name in set(refused):
        assert report.stats[f"incrawl/{name}"] == refused.count(name)
    assert report.stats["incrawl/limits/broken_encoding"] == 4


def test_a_host_that_has_used_up_its_time_rests_for_the_day(state_dir: Path) -> None:
    pages = many_pages(10, delay=0.3)
    with Site(pages) as site:
        crawl = Crawl(
            state_dir, INCRAWL_SITE_TIME="0.8s", INCRAWL_HOST_INTERVAL="0.01s", INCRAWL_MAX_WAIT="0.1s"
        )
        done = crawl.run(urls=site.url("/"))
        assert done.code == 0, done.log
        assert 2 <= len(site.paths()) <= 5
        assert done.stats["incrawl/limits/site_time"] >= 1
        assert crawl.counts().known == 11

"""Sitemaps and feeds: what they name, what is left of broken ones, and when their dates are believed."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrawl.core.lastmod import Claims, is_news
from incrawl.core.sitemaps import MAX_BYTES, MAX_ENTRIES, Kind, Sitemap, read_date, read_sitemap

BASE = "https://a.test/sitemap.xml"
SCHEMA = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urls(sitemap: Sitemap | None) -> list[str]:
    assert sitemap is not None
    return [entry.url for entry in sitemap.entries]


def test_a_sitemap_names_pages_and_dates() -> None:
    body = f"""<?xml version="1.0" encoding="UTF-8"?>
    <!-- made by hand -->
    <urlset {SCHEMA} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
      <url><loc> https://a.test/1?a=1&amp;b=2 </loc><lastmod>2026-11-18</lastmod></url>
      <url><image:image><image:loc>https://a.test/p.png</image:loc></image:image><loc>/2</loc></url>
      <url><loc>https://a.test/3</loc><lastmod>yesterday</lastmod></url>
      <url><image:loc>https://a.test/q.png</image:loc></url>
      <url><loc>javascript:alert(1)</loc></url>
      <url/>
    </urlset>"""
    sitemap = read_sitemap(body.encode(), BASE)
    assert sitemap is not None
    assert (sitemap.kind, sitemap.whole) == (Kind.SITEMAP, True)
    assert urls(sitemap) == ["https://a.test/1?a=1&b=2", "https://a.test/2", "https://a.test/3"]
    assert [entry.changed for entry in sitemap.entries] == [1794960000.0, None, None]


def test_an_index_names_sitemaps() -> None:
    body = f"<sitemapindex {SCHEMA}><sitemap><loc>https://a.test/s1.xml.gz</loc></sitemap></sitemapindex>"
    sitemap = read_sitemap(gzip.compress(body.encode()), BASE)
    assert sitemap is not None
    assert sitemap.kind is Kind.INDEX
    assert urls(sitemap) == ["https://a.test/s1.xml.gz"]


@pytest.mark.parametrize(
    "body",
    [
        """<rss version="2.0"><channel><title>x</title><link>https://a.test/</link>
           <item><title>t</title><link>https://a.test/n1</link>
           <pubDate>Wed, 18 Nov 2026 00:00:00 GMT</pubDate></item></channel></rss>""",
        """<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/feed"/>
           <entry><link rel="enclosure" href="/x.mp3"/><link href="/n1"/>
           <published>2026-11-17T00:00:00Z</published><updated>2026-11-18T01:00:00+01:00</updated></entry></feed>""",
        """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
           xmlns:dc="http://purl.org/dc/elements/1.1/"><item><link>https://a.test/n1</link>
           <dc:date>2026-11-18</dc:date></item></rdf:RDF>""",
    ],
)
def test_feeds(body: str) -> None:
    feed = read_sitemap(body.encode(), BASE)
    assert feed is not None
    assert feed.kind is Kind.FEED
    assert [(entry.url, entry.changed) for entry in feed.entries] == [("https://a.test/n1", 1794960000.0)]


def test_a_plain_list() -> None:
    assert urls(read_sitemap(b"https://a.test/1\r\nhttps://a.test/2\nnonsense\n", BASE)) == [
        "https://a.test/1",
        "https://a.test/2",
    ]


@pytest.mark.parametrize(
    "body",
    [
        *(
            b"",
            b"just some words of text",
            b"<html><body>404</body></html>",
            b"<!doctype html><p>x",
            b"\x00\x01",
        ),
        *(b"<", b"\x1f\x8bnot gzip", b"<?xml version='1.0'?>", b"<xml><urlset/></xml>"),
    ],
)
def test_other_files_are_no_sitemaps(body: bytes) -> None:
    assert read_sitemap(body, BASE) is None


def test_broken_files_give_what_can_be_read() -> None:
    head = f"<urlset {SCHEMA}><url><loc>https://a.test/1</loc></url>"
    assert "https://a.test/1" in urls(read_sitemap(f"{head}<url><loc>https://a.t".encode(), BASE))
    assert urls(read_sitemap(f"{head}<url><loc>https://a.test/2?a&b</loc></url></urlset>".encode(), BASE))[0]
    assert urls(read_sitemap(f"{head}</wrong><url><loc>https://a.test/2</loc></url>".encode(), BASE))[0]
    assert urls(read_sitemap(f"\ufeff  {head}</urlset>".encode(), BASE)) == ["https://a.test/1"]


def test_no_entity_is_resolved(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("https://a.test/secret", encoding="utf-8")
    body = f"""<!DOCTYPE urlset [<!ENTITY file SYSTEM "{secret.as_uri()}"><!ENTITY own "https://a.test/own">]>
    <urlset {SCHEMA}><url><loc>&file;</loc></url><url><loc>&own;</loc></url>
    <url><loc>https://a.test/1</loc></url></urlset>"""
    assert urls(read_sitemap(body.encode(), BASE)) == ["https://a.test/1"]


def test_entities_do_not_multiply() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    body = f"""<!DOCTYPE urlset [<!ENTITY e0 "laugh">{levels}]>
    <urlset {SCHEMA}><url><loc>https://a.test/&e11;</loc></url><url><loc>https://a.test/1</loc></url></urlset>"""
    tracemalloc.start()
    sitemap = read_sitemap(body.encode(), BASE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
    assert sitemap is None or all(len(entry.url) < 100 for entry in sitemap.entries)


def test_size_and_number_are_bounded() -> None:
    many = "".join(f"<url><loc>https://a.test/{n}</loc></url>" for n in range(MAX_ENTRIES + 10))
    sitemap = read_sitemap(f"<urlset {SCHEMA}>{many}</urlset>".encode(), BASE)
    assert sitemap is not None
    assert (len(sitemap.entries), sitemap.whole) == (MAX_ENTRIES, False)
    bomb = gzip.compress(b" " * (MAX_BYTES + 1), 1)
    assert read_sitemap(bomb, BASE) is None


def test_deep_nesting_is_no_error() -> None:
    assert read_sitemap(f"<urlset {SCHEMA}>".encode() + b"<a>" * 100_000, BASE) is not None


@given(st.binary(max_size=200))
def test_no_bytes_are_an_error(tail: bytes) -> None:
    read_sitemap(tail, BASE)
    read_sitemap(b"<urlset><url><loc>" + tail, BASE)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970", 0.0),
        ("1970-02", 31 * 86400.0),
        ("1970-01-02", 86400.0),
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T01:00:10+01:00", 10.0),
        ("1970-01-01T00:00:10.5Z", 10.5),
        ("1970-01-01 00:00:10", 10.0),
        ("Thu, 01 Jan 1970 00:00:10 +0000", 10.0),
        ("", None),
        ("0000-00-00", None),
        ("9999999", None),
        ("2026-13-45", None),
        ("soon", None),
    ],
)
def test_dates(text: str, seconds: float | None) -> None:
    assert read_date(text) == seconds


def test_a_liar_loses_its_say_and_may_win_it_back() -> None:
    claims = Claims()
    for _ in range(4):
        claims = claims.after(changed=False)
        assert claims.believed
    claims = claims.after(changed=False)
    assert not claims.believed
    for _ in range(50):
        claims = claims.after(changed=False)
    honest = 0
    while not claims.believed:
        claims = claims.after(changed=True)
        honest += 1
    assert honest < 30
    assert Claims.unpack(claims.pack()) == claims
    assert Claims.unpack(b"garbage") == Claims() == Claims.unpack(None)


@pytest.mark.parametrize(
    ("changed", "last_crawl", "news"),
    [
        (150.0, 100.0, True),
        (100.0, 100.0, False),
        (250.0, 100.0, False),
        (None, 100.0, False),
        (150.0, None, False),
    ],
)
def test_only_dates_between_last_visit_and_now_claim_a_change(
    changed: float | None, last_crawl: float | None, news: bool
) -> None:
    assert is_news(changed, last_crawl, now=200.0) is news

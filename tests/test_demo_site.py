"""The demo site does what its plan says, and its account of it is true."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable

import pytest

from incrawl.demo.loopback import Answer
from incrawl.demo.pages import PAGES, Change, DemoPage
from incrawl.demo.site import DemoSite

ROUNDS = 12


def fetch(url: str, etag: str = "") -> tuple[int, str, str]:
    """Status, body and ETag."""
    request = urllib.request.Request(url, headers={"If-None-Match": etag} if etag else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode(), response.headers.get("ETag", "")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers.get("ETag", "")


def page_with(change: Change) -> DemoPage:
    return next(page for page in PAGES if page.change is change and not page.hidden)


def test_it_has_pages_of_every_kind_on_several_hosts(demo_site: DemoSite) -> None:
    assert 40 <= len(PAGES) <= 50
    assert {page.change for page in PAGES} == set(Change)
    assert len(set(demo_site.base.values())) == 3
    assert all(url.startswith("http://127.0.0.") for url in demo_site.base.values())
    assert len({demo_site.url(page) for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", [page for page in PAGES if not page.delay], ids=lambda page: page.path)
def test_bytes_differ_exactly_where_versions_do(page: DemoPage, demo_site: DemoSite) -> None:
    """Also between versions that are far apart: a page that swings back would make the account a lie."""
    bodies: dict[int, str] = {}
    for _ in range(ROUNDS):
        status, body, _ = fetch(demo_site.url(page))
        version = demo_site.version(page, demo_site.round)
        if status == 200 and page.change is not Change.NOISE:
            assert bodies.setdefault(version, body) == body
        demo_site.advance()
    assert len(set(bodies.values())) == len(bodies)


def test_noise_differs_at_every_request_but_is_no_change(demo_site: DemoSite) -> None:
    url = demo_site.url(page_with(Change.NOISE))
    assert fetch(url)[1] != fetch(url)[1]
    assert demo_site.found_changes()[url] == []


def test_the_account_tells_what_was_served(demo_site: DemoSite) -> None:
    text, style = (demo_site.url(page_with(change)) for change in (Change.TEXT, Change.STYLE))
    for url in (text, style):
        fetch(url)
    demo_site.round = 8
    for url in (text, text, style):
        fetch(url)
    assert demo_site.found_changes() == {text: [{"content"}], style: [{"presentation"}]}
    truth = json.loads(fetch(demo_site.base["news"] + "/truth.json")[1])
    assert truth["round"] == 8
    told = {page["url"]: page for page in truth["pages"]}
    assert [fetched["round"] for fetched in told[text]["fetches"]] == [0, 8, 8]
    assert told[text]["changes"] == [["content"]]


def test_a_copy_is_up_to_date_until_the_page_changes(demo_site: DemoSite) -> None:
    for change in (Change.NEVER, Change.STYLE, Change.REWRITE):
        fetch(demo_site.url(page_with(change)))
    assert demo_site.up_to_date() == 3
    demo_site.advance()
    assert demo_site.up_to_date() == 2
    demo_site.advance()
    assert demo_site.up_to_date() == 1


def test_pages_appear_and_go(demo_site: DemoSite) -> None:
    gone = next(page for page in PAGES if page.gone_status == 410)
    coming = next(page for page in PAGES if page.appears)
    assert (fetch(demo_site.url(gone))[0], fetch(demo_site.url(coming))[0]) == (200, 404)
    assert coming.path not in fetch(demo_site.base[coming.site] + "/")[1]
    demo_site.round = 9
    assert (fetch(demo_site.url(gone))[0], fetch(demo_site.url(coming))[0]) == (410, 200)
    assert coming.path in fetch(demo_site.base[coming.site] + "/")[1]


def test_validators_robots_and_sitemap(demo_site: DemoSite) -> None:
    page = next(page for page in PAGES if page.etag)
    status, _, etag = fetch(demo_site.url(page))
    assert (status, bool(etag)) == (200, True)
    assert fetch(demo_site.url(page), etag)[:2] == (304, "")
    assert "Disallow: /private/" in fetch(demo_site.base["news"] + "/robots.txt")[1]
    sitemap = fetch(demo_site.base["blog"] + "/sitemap.xml")[1]
    assert demo_site.base["blog"] + "/post/1.html" in sitemap
    assert fetch(demo_site.base["blog"] + "/nowhere")[0] == 404


def test_same_seed_same_pages(demo_site: DemoSite) -> None:
    with DemoSite() as twin, DemoSite(seed=2) as stranger:
        body = fetch(demo_site.base["archive"] + "/record/1.html")[1]
        assert fetch(twin.base["archive"] + "/record/1.html")[1] == body
        assert fetch(stranger.base["archive"] + "/record/1.html")[1] != body


def test_any_function_can_be_served(serve: Callable[..., str]) -> None:
    url = serve(lambda path, etag: Answer(200, f"<p>{path}</p>"))
    assert fetch(url + "/a/b")[:2] == (200, "<p>/a/b</p>")


@pytest.mark.parametrize("change", [Change.LINKS, Change.STYLE, Change.SCRIPT])
def test_what_would_be_taken_for_a_token_settles_after_two_changes(change: Change) -> None:
    """At the third visit in a row that differs in them, a crawler no longer calls it a change."""
    for page in (page for page in PAGES if page.change is change):
        assert {page.version(number) for number in range(100)} == {0, 1, 2}

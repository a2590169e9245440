"""The normal form: what differs between any two fetches and means nothing."""

from __future__ import annotations

import pytest

from incrawl.core.changes import Analysis, analyse, compare
from incrawl.core.changes.noise import is_token

TOKEN, OTHER = "a3f09c77d1e84b2a9c3e5f7788990011", "0c1d2e3f405162738495a6b7c8d9e0f1"
URL = "https://example.com/shop/"


def seen(body: str) -> Analysis:
    return analyse(f"<html><head>{body}</head><body><p>Hello</p></body></html>".encode(), url=URL)


@pytest.mark.parametrize(
    "template",
    [
        '<meta name="csrf-token" content="{}">',
        '<meta property="article:modified_time" content="{}">',
        '<form><input type="hidden" name="authenticity_token" value="{}"></form>',
        '<input type=hidden name=__VIEWSTATE value="/wEPDwUK{}==">',
        '<script nonce="{}">go()</script>',
        "<script>window.csrfToken = '{}'; go()</script>",
        '<script>var config = {{"sessionId": "{}", "a": 1}}</script>',
        '<script>track("{}")</script>',
        '<script type="application/ld+json">{{"dateModified": "{}"}}</script>',
        '<script src="/app.js?v={}"></script>',
        '<script src="/app.{}.js"></script>',
        '<link rel=stylesheet href="/style.css?ver={}">',
        '<link rel=preload href="/x-{}.woff2">',
        '<img src="/logo.png?_={}">',
        '<a href="/page;jsessionid={}">x</a>',
        '<a href="/page?PHPSESSID={}&amp;a=1">x</a>',
        '<a href="/page?a=1&amp;_={}">x</a>',
        '<div data-request="{}">x</div>',
        '<div class="view js-view-dom-id-{}">x</div>',
        '<input id="edit-submit--{}" type=submit>',
        '<div id="block-{}">x</div>',
        '<div aria-controls="menu-{}">x</div>',
        '<a href="/cdn-cgi/l/email-protection#{}">mail</a>',
        '<a href="/page?fbclid={0}&amp;utm_source={0}">x</a>',
        '<div data-reactid="{0}" data-cfemail="{0}">x</div>',
        '<script src="/_next/static/{}/main.js"></script>',
        '<img src="/a.jpg?X-Amz-Date={0}&amp;X-Amz-Signature={0}">',
        '<img srcset="/a.png?v={0} 1x, /b.png?v={0} 2x">',
        '<time datetime="{}">May</time>',
        '<meta name="generated-at" content="{}">',
        "<!-- {} -->",
    ],
)
def test_tokens_are_noise(template: str) -> None:
    old, new = seen(template.format(TOKEN)), seen(template.format(OTHER))
    assert not compare(old.signatures, new.signatures).changed
    assert old.signatures.digest == new.signatures.digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<a href="/page?v=abc">x</a>', '<a href="/page?v=xyz">x</a>'),
        ('<a href="/page?id=1">x</a>', '<a href="/page?id=2">x</a>'),
        ('<img src="/photo.php?id=1">', '<img src="/photo.php?id=2">'),
        ('<img src="/one.png">', '<img src="/two.png">'),
        ('<img srcset="/one.png 1x, /b.png 2x">', '<img srcset="/two.png 1x, /b.png 2x">'),
        ("<script>go(1)</script>", "<script>go(2)</script>"),
        ('<div class="card big">x</div>', '<div class="card small">x</div>'),
        ('<div id="main">x</div>', '<div id="side">x</div>'),
        ("<script src=/a.js></script>", "<script src=/b.js></script>"),
        ('<input type="text" value="one">', '<input type="text" value="two">'),
        ("<p>Flight 12 at 10:30</p>", "<p>Flight 12 at 10:45</p>"),
    ],
)
def test_what_means_something_is_no_noise(old: str, new: str) -> None:
    assert compare(seen(old).signatures, seen(new).signatures).changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<div id="ember1021">x</div>', '<div id="ember987">x</div>'),
        ("<template><b id=x lang=en>y</b></template>", "<template><b lang=en id=x> y</b></template>"),
        ('<label for=":R1ab:">x</label>', '<label for=":R7cd:">x</label>'),
        ('<div class="sc-bdvvtQ">x</div>', '<div class="sc-gsnTZi">x</div>'),
        ('<svg><use xlink:href="#clip-837"></svg>', '<svg><use xlink:href="#clip-192"></svg>'),
        ('<b style="clip-path:url(#c83)">x</b>', '<b style="clip-path:url(#c19)">x</b>'),
        ('<div class="css-1q2w3e box">x</div>', '<div class="css-9z8y7x box">x</div>'),
        ('<div class="Card_root__3xYz1">x</div>', '<div class="Card_root__8aBc2">x</div>'),
        ('<p id="edit-go--dXk3h2LmQ0w">x', '<p id="edit-go--aBc9Zz1yY8x">x'),
        (
            '<script>n={"queueTime":0,"applicationTime":153}</script>',
            '<script>n={"queueTime":3,"applicationTime":98}</script>',
        ),
        ('<script src="/W.axd?d=x1&amp;t=638">', '<script src="/W.axd?d=x1&amp;t=639">'),
        ('<div data-t="1718000000">x</div>', '<div data-t="1718000999">x</div>'),
        ('<a href="?a=1&amp;cb=123">x</a>', '<a href="?a=1&amp;cb=456">x</a>'),
    ],
)
def test_names_made_up_by_programs_are_noise(old: str, new: str) -> None:
    assert not compare(seen(old).signatures, seen(new).signatures).changed


def test_what_was_left_out_is_counted_and_can_be_listed() -> None:
    ignored = seen(
        '<input type=hidden name=t value=1><img src="/a.png?v=2"><div class="css-1a2b">x</div>'
    ).ignored
    assert ignored.counts == {"hidden field": 1, "version in address": 1, "generated class": 1}
    assert ignored.examples["hidden field"] == ["t=1"]


@pytest.mark.parametrize(
    ("text", "token"),
    [
        (TOKEN, True),
        ("123e4567-e89b-12d3-a456-426614174000", True),
        ("1718000000", True),
        ("1718000000123", True),
        ("dGhpcyBpcyBhIHRva2VuIDEyMzQ1Njc4", True),
        ("annual-report-2024-draft", False),
        ("https://example.com/2024/05/01/news", False),
        ("hello", False),
        ("2024-05-01", False),
        ("internationalization", False),
    ],
)
def test_tokens_are_told_from_words(text: str, token: bool) -> None:
    assert is_token(text) is token

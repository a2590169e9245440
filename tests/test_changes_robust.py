"""No page, however broken, deep or large, raises, hangs, or is read differently from one time to the next."""

from __future__ import annotations

import random
from urllib.parse import urljoin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from incrawl.core.changes import Signatures, Volatility, analyse, compare, judge
from incrawl.core.changes.endless import MOST_ATTRIBUTES, has_endless_tag
from incrawl.core.changes.links import Resolver
from incrawl.core.changes.places import Places

URL = "https://example.com/a/b"
TAGS = [
    "p",
    "div",
    "a",
    "b",
    "td",
    "table",
    "li",
    "ul",
    "script",
    "style",
    "h1",
    "br",
    "svg",
    "x-y",
    "title",
    "textarea",
    "iframe",
]
PIECES = [
    *[f"<{tag}>" for tag in TAGS], *[f"</{tag}>" for tag in TAGS], "<", ">", '"', "'", "&", "&amp;",
    "&#0;", "&#x110000;", "<!--", "-->", "<![CDATA[", "]]>", "<?", "=", "/>", "<!DOCTYPE html>",
    "<a href=", "<a href='/x?", '<p class="a b', "\0", "\x01", "\x1b[2J", "\u202e", "é", "日本",
    "\U0001f600", "\ud7ff", "text", " ", "\n", "12:30", "<p <=x>", '<a href="x""y=z">', "<a<b>",
    '<p a"b=c>', "<font size=7>", "<p style='font-size:999999em'>", "<base href='http://['>",
    "<p {a}\"='1'>", "<p a\x01\"b=1>", "<p \ufffe='",
    "<meta charset=utf-7>", "<svg:rect/>", "<frameset>", "<plaintext>", "<xmp>",
]  # fmt: skip
soup = some.lists(some.sampled_from(PIECES), max_size=60).map("".join)
pages = some.one_of(soup.map(lambda text: text.encode("utf-8", "surrogatepass")), some.binary(max_size=400))


@settings(max_examples=150, deadline=None)
@given(pages)
def test_any_bytes_are_analysed(body: bytes) -> None:
    seen = analyse(body, url=URL)
    assert len(seen.texts) == len(seen.paragraphs) == len(seen.signatures)
    assert all(text.strip() == text and text for text in seen.texts)
    assert Signatures.unpack(seen.signatures.pack()) == seen.signatures
    assert analyse(body, url=URL).signatures == seen.signatures
    assert isinstance(seen.links, tuple)


@settings(max_examples=100, deadline=None)
@given(pages, pages)
def test_any_two_pages_are_compared(old: bytes, new: bytes) -> None:
    before, after = analyse(old, url=URL).signatures, analyse(new, url=URL).signatures
    verdict = compare(before, after)
    assert verdict.changed == (before.digest != after.digest)
    assert 0 <= verdict.share <= 1
    assert (verdict.size == "none") == (not verdict.changed)
    assert verdict.to_dict()["changed"] == verdict.changed
    assert not compare(after, after).changed
    judge(before, after, elapsed=60, volatility=Volatility())


@settings(max_examples=100, deadline=None)
@given(some.lists(some.text(alphabet="abc ", min_size=1, max_size=4), max_size=12), some.randoms())
def test_every_paragraph_is_accounted_for(texts: list[str], chance: random.Random) -> None:
    """From the changes alone the new list of paragraphs can be told from the old one."""
    shuffled = [chance.choice(texts) for _ in texts if chance.random() < 0.8] if texts else []
    old, new = (
        analyse("".join(f"<p>{text}" for text in page).encode(), url=URL) for page in (texts, shuffled)
    )
    changes = compare(old.signatures, new.signatures).paragraphs
    gone = {change.old for change in changes if change.old is not None}
    come = {change.new for change in changes if change.new is not None}
    kept_old = [text for number, text in enumerate(old.texts) if number not in gone]
    kept_new = [text for number, text in enumerate(new.texts) if number not in come]
    assert kept_old == kept_new


@settings(max_examples=100, deadline=None)
@given(soup)
def test_places_name_one_element_each(body: str) -> None:
    tree = analyse(body.encode("utf-8", "surrogatepass"), url=URL).signatures.tree
    places = Places(tree).xpaths(range(len(tree)))
    assert len(set(places)) == len(places)


@given(some.text(alphabet="abc/.#=&%", max_size=20))
def test_short_cut_gives_what_urljoin_gives(target: str) -> None:
    resolved = Resolver(URL)(target)
    if resolved:
        assert resolved == urljoin(URL, target.partition("#")[0])


DEEP = 40_000
LAUGHS = b"<!ENTITY a0 'ha'>" + b"".join(
    b"<!ENTITY a%d '%s'>" % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 12)
)


@pytest.mark.parametrize(
    "body",
    [
        b"<div>" * DEEP,
        b"<div>" * DEEP + b"text" + b"</div>" * DEEP,
        b"<b>" * DEEP + b"</i>" * DEEP,
        b"<p><b><i>" * DEEP,
        b"<small>" * DEEP + b"x",
        b"<table><tr><td>" * (DEEP // 3) + b"x",
        b"<a href=x>" * DEEP,
        b"</p>" * DEEP,
        b"<" * DEEP,
        b"<a " * DEEP,
        b"<a b='" * DEEP,
        b"<!--" * DEEP,
        b"<script>" * DEEP,
        b"&" * DEEP,
        b"x" * 10 * DEEP,
        b" " * 10 * DEEP,
        b"<p>x" * DEEP,
        b"text<br>" * DEEP,
        b"<x-1>" + b"".join(b"<x-%d>" % number for number in range(30_000)),
        b"<p " + b" ".join(b"a%d=b" % number for number in range(20_000)) + b">x",
        b"<p " + b" ".join(b"a%d" % number for number in range(20_000)) + b">x",
        b"<p " + b"".join(b"a%d='<b>'" % number for number in range(20_000)) + b">x",
        b"<p style='" + b"font:" * DEEP + b"'>x",
        b"<p class='" + b"a1 " * DEEP + b"'>x",
        b"<?xml version='1.0'?>" + b"<r>" * DEEP,
        b"<?xml version='1.0'?><!DOCTYPE r [" + LAUGHS + b"]><r b='&a11;'>&a11;</r>",
        b"<script>nonce=" + b"'nonce': 'x', " * (DEEP // 10) + b"</script>",
        b"<p>" + b"1234567890 " * DEEP,
    ],
    ids=lambda body: repr(body[:24]),
)  # fmt: skip
def test_monsters_are_read(body: bytes) -> None:
    seen = analyse(body, url=URL)
    other = analyse(body + b"<p>more", url=URL)
    assert compare(seen.signatures, other.signatures).old is seen.signatures


def test_page_with_too_many_names_spoils_no_other() -> None:
    analyse(b"".join(b"<z-%d>" % number for number in range(70_000)), url=URL)
    feed = analyse(b"<?xml version='1.0'?><rss><channel><item>a</item></channel></rss>", url=URL)
    assert [paragraph.place for paragraph in feed.paragraphs] == ["/rss/channel/item"]


def test_text_below_200_000_tags_is_compared() -> None:
    deep = b"<div>" * 200_000 + b"%s" + b"</div>" * 200_000 + b"<p>%s</p>"
    old, below, after = (
        analyse(deep % words, url=URL).signatures for words in ((b"a", b"b"), (b"x", b"b"), (b"a", b"x"))
    )
    assert compare(old, below).kinds == compare(old, after).kinds == {"content"}


@pytest.mark.parametrize("before", [b"", b"<p>" * 5000, b"x" * 7000])
@pytest.mark.parametrize("behind", [b"", b"<p>" * 5000, b">"])
def test_a_tag_with_too_many_attributes_is_found_wherever_it_stands(before: bytes, behind: bytes) -> None:
    attributes = b" a" * (MOST_ATTRIBUTES + 1)
    assert has_endless_tag(before + b"<p" + attributes + b">" + behind)
    assert not has_endless_tag(before + b"<p" + attributes[:-8] + b">" + behind)

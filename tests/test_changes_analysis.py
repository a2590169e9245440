"""What one look at a page tells: links, title, head, encodings, and signatures that can be stored."""

from __future__ import annotations

import pytest

from incrawl.core.changes import Signatures, SignaturesError, analyse, body_hash
from incrawl.core.changes.links import MAX_LINKS

URL = "https://example.com/a/page.html?x=1"


def links(body: str, url: str = URL) -> tuple[str, ...]:
    return analyse(body.encode(), url=url).links


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("<a href=b>", "https://example.com/a/b"),
        ("<a href='/b c'>", "https://example.com/b c"),
        ("<a href='../b/./c'>", "https://example.com/b/c"),
        ("<a href='?q=1&amp;r=2'>", "https://example.com/a/page.html?q=1&r=2"),
        ("<a href='//other.org/x'>", "https://other.org/x"),
        ("<a href='HTTP://Other.org/x'>", "HTTP://Other.org/x"),
        ("<a href=' /b\n#top '>", "https://example.com/b"),
        ("<area href=/map>", "https://example.com/map"),
        ("<iframe src=/frame></iframe>", "https://example.com/frame"),
        ("<frameset><frame src=/left></frameset>", "https://example.com/left"),
        ("<base href='http://b.org/x/'><a href=y>", "http://b.org/x/y"),
        ("<base href='/z/'><a href=y>", "https://example.com/z/y"),
        ("<svg><a href='/in-svg'></a></svg>", "https://example.com/in-svg"),
    ],
)
def test_links_are_absolute(written: str, found: str) -> None:
    assert links(written) == (found,)


@pytest.mark.parametrize(
    "written",
    [
        "<a href=#top>", "<a href=''>", "<a>", "<a href='javascript:go()'>",
        "<a href='mailto:a@b.org'>",
        "<a href='ftp://x.org/'>",
        "<a href='http://'>", "<a href='http://[bad/'>", "<a href='http://x:99999999/'>",
        "<link href=/x>", "<img src=/x>",
        "<a href='" + "x" * 3000 + "'>", "<form action=/x>", "<template><a href=/x></template>",
    ],
)  # fmt: skip
def test_what_is_no_link_for_a_crawler(written: str) -> None:
    assert links(written) == ()


def test_links_have_their_order_and_no_duplicates() -> None:
    assert links("<a href=/b><a href=/a><a href=/b#x>") == ("https://example.com/b", "https://example.com/a")


def test_links_not_to_be_followed_are_apart() -> None:
    seen = analyse(
        b"<a href=/a rel=nofollow><a href=/b rel='noopener NOFOLLOW'><a href=/c><a href=/b>", url=URL
    )
    assert seen.links == ("https://example.com/c", "https://example.com/b")
    assert seen.nofollow_links == ("https://example.com/a",)


def test_number_of_links_is_bounded() -> None:
    seen = analyse("".join(f"<a href=/{number}>" for number in range(MAX_LINKS + 7)).encode(), url=URL)
    assert (len(seen.links), seen.links_left_out) == (MAX_LINKS, 7)


def test_head_is_read() -> None:
    head = """<title> A
      title </title><meta name=robots content="NoIndex, nofollow"><meta name=robots content=noarchive>
      <link rel=canonical href=/c><link rel=alternate type="application/rss+xml" href=feed.xml>
      <link rel=alternate hreflang=de href=/de>"""
    seen = analyse(head.encode(), url=URL)
    assert seen.title == "A title"
    assert seen.robots == ("noindex", "nofollow", "noarchive")
    assert seen.canonical == "https://example.com/c"
    assert seen.feeds == ("https://example.com/a/feed.xml",)


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        ("<p>Grüße – ☃".encode(), None),
        ("<p>Grüße – ☃".encode(), "utf-8"),
        ("\ufeff<p>Grüße – ☃".encode(), "latin-1"),
        ("<p>Grüße – ☃".encode("utf-16"), None),
        ("<meta charset=utf-8><p>Grüße – ☃".encode(), None),
        ("<p>Grüße – ☃".encode("utf-16-le"), "utf-16-le"),
    ],
)
def test_encodings(body: bytes, encoding: str | None) -> None:
    assert analyse(body, url=URL, encoding=encoding).texts == ("Grüße – ☃",)


def test_declared_and_guessed_encodings() -> None:
    assert analyse("<meta charset=windows-1251><p>Привет".encode("cp1251"), url=URL).texts == ("Привет",)
    assert analyse(
        "<?xml version='1.0' encoding='iso-8859-1'?><r>é</r>".encode("latin-1"), url=URL
    ).texts == ("é",)
    assert analyse("<p>caf\xe9".encode("latin-1"), url=URL).texts == ("café",)
    assert analyse(b"<p>broken \xff\xfe here", url=URL, encoding="utf-8").texts == (
        "broken \ufffd\ufffd here",
    )


def test_text_is_what_a_reader_sees() -> None:
    body = """<title>T</title><script>no</script><style>no</style><template>no</template>
      <noscript>yes</noscript>
      <p>one<br>two <b>three</b><i>four</i></p><table><tr><td>a<td>b</table><textarea>c <b></textarea>
      <select><option>d<option>e</select><p>&lt;tag&gt; &amp;amp; x&nbsp;y</p><iframe>no</iframe>
      <p>  </p><p>&nbsp;</p>"""
    texts = analyse(body.encode(), url=URL).texts
    assert texts == ("T", "yes", "one two threefour", "a", "b", "c <b>", "d", "e", "<tag> &amp; x y")


def test_loose_text_belongs_to_the_block_around_it() -> None:
    seen = analyse(b"<div>one<p>two</p>three<!-- -->four</div>five", url=URL)
    assert [(p.text, p.place, p.level) for p in seen.paragraphs] == [
        ("one", "/html/body/div", 3),
        ("two", "/html/body/div/p", 4),
        ("threefour", "/html/body/div", 3),
        ("five", "/html/body", 2),
    ]


def test_signatures_survive_storage() -> None:
    signatures = analyse(b"<x-a><p>one</p><b>two</b><a href=/x>three</a></x-a>", url=URL).signatures
    assert Signatures.unpack(signatures.pack()) == signatures


@pytest.mark.parametrize("packed", [b"", b"\x00", b"junk", b"\x91\x63", b"\x92\x01\x02"])
def test_what_is_no_signatures_is_refused(packed: bytes) -> None:
    with pytest.raises(SignaturesError):
        Signatures.unpack(packed)


def test_signatures_of_another_schema_are_refused() -> None:
    packed = bytearray(analyse(b"<p>x", url=URL).signatures.pack())
    packed[3] = 99  # the schema, after the head of an array of 16 bits
    with pytest.raises(SignaturesError, match="schema 99"):
        Signatures.unpack(bytes(packed))


def test_cut_signatures_are_refused() -> None:
    packed = analyse(b"<p>x", url=URL).signatures.pack()
    with pytest.raises(SignaturesError):
        Signatures.unpack(packed[:-5])


def test_equal_bytes_have_equal_hashes() -> None:
    assert body_hash(b"a") == body_hash(b"a") == analyse(b"a", url=URL).signatures.body_hash
    assert body_hash(b"a") != body_hash(b"b")


def test_digest_does_not_depend_on_the_process() -> None:
    """The record's fingerprint key is compared with what another process made, perhaps weeks ago."""
    body = (
        b'<x-card class="b a" data-x=1 onclick=f()><p id=n7>Text 12</p><a href=/l?a=1>Link</a></x-card>'
        b"<y-card>z</y-card>"
    )
    signatures = analyse(body, url="http://x.org/").signatures
    assert signatures.digest.hex() == "64d4cfe5aa702ddc557cc62133debf31"

"""What a change is called, how big it is, and where it is said to be."""

from __future__ import annotations

import json

import pytest

from incrawl.core.changes import Change, Kind, Size, Verdict, analyse, compare

PAGE = """<html lang=en><head><title>Town</title><style>p { color: red }</style>
<script>start(1)</script></head>
<body class=wide><h1>News</h1>
<p id=first>The mayor resigns over the bridge.</p>
<p>The weather will be fair on Sunday, with some clouds in the north.</p>
<div><ul><li><a href="/a">One</a></li><li><a href="/b">Two</a></li></ul></div>
<p onclick="more()">Read on</p></body></html>"""

S, C, P, B = Kind.STRUCTURAL, Kind.CONTENT, Kind.PRESENTATION, Kind.BEHAVIOURAL


def verdict(old: str, new: str) -> Verdict:
    before, after = (analyse(page.encode(), url="http://x.org/d/").signatures for page in (old, new))
    return compare(before, after)


def changed(old: str, new: str) -> Verdict:
    assert old in PAGE
    return verdict(PAGE, PAGE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ("mayor resigns", "mayro resigns", {C}),  # letters that change places
        ("mayor", "Mayor", {C}),  # case
        ("<title>Town", "<title>City", {C}),
        ("<h1>News</h1>", "<h2>News</h2>", {S}),
        ('href="/a"', 'href="/c"', {S}),  # a link that leads elsewhere
        ('href="/a"', 'href="/a#top"', {S}),
        ("class=wide", "class=narrow", {P}),
        ("<body class=wide>", "<body class=wide bgcolor=red>", {P}),
        ("<p id=first>", '<p id=first style="color:red">', {P}),
        ("color: red", "color: blue", {P}),
        ("start(1)", "start(2)", {B}),
        ('onclick="more()"', 'onclick="less()"', {B}),
        ("<script>start(1)</script>", '<script src="/a.js"></script>', {B}),
        ("<h1>", "<h1 data-count=3>", {B}),
        ("<li><a href", "<li><b></b><a href", {S}),
        ("over the bridge", "over the <b>bridge</b>", {S}),
        ("resigns over", "stays for", {C}),
        ("<p>The weather", "<p>New.</p><p>The weather", {C, S}),
        ('<li><a href="/b">Two</a></li>', "", {C, S}),
    ],
)
def test_kinds(old: str, new: str, kinds: set[Kind]) -> None:
    assert changed(old, new).kinds == kinds


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<h1>News</h1>", "<h1>News</h1>  \n\t "),
        ("mayor resigns", "mayor\n\n   resigns"),
        ("<h1>", "<!-- made in 0.02 s --><h1>"),
        ("The mayor", "The&nbsp;mayor"),
        ("bridge.", "bri&shy;dge."),
        ("mayor", "m&#97;yor"),
        ("<p id=first>", "<P ID=first >"),
        ("<p id=first>", '<p nonce="abc" id=first>'),
        ('href="/a"', "href='/a'"),
        ('href="/a"', 'href="http://x.org/a"'),
        ("class=wide", 'class="wide  wide"'),
        ("<html lang=en>", "<!DOCTYPE html><html lang=en>"),
        ("</body></html>", ""),
    ],
)
def test_nothing_that_shows(old: str, new: str) -> None:
    assert not changed(old, new).changed


def test_reordered_paragraphs_are_moved_not_new() -> None:
    first, second = PAGE.splitlines()[3:5]
    seen = verdict(
        PAGE,
        PAGE.replace(
            f"{first}\n{second}", f"{second.replace('<p>', '<p id=first>')}\n{first.replace(' id=first', '')}"
        ),
    )
    assert seen.kinds == {C}
    assert [paragraph.change for paragraph in seen.paragraphs] == [Change.MOVED]


def test_paragraph_that_moved_and_changed_in_digits_is_the_same_one() -> None:
    old = "<p>Weather: fair, 12 degrees</p><p>The library is open from nine to five.</p>"
    new = "<p>The library is open from nine to six.</p><p>Weather: fair, 14 degrees</p>"
    pairs = [(change.old, change.new) for change in verdict(old, new).paragraphs]
    assert sorted(pairs) == [(0, 1), (1, 0)]


def test_changed_paragraph_has_its_place_and_sums() -> None:
    (paragraph,) = changed("resigns", "stays").paragraphs
    assert (paragraph.change, paragraph.place) == (Change.CHANGED, "/html/body/p[1]")
    assert paragraph.old_rms != paragraph.new_rms
    assert paragraph.old_checksum != paragraph.new_checksum


def test_one_word_is_minor_and_a_new_story_major() -> None:
    assert changed("resigns", "retires").size is Size.MINOR
    story = "<p>" + "A long new story about the harbour and its ships. " * 5 + "</p><p>The weather"
    assert changed("<p>The weather", story).size is Size.MAJOR
    assert 0 < changed("resigns", "retires").share < 0.2 < changed("<p>The weather", story).share <= 1


def test_leaf_is_minor_and_subtree_major() -> None:
    leaf, subtree = changed("</ul>", "<li></li></ul>"), changed("</ul>", "<li><b><i></i></b></li></ul>")
    assert (leaf.size, leaf.levels, leaf.subtree) == (Size.MINOR, (5,), "/html/body/div/ul")
    assert (subtree.size, subtree.levels, subtree.subtree) == (Size.MAJOR, (5, 6, 7), "/html/body/div/ul")


def test_first_child_of_a_leaf_is_a_leaf_that_came() -> None:
    assert changed("over the bridge", "over <b>the</b> bridge").size is Size.MINOR


def test_heading_weighs_more_than_text() -> None:
    old = "<p>Aaaa</p><{0}>Bbbb</{0}><p>" + "Filler " * 20
    shares = [verdict(old.format(tag), old.format(tag).replace("Bbbb", "Cdef")).share for tag in ("p", "h1")]
    assert shares[0] < shares[1]


def test_inline_font_size_weighs_in() -> None:
    plain, large = (
        analyse(body, url="").signatures.checksum for body in (b"<p>Text", b'<p style="font-size:24pt">Text')
    )
    assert large == pytest.approx(2 * plain)


def test_same_text_divided_otherwise_is_presentation() -> None:
    assert verdict("<p>a <b>b c</b> d", "<p>a <b>b</b> c d").kinds == {P}
    assert verdict("<p>a <b>b </b>c", "<p>a <b>b</b> c").kinds == set()


def test_verdict_is_json() -> None:
    told = json.loads(json.dumps(changed("resigns", "stays").to_dict()))
    assert (told["changed"], told["kinds"], told["size"]) == (True, ["content"], "minor")
    assert told["paragraphs"][0]["place"] == "/html/body/p[1]"
    assert told["old"]["rms"] != told["new"]["rms"]


def test_documents_without_text_are_compared_by_their_bytes() -> None:
    assert verdict("%PDF-1.4 one", "%PDF-1.4 two").kinds == {C}


def test_plain_text_and_feeds_have_paragraphs() -> None:
    assert [p.place for p in verdict("one\n\ntwo", "one\n\nthree").paragraphs] == ["/html/body/p[2]"]
    feed = "<?xml version='1.0'?><rss><channel><item><title>{}</title></item></channel></rss>"
    assert [p.place for p in verdict(feed.format("a"), feed.format("b")).paragraphs] == [
        "/rss/channel/item/title"
    ]


def test_a_new_title_and_text_beyond_the_depth_of_the_parser_are_seen() -> None:
    deep = "<html><title>{}</title><body>" + "<div>" * 3000 + "deep {}" + "</div>" * 3000 + "<p>after {}</p>"
    old = deep.format("t", "x", "y")
    assert verdict(old, old).kinds == set()
    assert verdict(old, deep.format("t", "z", "y")).kinds == {C}
    assert verdict(old, deep.format("t", "x", "z")).kinds == {C}
    assert [p.change for p in verdict(old, deep.format("t", "x", "z")).paragraphs] == [Change.CHANGED]

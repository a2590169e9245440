"""robots.txt by RFC 9309: the examples of the RFC and of its drafts, and where the RFC and others differ."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from incrawl.core.robots import ALLOW_ALL, LIFETIME, MAX_BYTES, Robots, parse_robots, robots_from
from incrawl.core.robots_tags import RobotsTags, robots_tags


def allowed(text: str | bytes, path: str, agent: str = "FooBot") -> bool:
    body = text.encode() if isinstance(text, str) else text
    return parse_robots(body, agent).allows(f"http://foo.test{path}")


def for_foobot(*rules: str) -> str:
    return "\n".join(("user-agent: FooBot", *rules))


GROUPS = """
allow: /before/any/group/
user-agent: FooBot
disallow: /
allow: /x/
user-agent: BarBot
disallow: /
allow: /y/

allow: /w/
user-agent: BazBot

user-agent: FooBot
allow: /z/
disallow: /
"""


@pytest.mark.parametrize(
    ("agent", "path", "expected"),
    [
        ("FooBot", "/x/b", True),
        ("FooBot", "/z/d", True),
        ("FooBot", "/y/c", False),
        ("BarBot", "/y/c", True),
        ("BarBot", "/w/a", True),
        ("BarBot", "/z/d", False),
        ("BazBot", "/z/d", True),
        ("BazBot", "/x/b", False),
        ("QuxBot", "/anything", True),
        ("FooBot", "/before/any/group/", False),
        ("FooBot", "/robots.txt", True),
    ],
)
def test_groups_of_one_agent_are_joined(agent: str, path: str, expected: bool) -> None:
    assert allowed(GROUPS, path, agent) is expected


@pytest.mark.parametrize(
    ("line", "applies"),
    [
        ("FooBot", True),
        ("foobot", True),
        ("FOOBOT", True),
        ("FooBot/2.1", True),
        ("FooBot 2.1 (beta)", True),
        ("foobot*", True),
        # The RFC matches whole product tokens; Protego takes a part at a boundary for a match.
        ("Foo", False),
        ("FooBot-News", False),
        ("Bot", False),
        ("", False),
    ],
)
def test_the_whole_product_token_must_match(line: str, applies: bool) -> None:
    text = f"user-agent: {line}\ndisallow: /a\n\nuser-agent: *\ndisallow: /b"
    assert allowed(text, "/a") is not applies
    assert allowed(text, "/b") is applies


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        # the longest pattern decides, allow where both are as long
        (("disallow: /x/page.html", "allow: /x/"), "/x/page.html", False),
        (("allow: /x/page.html", "disallow: /x/"), "/x/page.html", True),
        (("allow: /x/page.html", "disallow: /x/"), "/x/", False),
        (("disallow:", "allow:"), "/x", True),
        (("disallow: /", "allow: /"), "/x", True),
        (("disallow: /x", "allow: /x/"), "/x", False),
        (("disallow: /x", "allow: /x/"), "/x/", True),
        (("allow: /page", "disallow: /*.html"), "/page.html", False),
        (("allow: /page", "disallow: /*.html"), "/page", True),
        (("allow: /x/page.", "disallow: /*.html"), "/x/page.html", True),
        (("allow: /$", "disallow: /"), "/", True),
        (("allow: /$", "disallow: /"), "/page.html", False),
        # case
        (("disallow: /x/",), "/X/y", True),
        (("DISALLOW: /x/",), "/x/y", False),
        # wildcards and the end
        (("disallow: /", "allow: /fish"), "/fish.html?id=1", True),
        (("disallow: /", "allow: /fish"), "/catfish", False),
        (("disallow: /", "allow: /fish*"), "/fishheads/yummy", True),
        (("disallow: /", "allow: /fish/"), "/fish", False),
        (("disallow: /", "allow: /*.php"), "/index?f=name.php/", True),
        (("disallow: /", "allow: /*.php"), "/windows.PHP", False),
        (("disallow: /", "allow: /*.php$"), "/folder/name.php", True),
        (("disallow: /", "allow: /*.php$"), "/name.php?x", False),
        (("disallow: /", "allow: /fish*.php"), "/fishheads/catfish.php?x", True),
        (("disallow: /foo/*/end$",), "/foo/a/b/end", False),
        (("disallow: /foo/*/end$",), "/foo/end", True),
        (("disallow: *m",), "/foo.htm", False),
        (("disallow: *m",), "/foo", True),
        (("disallow: *****/****.js",), "/a/b.js", False),
        (("disallow: /a$b",), "/a$b", False),
        (("disallow: /a$b",), "/a", True),
        (("disallow: /a%24$",), "/a$", False),
        (("disallow: /a%2A",), "/a*", False),
        (("disallow: /a%2A",), "/axx", True),
        (("disallow: foo",), "/foo", True),
        # a query
        (("disallow: /?",), "/?q", False),
        (("disallow: /?",), "/", True),
        (("disallow: /path;params?query",), "/path;params?query#fragment", False),
        # percent-encoding
        (("disallow: /", "allow: /foo/bar/ツ"), "/foo/bar/%E3%83%84", True),
        (("disallow: /", "allow: /foo/bar/%E3%83%84"), "/foo/bar/ツ", True),
        (("disallow: /", "allow: /foo/bar/%e3%83%84"), "/foo/bar/%E3%83%84", True),
        (("disallow: /", "allow: /foo/bar/%62%61%7A"), "/foo/bar/baz", True),
        (("disallow: /", "allow: /foo/bar/baz"), "/foo/bar/%62%61%7A", True),
        (("disallow: /", "allow: /a%3cd.html"), "/a<d.html", True),
        (("disallow: /", "allow: /a<d.html"), "/a%3Cd.html", True),
        (("disallow: /", "allow: /%7ejoe/"), "/~joe/", True),
        (("disallow: /", "allow: /a%2fb"), "/a/b", False),  # reserved: another octet
        (("disallow: /", "allow: /a/b"), "/a%2Fb", False),
        (("disallow: /q?a=b",), "/q?a=b", False),
        (("disallow: /100%",), "/100%", False),
        # a directory whose index page is allowed
        (("disallow: /", "allow: /d/index.html"), "/d/", True),
        (("disallow: /", "allow: /d/index.html"), "/d/index.htm", False),
        # comments, mistakes, unknown lines
        (("# disallow: /", "disallow: /foo#bar", "allow: /"), "/foo", False),
        (("disallow /",), "/x", False),
        (("dissalow: /two",), "/two", False),
        (("harry: potter", "disallow: /x"), "/x", False),
        (("just words", "disallow: /x"), "/x", False),
        (("disallow:/tight",), "/tight", False),
        (("  disallow  :  /loose  ",), "/loose", False),
    ],
)
def test_rules(rules: tuple[str, ...], path: str, expected: bool) -> None:
    assert allowed(for_foobot(*rules), path) is expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"\xef\xbb"])
def test_line_ends_and_byte_order_marks(end: str, mark: bytes) -> None:
    body = mark + end.join(("User-Agent: foobot", "", "Disallow: /x")).encode()
    assert not allowed(body, "/x")


def test_bytes_that_are_no_utf8_are_compared_as_octets() -> None:
    assert not allowed(b"user-agent: *\ndisallow: /\xe4", "/%E4")


def test_unknown_lines_do_not_end_a_group() -> None:
    # RFC 9309, 2.2.4: other records must not interfere. Protego ends the group at `Noindex`.
    text = "user-agent: FooBot\nnoindex: /x\nsitemap: http://s.test/\nuser-agent: BarBot\ndisallow: /a"
    assert not allowed(text, "/a", "FooBot")
    assert not allowed(text, "/a", "BarBot")


def test_crawl_delay_and_sitemaps() -> None:
    text = """
    Sitemap: https://a.test/one.xml
    User-agent: *
    Crawl-delay: 7
    Disallow: /x
    User-agent: FooBot
    Crawl-delay: 2.5
    Sitemap: https://a.test/two.xml
    User-agent: BadBot
    Crawl-delay: soon
    User-agent: SlowBot
    Crawl-delay: 1e99
    """
    body = text.encode()
    assert parse_robots(body, "foobot").crawl_delay == 2.5
    assert parse_robots(body, "otherbot").crawl_delay == 7
    assert parse_robots(body, "badbot").crawl_delay is None
    assert parse_robots(body, "slowbot").crawl_delay == 3600
    assert parse_robots(body, "x").sitemaps == ("https://a.test/one.xml", "https://a.test/two.xml")


def test_the_first_500_kib_count_and_a_cut_line_does_not() -> None:
    head = b"user-agent: *\ndisallow: /first\n"
    filler = b"# " + b"x" * (MAX_BYTES - len(head) - 2 - len("\ndisallow: /se"))
    body = head + filler + b"\ndisallow: /secret\ndisallow: /late\n"
    assert body[:MAX_BYTES].endswith(b"disallow: /se")
    assert not allowed(body, "/first")
    assert allowed(body, "/search")
    assert allowed(body, "/late")
    within = head + b"#" * (MAX_BYTES - len(head) - 20) + b"\ndisallow: /in\n"
    assert not allowed(within, "/in")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, False),
        (204, True),
        (301, True),
        (401, True),
        (403, True),
        (404, True),
        (410, True),
        (429, None),
        (500, None),
        (503, None),
        (599, None),
        (999, None),
        (101, None),
    ],
)
def test_what_an_answer_means(status: int, expected: bool | None) -> None:
    body = b"" if status == 204 else b"user-agent: *\ndisallow: /"
    robots = robots_from(status, body, "foobot")
    assert (robots.allows("http://a.test/x") if robots else None) is expected


def test_packed_and_unpacked() -> None:
    robots = parse_robots(
        "user-agent: *\nallow: /ä*b$\ndisallow: /\ncrawl-delay: 3\nsitemap: http://s".encode(), "x"
    )
    assert Robots.unpack(robots.pack()) == robots
    assert Robots.unpack(ALLOW_ALL.pack()) == ALLOW_ALL
    for foreign in (b"", b"{}", b"[2, [], null, []]", b"[1, [[]], null, []]", b"\xff", b"1"):
        assert Robots.unpack(foreign) is None
    assert LIFETIME == 86400


def test_many_wildcards_are_no_trap() -> None:
    assert allowed(for_foobot("disallow: /" + "*a" * 100_000 + "b"), "/" + "a" * 1900)
    assert allowed(for_foobot(*["disallow: /*?*&*=" + str(n) for n in range(20_000)]), "/x")


paths = st.text(alphabet="ab/.?é<~", max_size=6).map(lambda tail: "/" + tail)
patterns = st.text(alphabet="ab/.*?é<~", max_size=5).map(lambda tail: "/" + tail)
lines = st.tuples(st.sampled_from(["Allow", "Disallow"]), patterns, st.sampled_from(["", "$"])).map(
    lambda parts: f"{parts[0]}: {parts[1]}{parts[2]}"
)
agents = st.lists(st.sampled_from(["*", "foobot", "other"]), min_size=1, max_size=2, unique=True)
group = st.tuples(agents, st.lists(lines, min_size=1, max_size=4)).map(
    lambda parts: [*(f"User-agent: {name}" for name in parts[0]), *parts[1]]
)


@settings(max_examples=300, deadline=None)
@given(groups=st.lists(group, max_size=3), path=paths)
def test_agrees_with_protego_where_the_rfc_does(groups: list[list[str]], path: str) -> None:
    text = "\n".join(line for lines in groups for line in lines)
    url = f"http://foo.test{path}"
    assert parse_robots(text.encode(), "foobot").allows(url) is Protego.parse(text).can_fetch(url, "foobot")


@given(st.binary(max_size=300))
def test_no_file_is_an_error(body: bytes) -> None:
    parse_robots(body, "foobot").allows("http://a.test/x")


@pytest.mark.parametrize(
    ("headers", "metas", "noindex", "nofollow"),
    [
        ([], [], False, False),
        (["noindex"], [], True, False),
        (["NoIndex, NoFollow"], [], True, True),
        (["none"], [], True, True),
        (["otherbot: noindex"], [], False, False),
        (["incrawl: noindex"], [], True, False),
        (["otherbot: noindex, nofollow, incrawl: noarchive"], [], False, False),
        (["otherbot: noarchive", "nofollow"], [], False, True),
        (["unavailable_after: 25 Jun 2010 15:00:00 PST", "noindex"], [], True, False),
        (["max-snippet: 10, noindex"], [], True, False),
        ([], ["noindex", "follow"], True, False),
        ([], [" NOFOLLOW "], False, True),
        ([], ["none"], True, True),
        (["noarchive"], ["nosnippet"], False, False),
    ],
)
def test_tags_of_a_page(headers: list[str], metas: list[str], noindex: bool, nofollow: bool) -> None:
    assert robots_tags(headers, metas, "incrawl") == RobotsTags(noindex, nofollow)


def test_lines_without_a_colon_are_read_where_nothing_else_can_be_meant() -> None:
    """An empty User-agent line starts a group for nobody; a sentence with a colon in it is none of ours."""
    nobody = parse_robots(b"User-agent: incrawl\nDisallow: /x\nuser agent\nDisallow: /y", "incrawl")
    assert not nobody.allows("http://a.test/x") and nobody.allows("http://a.test/y")
    sentence = b"User-agent: *\nDisallow: /a\nUser-agent must match exactly: see there\nAllow: /a/b"
    assert parse_robots(sentence, "incrawl").allows("http://a.test/a/b")
    bare = parse_robots(
        b"user-agent *\ndisallow /a:b\nsitemap https://a.test/s.xml\nsitemap list: none", "incrawl"
    )
    assert not bare.allows("http://a.test/a:b") and bare.allows("http://a.test/a")
    assert bare.sitemaps == ("https://a.test/s.xml",)


def test_an_address_as_a_pattern_is_one_below_the_root() -> None:
    robots = parse_robots(b"User-agent: *\nDisallow: http://b.test/", "incrawl")
    assert not robots.allows("http://a.test/http://b.test/x")
    assert robots.allows("http://a.test/b.test/") and robots.allows("http://a.test/")

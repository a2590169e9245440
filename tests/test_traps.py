"""Generated traps and ordinary large sites are crawled, and pages wrongly cut are counted."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrawl.core.traps import TrapWatch, loop_in, text_blocks, without_session, words_of
from incrawl.core.traps.novelty import LEAST_LETTERS, NEW_LETTERS, Novelty, marks_of
from incrawl.core.traps.shapes import registered_domain, shapes_of
from incrawl.core.traps.watch import MAX_PATTERNS

Site = Callable[[str], tuple[str, list[str]]]  # the page at a URL: its HTML, its links

WORDS = [
    *("river", "stone", "apple", "winter", "market", "silver", "garden", "letter", "window", "bridge"),
    *("summer", "ocean", "paper", "candle", "forest", "dinner", "travel", "morning", "history", "science"),
    *(
        "village",
        "kitchen",
        "harbour",
        "mountain",
        "painter",
        "doctor",
        "engine",
        "planet",
        "theatre",
        "library",
    ),
]


def prose(seed: object, words: int = 40) -> str:
    """Text that is always the same for a seed, and another for another."""
    chance = random.Random(str(seed))
    return " ".join(chance.choice(WORDS) + chance.choice("abcdefgh") for _ in range(words))


def page(title: str, *paragraphs: str) -> str:
    menu = "<nav><a>Home</a><a>About this site and its makers</a><a>Contact and imprint</a></nav>"
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<html><script>var x = '{title}';</script>{menu}<h1>{title}</h1>{body}<p>All rights reserved"


def crawl(site: Site, start: str, limit: int) -> tuple[set[str], set[str], TrapWatch]:
    """Breadth first, as the crawler does it; returns the pages visited and the links refused."""
    watch = TrapWatch()
    queue, known, visited, refused = deque([start]), {start}, set[str](), set[str]()
    while queue and len(visited) < limit:
        url = queue.popleft()
        if watch.refusal(url) is not None:
            refused.add(url)
            continue
        html, links = site(url)
        visited.add(url)
        found = dict.fromkeys(without_session(urljoin(url, link)) for link in links)
        fresh = [link for link in found if link not in known]
        known.update(fresh)
        admitted = [link for link in fresh if watch.refusal(link) is None]
        queue.extend(admitted)
        refused.update(link for link in fresh if link not in set(admitted))
        watch.saw(url, text_blocks(html), admitted)
    return visited, refused, watch


def parameters(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


# --- traps ---------------------------------------------------------------------------------------


def calendar(url: str) -> tuple[str, list[str]]:
    month = int(parameters(url).get("month", "1"))
    name = ["January", "February", "March", "April", "May", "June"][month % 6]
    days = "".join(f"<td>{day}</td>" for day in range(31))
    return page(f"{name} {2000 + month // 12}", f"<table>{days}</table>", "No events this month"), [
        f"/calendar?month={month + 1}",
        f"/calendar?month={month - 1}",
        "/calendar?month=1",
    ]


def deep_calendar(url: str) -> tuple[str, list[str]]:
    *_, year, month, day = urlsplit(url).path.rsplit("/", 3)
    number = int(year) * 372 + int(month) * 31 + int(day)
    following = [number + 1, number + 31, number + 372]
    links = [f"/events/{each // 372}/{each // 31 % 12}/{each % 31}" for each in following]
    return page(f"Events on {day}.{month}.{year}", "There is nothing on this day."), links


def session_ids(url: str) -> tuple[str, list[str]]:
    chance = random.Random(url)
    fresh = "".join(chance.choices("0123456789abcdef", k=32))
    return page("Shop", prose("shop")), [f"/{name}?visitor={fresh}" for name in ("shop", "basket", "terms")]


def known_session_ids(url: str) -> tuple[str, list[str]]:
    chance = random.Random(url)
    path = urlsplit(url).path
    return page(path, prose(path)), [
        f"/{name}?PHPSESSID={chance.random()}" for name in ("shop", "basket", "terms")
    ]


def longer_paths(url: str) -> tuple[str, list[str]]:
    path = urlsplit(url).path.rstrip("/")
    return page("Here", prose("here")), [f"{path}/{word}/" for word in ("more", "next", "again")]


def repeated_segments(url: str) -> tuple[str, list[str]]:
    path = urlsplit(url).path.rstrip("/")
    return page(path, prose(path)), [f"{path}/a/b/", f"{path}/images/"]


def counter(url: str) -> tuple[str, list[str]]:
    time = int(parameters(url).get("time", "100"))
    return page(f"Status at {time}", "All systems are up and running."), [f"/status?time={time + 1}"]


def soft_404(url: str) -> tuple[str, list[str]]:
    chance = random.Random(url)
    path = urlsplit(url).path.rstrip("/")
    links = [f"{path}/{chance.choice(WORDS)}-{chance.choice(WORDS)}" for _ in range(5)]
    return page("Not found", "The page you asked for is not here, try one of these"), links


def wildcard_hosts(url: str) -> tuple[str, list[str]]:
    chance = random.Random(url)
    names = ["".join(chance.choices("abcdefghijklmnop", k=8)) for _ in range(5)]
    return page("Welcome", prose("welcome")), [f"http://{name}.trap.test/" for name in names]


def facets(url: str) -> tuple[str, list[str]]:
    """60 products, six facets with six values each: 117,648 pages of the same products."""
    chosen = parameters(url)
    links = [
        "/shop?" + urlencode(sorted({**chosen, facet: value}.items()))
        for facet in ("colour", "size", "brand", "price", "sort", "style")
        for value in WORDS[:6]
    ]
    chance = random.Random(url)
    products = chance.sample(range(60), 10)
    return page("Shop", *(prose(("product", number), 12) for number in products)), links


@pytest.mark.parametrize(
    ("site", "start", "at_most"),
    [
        (calendar, "http://trap.test/calendar", 60),
        (deep_calendar, "http://trap.test/events/2000/1/1", 60),
        (session_ids, "http://trap.test/", 160),
        (known_session_ids, "http://trap.test/", 4),
        (longer_paths, "http://trap.test/x", 250),
        (repeated_segments, "http://trap.test/x", 100),
        (counter, "http://trap.test/status", 60),
        (soft_404, "http://trap.test/x", 250),
        (wildcard_hosts, "http://trap.test/", 110),
        (facets, "http://shop.test/shop", 400),
    ],
)
def test_a_trap_is_left_soon(site: Site, start: str, at_most: int) -> None:
    visited, _, watch = crawl(site, start, 10_000)
    assert len(visited) <= at_most, watch.trapped


# --- ordinary large sites ------------------------------------------------------------------------


def news(url: str) -> tuple[str, list[str]]:
    """3,000 articles in an archive by date, listed 20 to a page; each with a print view and a share link."""
    path = urlsplit(url).path
    if path == "/":
        number = int(parameters(url).get("page", "0"))
        listed = range(number * 20, min(number * 20 + 20, 3000))
        links = [
            f"/news/{2000 + n // 300}/{n // 25 % 12 + 1}/{n % 25 + 1}/{WORDS[n % 30]}-{n}" for n in listed
        ]
        return page("News", *(prose(("teaser", n), 8) for n in listed)), [*links, f"/?page={number + 1}"] * (
            number < 150
        )
    number = int(path.rpartition("-")[2])
    return page(prose(("title", number), 4), prose(("article", number), 50)), ["/", f"{path}?share=mail"]


def shop(url: str) -> tuple[str, list[str]]:
    """2,000 products with little more than a name each, in categories with pages."""
    path = urlsplit(url).path
    if path == "/":
        return page("Shop"), [f"/c/{word}" for word in WORDS]
    if path.startswith("/c/"):
        number = int(parameters(url).get("page", "0"))
        category = WORDS.index(path.removeprefix("/c/"))
        products = [category * 70 + number * 10 + place for place in range(10)]
        links = [f"/p/{product}" for product in products]
        return page(path, *(prose(("name", product), 3) for product in products)), [
            *links,
            f"{path}?page={(number + 1) % 7}",
        ]
    return page(prose(("name", path.removeprefix("/p/")), 3), "Add to basket", "Free delivery"), ["/"]


def forum(url: str) -> tuple[str, list[str]]:
    """500 threads of six pages, reached by number and by page."""
    thread, number = int(parameters(url).get("t", "0")), int(parameters(url).get("start", "0"))
    links = [f"/viewtopic.php?t={thread}&start={number + 1}"] if number < 5 else []
    links += [f"/viewtopic.php?t={each}" for each in range(thread * 3 + 1, thread * 3 + 4) if each < 500]
    return page(f"Thread {thread}", *(prose((thread, number, post), 15) for post in range(4))), links


def wiki(url: str) -> tuple[str, list[str]]:
    """1,500 pages named by their titles, among them 200 redirect-like stubs that say nearly the same."""
    number = int(urlsplit(url).path.rpartition("_")[2] or 0)
    links = [f"/wiki/{WORDS[n % 30]}_{n}" for n in range(number * 4 + 1, number * 4 + 5) if n < 1500]
    text = (
        "This page is a stub, you can help by expanding it"
        if number % 7 == 3
        else prose(("wiki", number), 80)
    )
    return page(f"{WORDS[number % 30]}", text), links


def manual(url: str) -> tuple[str, list[str]]:
    """The manual of a program in eight versions: 100 pages, a tenth of which changes from one to the next."""
    version, number = (int(part) for part in urlsplit(url).path.split("/")[2:4])
    links = [f"/manual/{version}/{n}" for n in range(number * 5 + 1, number * 5 + 6) if n < 100]
    links += [f"/manual/{each}/{number}" for each in range(8)]
    written = max(v for v in range(version + 1) if v == 0 or (number + v) % 10 == 0)
    return page(f"Chapter {number}", prose(("manual", number, written), 100)), links


def figures(url: str) -> tuple[str, list[str]]:
    """700 pages that differ in nothing but their numbers."""
    path = urlsplit(url).path
    if path == "/":
        return page("Stations"), [f"/list/{each}" for each in range(7)]
    if path.startswith("/list/"):
        first = int(path.removeprefix("/list/")) * 100
        return page(f"Stations {first}"), [f"/station/{each}" for each in range(first, first + 100)]
    number = path.removeprefix("/station/")
    return page(f"Station {number}", f"Temperature {number}.5", f"Wind {number}.7"), ["/"]


@pytest.mark.parametrize(
    ("site", "start", "pages"),
    [
        (figures, "http://figures.test/", 708),
        (news, "http://news.test/", 6151),
        (shop, "http://shop.test/", 2341),
        (forum, "http://forum.test/viewtopic.php?t=0", 3000),
        (wiki, "http://wiki.test/wiki/start_0", 1500),
        (manual, "http://manual.test/manual/0/0", 800),
    ],
)
def test_an_ordinary_site_is_crawled_whole(site: Site, start: str, pages: int) -> None:
    visited, refused, watch = crawl(site, start, 10_000)
    assert (len(visited), len(refused)) == (pages, 0), watch.trapped


def test_other_pages_of_a_trapped_host_go_on() -> None:
    def mixed(url: str) -> tuple[str, list[str]]:
        if "/calendar" in url:
            html, links = calendar(url)
            return html, links
        html, links = wiki(url)
        return html, [*links, "/calendar"]

    visited, _, watch = crawl(mixed, "http://a.test/wiki/start_0", 10_000)
    assert len([url for url in visited if "/wiki/" in url]) == 1500
    assert list(watch.trapped) == ["a.test/calendar?month"]
    assert watch.trapped["a.test/calendar?month"].startswith("http://a.test/calendar?month=")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://a.test/", None),
        ("http://a.test/2011/11/11/news", None),
        ("http://a.test/1/1/1/1/1", None),
        ("http://a.test/a/a/b", None),
        ("http://a.test/ab/abc/abcd", None),
        ("http://a.test/a/a/a", "repeats"),
        ("http://a.test/x/y/x/y/x/y/z", "repeats"),
        ("http://a.test/a/b/a/c/a/d/a", "repeats"),
        ("http://a.test/" + "/".join(f"s{n}" for n in range(26)), "depth"),
        ("http://a.test/?" + "&".join(f"p{n}=1" for n in range(25)), "parameters"),
        ("http://[bad", None),
    ],
)
def test_loops_show_in_the_url(url: str, why: str | None) -> None:
    assert loop_in(url) == why


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("http://a.test/x?a=1", "http://a.test/x?a=1"),
        ("http://a.test/x?", "http://a.test/x?"),
        ("http://a.test/x?sid=1", "http://a.test/x"),
        ("http://a.test/x?a=1&PHPSESSID=2&b=3", "http://a.test/x?a=1&b=3"),
        ("http://a.test/x?a=1&b=3&sessionid=2", "http://a.test/x?a=1&b=3"),
        ("http://a.test/x;jsessionid=AB.1?b=3", "http://a.test/x?b=3"),
        ("http://a.test/(S(abcdefgh1234))/x", "http://a.test/x"),
        ("http://a.test/x?inside=1&president=2", "http://a.test/x?inside=1&president=2"),
        ("http://a.test/x?sid=1#top", "http://a.test/x#top"),
    ],
)
def test_session_ids_are_taken_out(url: str, plain: str) -> None:
    assert without_session(url) == plain


def test_shapes_leave_open_what_varies() -> None:
    assert shapes_of("http://x.shop.co.uk/p/12?b=1&a=2") == (
        "x.shop.co.uk/p/#?a&b",
        "x.shop.co.uk/p/*?a&b",
        "x.shop.co.uk/p/**",
        "*.shop.co.uk/p/#?a&b",
    )
    assert shapes_of("http://a.test/i/550e8400-e29b-41d4-a716-446655440000")[0] == "a.test/i/#"
    assert registered_domain("127.0.0.1") == "127.0.0.1"
    assert registered_domain("localhost") == "localhost"
    assert shapes_of("http://[bad") == ()


def test_memory_is_bounded() -> None:
    watch = TrapWatch()
    for number in range(2 * MAX_PATTERNS):
        watch.saw(f"http://h{number}.test/{'x' * (number % 7)}", ["some text that is long enough"], [])
    assert len(watch._patterns) <= MAX_PATTERNS
    watch.learn(f"pattern {number}" for number in range(20_000))
    assert len(watch.trapped) == 10_000


def test_a_full_memory_forgets_rather_than_calls_new_pages_known() -> None:
    novelty = Novelty(50)
    new = [novelty.add([f"{prose(number, 5)}"], lambda: True) for number in range(20_000)]
    assert sum(new[-1000:]) >= 950  # a Bloom filter takes a few for known


def test_hostile_pages_are_no_trap_for_the_watch() -> None:
    for piece in ("<", "<script", "<script>", "</", "<a ", "&", "<!--"):
        text_blocks(piece * 100_000)


PIECES = st.lists(st.text(alphabet=st.sampled_from("aBcdefé79_ .-\n٣"), max_size=30), max_size=8)


def plainly(piece: str) -> str:
    """The words of one piece, as one would write it down at first."""
    kept = re.sub(r"\b[^\W\d_]*\d\w*", " ", piece)
    return re.sub(r"[\W\d_]+", " ", kept).strip().lower()


@given(PIECES)
def test_pieces_looked_at_together_have_the_words_that_each_has_alone(pieces: list[str]) -> None:
    expected = [words for words in map(plainly, pieces) if len(words) >= LEAST_LETTERS]
    assert words_of(pieces) == expected
    ascii_only = [piece for piece in pieces if piece.isascii()]
    assert words_of(ascii_only) == [
        words for words in map(plainly, ascii_only) if len(words) >= LEAST_LETTERS
    ]


def test_a_text_is_new_once_and_only_enough_of_it_makes_a_page_new() -> None:
    novelty, enough = Novelty(50), "x" * NEW_LETTERS
    assert novelty.add([enough], lambda: True)
    assert not novelty.add([enough, "y" * (NEW_LETTERS - 1)], lambda: True)
    half = "z" * (NEW_LETTERS // 2)
    assert not novelty.add([half, half], lambda: True)  # said twice, new once
    assert len(marks_of([half, half])) == 1


def test_pages_that_say_nothing_new_are_a_trap_only_while_they_lead_on() -> None:
    ending, leading = Novelty(50), Novelty(50)
    for _ in range(50):
        ending.add([], lambda: False)
        assert not leading.is_trap
        leading.add([], lambda: True)
    assert leading.is_trap and not ending.is_trap
    leading.add(["something new for a change"], lambda: True)
    assert not leading.is_trap

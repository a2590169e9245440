"""A URL that is written plainly takes a short cut, which leads to the same place as the long way."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrawl.core import urls

NAMES = ("canonical", "host_key", "is_web_url")
PIECES = ("http", "https", "://", "a.test", "A", "b", ".", "..", "/", "//", ":80", ":8080", ":443", ":65536")
ODD = ("?q=1&a", "#f", "@", "%41", "~", "-", "_", ";", " ", "\n", "é", "xn--", "[::1]", "\\")


def result(name: str, url: str) -> object:
    try:
        return getattr(urls, name)(url)
    except ValueError as error:
        return type(error)


@example("http://a.test/./b/../c")
@example("http://a.test:080/")
@example("https://a.test:443/x")
@example("http://a.test/b\n")
@given(st.lists(st.sampled_from(PIECES + ODD), max_size=12).map(lambda pieces: "http://" + "".join(pieces)))
def test_the_short_cut_leads_to_the_same_place(url: str) -> None:
    short = [result(name, url) for name in NAMES]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(urls, "_PLAIN", urls.re.compile("(?!)"))  # nothing is plain
        assert [result(name, url) for name in NAMES] == short


def test_most_links_are_plain() -> None:
    for url in ("https://www.example.com/", "http://localhost:8000/a-b/c_d~e/2.html"):
        assert urls._PLAIN.fullmatch(url)

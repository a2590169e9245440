"""The URL filter language: what it accepts, and how it tells a mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from incrawl.core.filters import load_filters, parse_filters
from incrawl.errors import ConfigError

NEWS = """
# only the news, without the print view
allow domain example.com and prefix /news/
allow prefix https://intranet.test:8443/wiki
deny  regex "[?&]print="
    or protocol http and not domain old.example.com
"""


class ShortUrl:
    """A user's own filter, loaded by its dotted path in the tests below."""

    def accepts(self, url: str) -> bool:
        return len(url) < 30


class NoFilter:
    pass


class NeedsArgument:
    def __init__(self, argument: str):
        self.argument = argument


@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        ("https://example.com/news/1", True),
        ("https://www.EXAMPLE.com./news/1", True),
        ("https://notexample.com/news/1", False),
        ("https://example.com.evil.test/news/1", False),
        ("https://example.com/newsletter", False),
        ("https://example.com/sport/news/", False),
        ("https://example.com/news/1?print=1", False),
        ("https://example.com/news/1?a=1&print=1", False),
        ("https://example.com/news/1?reprint=1", True),
        ("http://example.com/news/1", False),
        ("http://old.example.com/news/1", True),
        ("https://intranet.test:8443/wiki/Start", True),
        ("https://intranet.test/wiki/Start", False),
        ("https://example.com@evil.test/news/1", False),
        ("not a url", False),
        ("https://[bad/news/", False),
    ],
)
def test_a_file_decides(url: str, accepted: bool) -> None:
    assert parse_filters(NEWS).accepts(url) is accepted


@pytest.mark.parametrize(
    ("text", "url", "accepted"),
    [
        ("", "http://a.test/", True),
        ("# nothing\n\n", "http://a.test/", True),
        ("deny domain a.test", "http://b.test/", True),
        ("deny domain a.test", "http://x.a.test/", False),
        ("DENY Domain a.test", "http://a.test/", False),
        # `and` binds closer than `or`, `not` closest.
        ("allow domain a.test or domain b.test and protocol https", "http://a.test/", True),
        ("allow (domain a.test or domain b.test) and protocol https", "http://a.test/", False),
        ("allow not domain a.test and protocol https", "https://b.test/", True),
        ("allow not (domain a.test or protocol http)", "https://b.test/", True),
        ("allow not not domain a.test", "http://a.test/", True),
        ("allow domain bücher.de", "http://xn--bcher-kva.de/", True),
        ("allow prefix /a%20b", "http://a.test/a b/c", True),
        ("allow prefix https://a.test", "https://a.test.evil.test/", False),
        ("allow prefix https://a.test", "https://a.test/x", True),
        ("allow prefix http://a.test:80/x", "http://a.test/x", True),
        ("allow regex '^https://a\\.test/(one|two)$'", "https://a.test/two", True),
        ("allow regex '\"'", "https://a.test/%22", False),
        ("allow regex /x#y", "https://a.test/x", False),
        (f"allow class {__name__}.ShortUrl", "http://a.test/x", True),
        (f"deny class {__name__}.ShortUrl", "http://a.test/x", False),
    ],
)
def test_each_condition_and_how_they_join(text: str, url: str, accepted: bool) -> None:
    assert parse_filters(text).accepts(url) is accepted


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("permit domain a.test", 1, "starts with allow or deny"),
        ("\n\nallow domian a.test", 3, "did you mean domain"),
        ("allow colour red", 1, "known are domain, prefix"),
        ("allow", 1, "condition is missing"),
        ("allow domain", 1, "value after domain"),
        ("allow domain a.test domain b.test", 1, "and/or is missing"),
        ("allow domain a.test and", 1, "missing at the end"),
        ("allow (domain a.test", 1, "closing parenthesis"),
        ("allow domain )", 1, "value is missing"),
        ("allow domain a.test)", 1, "wrong place"),
        ("allow domain a.test\n  or regex '(unclosed'", 2, "missing )"),
        ('allow regex "unclosed', 1, "not closed"),
        ("allow regex (?=x)", 1, "value is missing"),
        ("allow regex '(?=x)'", 1, "RE2"),
        ("allow regex '(a)\\1'", 1, "RE2"),
        ("allow domain *.a.test", 1, "leave out the *"),
        ("allow domain http://a.test", 1, "use prefix"),
        ("allow domain ''", 1, "a name such as"),
        ("allow prefix a.test/x", 1, "starts with http://"),
        ("allow protocol ftp", 1, "http or https"),
        ("allow class nowhere.At", 1, "ModuleNotFoundError"),
        ("allow class plain", 1, "cannot be loaded"),
        (f"allow class {__name__}.Missing", 1, "AttributeError"),
        (f"allow class {__name__}.NeedsArgument", 1, "TypeError"),
        (f"allow class {__name__}.NoFilter", 1, "accepts(url)"),
        ("allow " + "not " * 1000 + "domain a.test", 1, "levels of nesting"),
    ],
)
def test_a_mistake_names_its_line(text: str, line: int, told: str) -> None:
    with pytest.raises(ConfigError, match=rf"my\.filters, line {line}: .*{re.escape(told)}"):
        parse_filters(text, "my.filters")


def test_no_url_can_hang_a_careless_pattern() -> None:
    # With a backtracking matcher this line would not end within the age of the universe.
    filters = parse_filters("deny regex '(([a-z]+)+)+$'")
    assert filters.accepts("http://a.test/" + "a" * 1900 + "!")


def test_the_digest_names_the_text(tmp_path: Path) -> None:
    path = tmp_path / "filters"
    path.write_text("deny domain a.test\n", encoding="utf-8")
    before = load_filters(path)
    path.write_text("deny domain b.test\n", encoding="utf-8")
    assert before.digest != load_filters(path).digest
    assert load_filters(None).accepts("http://a.test/")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.txt cannot be read"):
        load_filters(tmp_path / "none.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ConfigError, match="binary cannot be read"):
        load_filters(tmp_path / "binary")

"""What users have left out: by CSS selector, regular expression, kind and threshold."""

from __future__ import annotations

from typing import Any

import pytest

from incrawl.config import Config
from incrawl.core.changes import IgnoreRules, Kind, Verdict, analyse, compare, read_rules
from incrawl.errors import ConfigError

PAGE = (
    "<h1>News</h1><div class=ad>Buy {} <a href=/{}>now</a></div>after<p>Updated: {}</p>"
    "<p>Long text that stays. {}</p>"
)


def verdict(rules: IgnoreRules, old: str, new: str) -> Verdict:
    before, after = (
        analyse(page.encode(), url="http://x.org/", rules=rules).signatures for page in (old, new)
    )
    return compare(before, after, rules=rules)


def test_elements_are_left_out_but_not_the_text_after_them() -> None:
    rules = IgnoreRules(selectors=(".ad",))
    assert not verdict(rules, PAGE.format("a", "b", 1, ""), PAGE.format("c", "d", 1, "")).changed
    analysis = analyse(PAGE.format("a", "b", 1, "").encode(), url="http://x.org/", rules=rules)
    assert analysis.texts == ("News", "after", "Updated: 1", "Long text that stays.")
    assert analysis.ignored.examples == {"element by rule": ["Buy a now"]}


def test_text_is_left_out() -> None:
    rules = IgnoreRules(patterns=(r"Updated: .*", r"\d+ °C"))
    assert not verdict(rules, PAGE.format("a", "b", 1, "3 °C"), PAGE.format("a", "b", 2, "4 °C")).changed
    assert verdict(rules, PAGE.format("a", "b", 1, "wet"), PAGE.format("a", "b", 1, "dry")).kinds == {
        Kind.CONTENT
    }


def test_small_changes_are_below_the_threshold() -> None:
    old, new = PAGE.format("a", "b", 1, "Filler " * 30), PAGE.format("a", "b", 2, "Filler " * 30)
    assert verdict(IgnoreRules(), old, new).changed
    passed_over = verdict(IgnoreRules(threshold=0.1), old, new)
    assert not passed_over.changed
    assert passed_over.ignored == {"content by rule": 1}
    assert verdict(IgnoreRules(threshold=0.1), old, PAGE.format("a", "b", 1, "Other words " * 20)).changed


def test_kinds_are_left_out() -> None:
    rules = IgnoreRules(kinds=frozenset({Kind.PRESENTATION}))
    assert not verdict(rules, "<p class=a>x", "<p class=b>x").changed
    assert verdict(rules, "<p class=a>x", "<p class=b>y").kinds == {Kind.CONTENT}


def test_signatures_know_their_rules() -> None:
    keys = [
        analyse(b"<p>x", url="", rules=rules).signatures.rules
        for rules in (IgnoreRules(), IgnoreRules(selectors=("b",)))
    ]
    assert keys[0] == 0 != keys[1]


@pytest.mark.parametrize(
    ("host", "threshold"),
    [
        ("example.com", 0.1),
        ("www.example.com", 0.1),
        ("news.example.com", 0.2),
        ("example.org", 0.5),
        ("ample.com", 0.5),
    ],
)
def test_nearest_site_has_the_rules(host: str, threshold: float) -> None:
    book = read_rules(
        {"example.com": {"threshold": 0.1}, "news.example.com": {"threshold": 0.2}, "*": {"threshold": 0.5}}
    )
    assert book.rules_for(host).threshold == threshold


def test_rules_come_from_the_settings() -> None:
    settings: Any = {"INCRAWL_IGNORE": '{"Example.com": {"selectors": ".ad", "kinds": ["presentation"]}}'}
    rules = Config.from_settings(settings).ignore.rules_for("example.com")
    assert (rules.selectors, rules.kinds) == ((".ad",), {Kind.PRESENTATION})


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ('{"x.org": {"selectors": ["p["]}}', "'p[' is no CSS selector"),
        ('{"x.org": {"patterns": ["("]}}', "'(' is no regular expression"),
        ('{"x.org": {"threshold": 2}}', "the threshold 2.0 is not between 0 and 1"),
        ('{"x.org": {"kinds": ["colour"]}}', "'colour' is not a valid Kind"),
        (
            '{"x.org": {"selector": "p"}}',
            "the rules of x.org may only have impostors, kinds, patterns, selectors, threshold",
        ),
        ('{"x.org": {"impostors": 0}}', "impostors is 0, not true or false"),
        ('["x.org"]', "it must be a mapping"),
        ("{", "INCRAWL_IGNORE cannot be '{'"),
    ],
)
def test_mistakes_are_named(value: str, complaint: str) -> None:
    settings: Any = {"INCRAWL_IGNORE": value}
    with pytest.raises(ConfigError, match="INCRAWL_IGNORE") as error:
        Config.from_settings(settings)
    assert complaint in str(error.value)

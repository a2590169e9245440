"""Change detection in a crawl: what is volatile is learnt, impostors keep out, what is left out is told."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from crawls import DUE_NEXT_TIME, Crawl, Reply, Site, html, short_dir, until
from typed import typed

from incrawl.core.records import Outcome
from incrawl.frontier import operations

ROUNDS = 5
IMPOSTORS = Path(__file__).parent / "changes" / "impostors"
WORDS = ("Mayor resigns", "Bridge closed", "Fair weather", "Team wins", "Prices rise")
STORY = "The harbour was closed on Monday after a storm had torn two ships from their moorings. " * 3
RULES = {"*": {"selectors": [".ad"], "patterns": ["Updated: .*"]}}


def impostor(name: str) -> str:
    return (IMPOSTORS / name).read_text(encoding="utf-8")


def after_first(first: str, then: str) -> Any:
    return lambda earlier: Reply(then if earlier else first)


@dataclass
class Told:
    site: Site
    crawl: Crawl
    stats: dict[str, int]

    def entries(self, path: str) -> list[Any]:
        record = self.crawl.one(self.site.url(path)).record
        return list(self.crawl.repository().history(record.url, record.document))[::-1]

    def outcomes(self, path: str) -> list[Outcome]:
        return [entry.outcome for entry in self.entries(path)]

    def type(self, *words: str) -> Any:
        run = typed(*words, "--json", project="incrawl", INCRAWL_STATE_DIR=self.crawl.state_dir)
        assert (run.code, run.err) == (0, "")
        return [json.loads(line) for line in run.out.splitlines()]


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    pages: dict[str, Any] = {
        "/counter": lambda earlier: Reply(f"<h1>News</h1><p>Visitors: {earlier * 37}</p><p>{STORY}</p>"),
        "/headline": lambda earlier: Reply(f"<h1>{WORDS[earlier % 5]}</h1><p>{STORY}</p>"),
        "/advert": lambda earlier: Reply(f"<p class=ad>{WORDS[earlier % 5]}</p>Updated: {earlier}<p>{STORY}"),
        "/blocked": after_first(html(text=STORY), impostor("captcha/cloudflare_challenge.html")),
        "/broken": after_first(html(text=STORY), impostor("error/soft.html")),
        "/walled": Reply(impostor("cookie_wall/consent.html")),
    }
    pages["/"] = Reply(html(*pages))
    with short_dir() as state_dir, Site(pages) as site:
        crawl = Crawl(state_dir, **DUE_NEXT_TIME, INCRAWL_IGNORE=json.dumps(RULES))
        stats: dict[str, int] = {}
        while min(map(site.paths().count, ("/counter", "/headline", "/advert"))) < ROUNDS:
            done = crawl.run(urls=site.url("/"))
            for name, value in done.stats.items():
                if name.startswith("incrawl/"):
                    stats[name] = stats.get(name, 0) + value
        yield Told(site, crawl, stats)


def test_counter_stops_counting_at_the_third_visit_that_differs(told: Told) -> None:
    expected = [Outcome.NEW, Outcome.CHANGED, Outcome.CHANGED, Outcome.VOLATILE, Outcome.VOLATILE]
    assert told.outcomes("/counter")[:5] == expected
    assert told.stats["incrawl/visit/volatile"] >= 2


def test_volatile_visits_are_listed_with_their_places(told: Told) -> None:
    entry = next(entry for entry in told.entries("/counter") if entry.outcome is Outcome.VOLATILE)
    assert entry.ignored == {"volatile paragraph": 1}
    assert entry.volatile == ("/html/body/p[1]",)
    [shown] = told.type("record", told.site.url("/counter"), "--visits", "0")
    assert {"outcome": "volatile", "volatile": ["/html/body/p[1]"]}.items() <= shown["history"][0].items()


def test_headline_that_is_new_each_time_keeps_counting(told: Told) -> None:
    assert told.outcomes("/headline")[:ROUNDS] == [Outcome.NEW] + [Outcome.CHANGED] * (ROUNDS - 1)


def test_rules_of_the_site_are_followed_and_what_they_drop_is_counted(told: Told) -> None:
    assert set(told.outcomes("/advert")[1:]) == {Outcome.UNCHANGED}
    assert told.stats["incrawl/ignored/element_by_rule"] >= ROUNDS
    assert told.stats["incrawl/ignored/text_by_rule"] >= ROUNDS


@pytest.mark.parametrize(
    ("path", "outcome", "disguise"),
    [("/blocked", Outcome.REFUSED, "captcha"), ("/broken", Outcome.FAILED, "error")],
)
def test_impostor_never_replaces_the_document(told: Told, path: str, outcome: Outcome, disguise: str) -> None:
    first, *others = told.entries(path)
    assert (first.outcome, {entry.outcome for entry in others}) == (Outcome.NEW, {outcome})
    assert all(entry.why.startswith(f"{disguise}: ") for entry in others)
    record = told.crawl.one(told.site.url(path)).record
    document = told.crawl.repository().document(record.url, record.document or "")
    assert document is not None
    assert STORY.strip() in document.decode()
    assert told.stats[f"incrawl/impostor/{disguise}"] >= 1


def test_impostor_does_not_become_the_first_version_either(told: Told) -> None:
    assert told.crawl.one(told.site.url("/walled")).record.document is None
    assert told.stats["incrawl/impostor/cookie_wall"] >= 1


def test_second_look_tells_a_rotating_box_from_news(state_dir: Path) -> None:
    """The box differs again within seconds; the headline, which changed before, does not."""
    settings = {
        "INCRAWL_CONTINUOUS": "1",
        "INCRAWL_AVERAGE_REFRESH_TIME": "1h",
        "INCRAWL_SECOND_LOOK": "0.2s",
    }
    headline = {"now": "Calm"}

    def page(earlier: int) -> Reply:
        return Reply(f"<h1>{headline['now']}</h1><aside>{WORDS[earlier % 5]}</aside><p>{STORY}</p>")

    with Site({"/": page}) as site:
        Crawl(state_dir).run(urls=site.url("/"))
        crawl = Crawl(state_dir, **settings)
        headline["now"] = "News"
        crawl.ask(lambda frontier: operations.reschedule(frontier, site.url("/"), 0.0))
        with crawl.start(urls=site.url("/")) as process:
            until(lambda: len(site.paths()) >= 3 or not process.running)
            until(lambda: crawl.one(site.url("/")).record.visits >= 3)
            process.signal(signal.SIGTERM)
            process.wait()
        record = crawl.one(site.url("/")).record
        entries = list(crawl.repository().history(record.url, record.document))[::-1]
        assert [entry.outcome for entry in entries] == [Outcome.NEW, Outcome.CHANGED, Outcome.VOLATILE]
        assert entries[-1].volatile == ("/html/body/aside",)


def test_changes_can_be_chosen(told: Told) -> None:
    everything = told.type("changes")
    assert {change["url"] for change in told.type("changes", "--kind", "content")} == {
        change["url"] for change in everything
    }
    assert told.type("changes", "--site", "elsewhere.example") == []
    middle = everything[len(everything) // 2]["time"]
    moment = str(datetime.fromtimestamp(middle, UTC).isoformat())
    later, earlier = told.type("changes", "--since", moment), told.type("changes", "--until", moment)
    assert [change["time"] for change in later + earlier] == [change["time"] for change in everything]

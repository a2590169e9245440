"""An existing Scrapy project made incremental by the add-on: the project in `example_project`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from crawls import DUE_NEXT_TIME, Crawl, Done, Reply, Site, short_dir, until

PROJECT = Path(__file__).parent / "example_project"


class Shop:
    """The site of a bookshop, and what it sells."""

    def __init__(self) -> None:
        self.prices = {number: f"{number}.5" for number in range(1, 7)}
        self.lists = {1: [1, 2, 3, 99], 2: [4, 5, 6]}
        self.guard = ""  # a page that the site shows in place of book 1
        self.site = Site({})

    def show(self) -> None:
        """Puts pages up as they are now. Book 6 has reviews, which a form asks for."""
        last = max(self.lists)
        for number, books in self.lists.items():
            links = "".join(f'<a class="book" href="/book/{book}">Book {book}</a>' for book in books)
            more = f'<a class="next" href="/list/{number + 1}">next</a>' if number < last else ""
            self.site.pages[f"/list/{number}"] = Reply(f"<h1>Novels</h1>{links}{more}")
        for number, price in self.prices.items():
            form = '<form method="post" action="/reviews"></form>' if number == 6 else ""
            body = f'<h1>Book {number}</h1><p class="price">{price}</p>{form}'
            self.site.pages[f"/book/{number}"] = Reply(body)
        if self.guard:
            self.site.pages["/book/1"] = Reply(self.guard)
        review = '<p class="reviews">3</p><a class="review" href="/review/1">by a reader</a>'
        self.site.pages["/reviews"] = Reply(review)
        self.site.pages["/review/1"] = Reply("<p>A fine book.</p>")


@dataclass
class Told:
    shop: Shop
    crawl: Crawl
    runs: list[Run] = field(default_factory=list)

    def run(self) -> None:
        self.shop.show()
        feed = self.crawl.state_dir / f"feed-{len(self.runs)}.jsonl"
        before = len(self.shop.site.hits)
        done = self.crawl.run("books", "-O", str(feed), shop=self.shop.site.url(""))
        hits = [(hit.method, hit.path) for hit in self.shop.site.hits[before:]]
        items = [json.loads(line) for line in feed.read_text().splitlines()]
        self.runs.append(Run(done, hits, items))


@dataclass
class Run:
    done: Done
    hits: list[tuple[str, str]]
    items: list[dict[str, Any]]

    def called(self, method: str) -> list[str]:
        """The paths of the pages that a method of the spider was called for."""
        prefix = f"bookshop/{method}/"
        urls = [name.removeprefix(prefix) for name in self.done.stats if name.startswith(prefix)]
        return sorted("/" + url.split("/", 3)[3] for url in urls)

    def books(self) -> list[str]:
        return sorted(item["title"] for item in self.items)


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    """Four runs: all new; one price and one list changed; a price no pipeline reads; the same, repaired."""
    shop = Shop()
    with short_dir() as state_dir, shop.site:
        told = Told(shop, Crawl(state_dir, project=PROJECT, **DUE_NEXT_TIME))
        told.run()
        shop.prices |= {2: "20", 7: "7"}
        shop.lists[2].append(7)
        told.run()
        shop.prices[3] = "ask us"
        told.run()
        told.crawl.settings["ITEM_PIPELINES"] = "{}"
        told.run()
        yield told


def test_all_runs_end_well(told: Told) -> None:
    for run in told.runs:
        assert run.done.code == 0, run.done.log


def test_the_first_run_is_like_any_crawl(told: Told) -> None:
    first = told.runs[0]
    assert first.called("parse") == ["/list/1", "/list/2"]
    assert first.called("parse_book") == [f"/book/{number}" for number in range(1, 7)]
    assert first.called("not_there") == ["/book/99"]
    assert first.called("parse_reviews") == ["/reviews"]
    assert first.called("parse_review") == ["/review/1"]
    assert first.books() == [f"Book {number}" for number in range(1, 7)]
    assert {item["category"] for item in first.items} == {"Novels"}


def test_the_second_run_parses_only_what_changed(told: Told) -> None:
    second = told.runs[1]
    assert second.called("parse") == ["/list/2"]
    assert second.called("parse_book") == ["/book/2", "/book/7"]
    assert second.called("parse_reviews") == []
    assert second.books() == ["Book 2", "Book 7"]
    assert [item["price"] for item in second.items if item["title"] == "Book 2"] == ["20.00"]
    assert ("GET", "/book/1") in second.hits  # asked for, found unchanged
    assert ("POST", "/reviews") not in second.hits


def test_nothing_of_incrawl_is_in_the_feed(told: Told) -> None:
    assert all(
        item.keys() == {"url", "title", "price", "category", "reviews"}
        for run in told.runs
        for item in run.items
    )


def test_requests_with_objects_and_posts_keep_what_they_carry(told: Told) -> None:
    [reviewed] = [item for item in told.runs[0].items if item["reviews"] is not None]
    assert (reviewed["title"], reviewed["reviews"]) == ("Book 6", 3)
    assert told.runs[0].hits.count(("POST", "/reviews")) == 1


def test_a_page_whose_item_failed_keeps_its_old_version_and_is_tried_again(told: Told) -> None:
    third, fourth = told.runs[2:]
    assert third.called("parse_book") == ["/book/3"]
    assert third.books() == []
    assert third.done.visits()["failed"] == 1
    assert fourth.called("parse_book") == ["/book/3"]
    assert [(item["title"], item["price"]) for item in fourth.items] == [("Book 3", "ask us")]
    record = told.crawl.one(told.shop.site.url("/book/3"), spider="books").record
    assert (record.failures, record.visits, record.changes) == (0, 4, 1)
    versions = list(told.crawl.repository().versions(record.url, record.document))
    assert len(versions) == 2


def test_a_page_that_is_gone_is_asked_for_three_times(told: Told) -> None:
    known = told.crawl.one(told.shop.site.url("/book/99"), spider="books")
    assert known.record.failures >= 2
    assert [run.called("not_there") for run in told.runs][:2] == [["/book/99"]] * 2


def test_a_page_is_not_done_before_the_requests_that_stay_in_the_process(state_dir: Path) -> None:
    shop = Shop()
    shop.show()
    slow = Reply(shop.site.pages["/reviews"].body, delay=30)
    shop.site.pages["/reviews"] = slow
    with shop.site:
        crawl = Crawl(state_dir, project=PROJECT, INCRAWL_LEASE_TIME="1s")
        urls = [shop.site.url(f"/book/{number}") for number in (5, 6)]
        with crawl.start("books", shop=shop.site.url("")) as process:
            until(lambda: visits_of(crawl, urls[0]) == 1)
            assert visits_of(crawl, urls[1]) == 0
            process.kill()
        shop.show()
        done = crawl.run("books", shop=shop.site.url(""))
        assert done.code == 0, done.log
        assert [visits_of(crawl, url) for url in urls] == [1, 1]
        assert visits_of(crawl, shop.site.url("/review/1")) == 1


def visits_of(crawl: Crawl, url: str) -> int:
    [known] = crawl.known(url, spider="books")
    return known.record.visits if known else 0


def test_careless_spiders_do_no_harm(state_dir: Path) -> None:
    """Callbacks that fail at once, give None, hand on all meta, and ask in circles; a spider of rules.

    It shares its pages with no other spider: records are a spider's own.
    """
    pages = {
        "/list/1": Reply('<a href="/book/1">1</a><a href="/book/2">2</a>'),
        "/book/1": Reply('<a class="other" href="/other/1">other</a>'),
        "/book/2": Reply("<p>careless</p>"),
        "/other/1": Reply('<a class="other" href="/other/2">on</a>'),
        "/other/2": Reply('<a class="other" href="/other/1">back</a>'),
    }
    with Site(pages) as site:
        crawl = Crawl(state_dir, project=PROJECT)
        done = crawl.run("shelves", shop=site.url(""))
        assert done.code == 0, done.log
        assert done.visits() == {"new": 2, "failed": 1}
        assert done.stats["incrawl/requests/local"] == 2
        assert done.stats["incrawl/requests/filtered"] == 1
        assert sorted(site.paths()) == ["/book/1", "/book/2", "/list/1", "/other/1", "/other/2"]
        assert crawl.one(site.url("/book/2"), spider="shelves").record.failures == 1
        assert crawl.known(site.url("/book/1"), spider="books") == [None]


def test_a_captcha_in_place_of_a_page_does_not_reach_the_spider(state_dir: Path) -> None:
    captchas = Path(__file__).parent / "changes" / "impostors" / "captcha"
    shop = Shop()
    with shop.site:
        told = Told(shop, Crawl(state_dir, project=PROJECT, **DUE_NEXT_TIME))
        told.run()
        shop.guard = (captchas / "cloudflare_challenge.html").read_text()
        told.run()
    second = told.runs[1]
    assert ("GET", "/book/1") in second.hits
    assert second.done.stats["incrawl/impostor/captcha"] == 1
    assert second.items == []


def test_without_the_add_on_the_project_crawls_as_ever(state_dir: Path) -> None:
    shop = Shop()
    shop.show()
    with shop.site:
        crawl = Crawl(state_dir, project=PROJECT, fresh=True, ADDONS="{}")
        done = crawl.run("books", shop=shop.site.url(""))
        assert done.code == 0, done.log
        assert done.stats["item_scraped_count"] == 6
        assert done.out == ""
        assert not any(name.startswith("incrawl/") for name in done.stats)
        assert not (state_dir / "server").exists()


def linked_pages() -> dict[str, Reply]:
    """Six pages that all link to each other."""
    links = "".join(f'<a href="/p/{number}">Page {number}</a>' for number in range(6))
    return {f"/p/{number}": Reply(f"<h1>Page {number}</h1>{links}") for number in range(6)}


@pytest.mark.parametrize("others", ["", '{"bookshop.middlewares.NotTheLastPageMiddleware": 500}'])
def test_known_links_of_a_spider_go_no_further_where_no_rule_of_the_users_own_follows(others: str) -> None:
    with Site(linked_pages()) as site, short_dir() as state_dir:
        settings = {"SPIDER_MIDDLEWARES": others} if others else {}
        crawl = Crawl(state_dir, project=PROJECT, CONCURRENT_REQUESTS="1", **settings)
        done = crawl.run("everything", shop=site.url(""))
        urls = [site.url(f"/p/{number}") for number in range(5 if others else 6)]
        assert sorted(hit.path for hit in site.hits if hit.path != "/robots.txt") == [
            url.removeprefix(site.url("")) for url in urls
        ]
        assert (done.stats.get("incrawl/links/spared", 0) > 0) is not bool(others)
        # What a page asked for is remembered all the same: an unchanged one asks for it again.
        repository = crawl.repository()
        for url in urls:
            document = crawl.one(url, spider="everything").record.document
            kept = repository.sidecar(url, document or "")
            assert kept is not None
            assert sorted(kept.links) == urls

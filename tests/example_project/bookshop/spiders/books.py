from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import FormRequest, Request, Spider
from scrapy.http import Response

from bookshop.items import Book


class BooksSpider(Spider):
    """Listing pages, pagination, detail pages, and for some books a form that has to be sent."""

    name = "books"

    def __init__(self, shop: str = "http://localhost", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.shop = shop

    async def start(self) -> AsyncIterator[Request]:
        yield Request(f"{self.shop}/list/1")

    def parse(self, response: Response) -> Iterator[Request]:
        self.note("parse", response)
        category = response.css("h1::text").get()
        for link in response.css("a.book::attr(href)").getall():
            yield response.follow(
                link, self.parse_book, errback=self.not_there, cb_kwargs={"category": category}
            )
        for link in response.css("a.next::attr(href)").getall():
            yield response.follow(link)

    def parse_book(self, response: Response, category: str) -> Iterator[Any]:
        self.note("parse_book", response)
        book = Book(
            url=response.url,
            title=response.css("h1::text").get(""),
            price=response.css(".price::text").get(""),
            category=category,
        )
        form = response.css("form::attr(action)").get()
        if form is None:
            yield book
        else:
            yield FormRequest(
                response.urljoin(form),
                formdata={"title": book.title},
                callback=self.parse_reviews,
                meta={"book": book},
            )

    def parse_reviews(self, response: Response) -> Iterator[Any]:
        self.note("parse_reviews", response)
        book: Book = response.meta["book"]
        book.reviews = int(response.css(".reviews::text").get("0"))
        yield book
        for link in response.css("a.review::attr(href)").getall():
            yield response.follow(link, self.parse_review, cb_kwargs={"title": book.title})

    def parse_review(self, response: Response, title: str) -> None:
        self.note("parse_review", response)

    def not_there(self, failure: Any) -> None:
        assert self.crawler.stats is not None
        self.crawler.stats.inc_value(f"bookshop/not_there/{failure.request.url}")

    def note(self, method: str, response: Response) -> None:
        assert self.crawler.stats is not None
        self.crawler.stats.inc_value(f"bookshop/{method}/{response.url}")

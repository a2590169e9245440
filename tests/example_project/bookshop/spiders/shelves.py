from __future__ import annotations

from typing import Any

from scrapy import Request
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class ShelvesSpider(CrawlSpider):
    """Follows links by rules, and forgets to be careful."""

    name = "shelves"
    rules = (Rule(LinkExtractor(allow="/book/"), callback="parse_book", follow=True),)

    def __init__(self, shop: str = "http://localhost", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.start_urls = [f"{shop}/list/1"]

    def parse_book(self, response: Response) -> Any:
        assert self.crawler.stats is not None
        self.crawler.stats.inc_value(f"bookshop/parse_book/{response.url}")
        if "careless" in response.text:
            raise ValueError("this page was not expected")
        # With an object in meta, these stay in the process; two pages that link to each other go on
        # for ever unless somebody remembers them.
        others = [
            Request(response.urljoin(link), self.parse_other, meta={**response.meta, "from": response})
            for link in response.css("a.other::attr(href)").getall()
        ]
        return [None, *others]

    def parse_other(self, response: Response) -> Any:
        assert self.crawler.stats is not None
        self.crawler.stats.inc_value(f"bookshop/parse_other/{response.url}")
        return self.parse_book(response)

from __future__ import annotations

from scrapy.exceptions import DropItem

from bookshop.items import Book


class PricePipeline:
    """Turns prices into numbers; books that are not for sale are left out."""

    def process_item(self, item: Book) -> Book:
        if item.price == "sold out":
            raise DropItem("sold out")
        item.price = f"{float(item.price):.2f}"
        return item

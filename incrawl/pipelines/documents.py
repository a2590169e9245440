"""Item pipeline 2: a new or changed document is put on disk, where nobody sees it before it counts."""

from __future__ import annotations

from typing import Any

from scrapy.crawler import Crawler

from incrawl.items import Page
from incrawl.pages import stage_or_fail
from incrawl.worker import Worker


class DocumentPipeline:
    """Stages documents; the ledger renames them into place when the frontier has acknowledged."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DocumentPipeline:
        return cls(Worker.of(crawler))

    async def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.brings_version:
            await stage_or_fail(self._worker, item)
        return item

"""The spider `incremental`: keeps the sites of a seed file fresh.

scrapy crawl incremental -a seeds=seeds/mine.txt
scrapy crawl incremental -a urls=https://example.com/,https://example.org/
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.http import Response

from incrawl.config import Config
from incrawl.core.addresses import AddressPolicy
from incrawl.core.identity import check_addresses, check_contact
from incrawl.core.seeds import Seeds, parse_seeds
from incrawl.errors import ConfigError
from incrawl.items import Page
from incrawl.page_visit import visit_of
from incrawl.pages import page_from
from incrawl.worker import Worker

logger = logging.getLogger(__name__)


class IncrementalSpider(Spider):
    name = "incremental"
    reads_sitemaps = True

    def __init__(self, worker: Worker, seeds: Seeds, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._worker = worker
        self._seeds = seeds

    @classmethod
    def from_crawler(cls, crawler: Crawler, *_: Any, **arguments: Any) -> IncrementalSpider:
        seeds = read_seeds(Config.from_settings(crawler.settings), **arguments)
        spider = cls(Worker.of(crawler), seeds)
        spider._set_crawler(crawler)
        return spider

    @classmethod
    def check_arguments(cls, config: Config, **arguments: Any) -> None:
        """Raises ConfigError for arguments that cannot be used; asked before the crawl starts."""
        urls = [seed.url for seed in read_seeds(config, **arguments).records]
        policy = AddressPolicy(config.allow_networks)
        check_addresses(urls, policy)
        check_contact(config.contact, urls, policy)

    async def start(self) -> AsyncIterator[Any]:
        for bad in self._seeds.bad:
            self._worker.count("incrawl/seeds/bad")
            logger.error("Seed file, %s", bad)
        seeds = [self._worker.frontier.find(seed) for seed in self._seeds.records]
        self._worker.count("incrawl/seeds/new", await self._worker.discover(seeds, seeds=True))
        return
        yield  # seeds are not requests: which of them are due is the frontier's decision

    def parse(self, response: Response) -> Iterator[Page]:
        visit = visit_of(response.request)
        if visit is not None:
            yield page_from(response, response.request, visit, self._worker.frontier.now())


def read_seeds(config: Config, seeds: str | None = None, urls: str | None = None, **others: Any) -> Seeds:
    """The seeds that the spider's arguments name; none at all is allowed: the frontier may know pages."""
    unknown = [name for name in others if not name.startswith("_")]  # scrapyd adds `_job`
    if unknown:
        raise ConfigError(f"The spider takes the arguments seeds and urls, not {', '.join(sorted(unknown))}.")
    for name, value in (("seeds", seeds), ("urls", urls)):
        if value is not None and not value.strip():  # an unset variable in a script: -a seeds=$FILE
            raise ConfigError(f"The argument {name} is empty: give it a value or leave it out.")
    named = parse_seeds(urls.split(",") if urls else [], pl=config.pl, pg=config.pg)
    if named.bad:
        raise ConfigError(f"The argument urls cannot be used: {named.bad[0].problem}.")
    listed = parse_seeds(_lines(seeds) if seeds else [], pl=config.pl, pg=config.pg)
    if seeds and not listed.records:
        reason = listed.bad[0] if listed.bad else "it names no URL"
        raise ConfigError(f"The seed file {seeds} cannot be used: {reason}.")
    return Seeds(named.records + listed.records, listed.bad)


def _lines(name: str) -> list[str]:
    try:
        return Path(name).expanduser().read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except (OSError, ValueError, RuntimeError) as error:  # no such file, no such name, no such user
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error).rstrip(".")
    raise ConfigError(f"The seed file {name} cannot be read: {reason}.")

"""Several crawls in one process, each with settings of its own: what takes long is starting Python.

Run with the path of a JSON file: a list of objects with `settings` and `arguments`. Stops on SIGTERM.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.settings import Settings
from scrapy.utils.reactor import install_reactor


def main(orders: list[dict[str, dict[str, str]]]) -> None:
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    process = CrawlerProcess(settings_of({}))
    spidercls = process.spider_loader.load("incremental")
    for order in orders:
        process.crawl(Crawler(spidercls, settings_of(order["settings"])), **order["arguments"])
    process.start()


def settings_of(own: dict[str, str]) -> Settings:
    settings = Settings()
    settings.setmodule("incrawl.settings")
    settings.setdict(own, "cmdline")
    return settings


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))

"""Looks for a user's mistakes before a crawl starts, so that each ends in a sentence, not a traceback."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scrapy import Spider
from scrapy.settings import BaseSettings

from incrawl.config import Config
from incrawl.core.filters import load_filters
from incrawl.core.refresh import policy_from
from incrawl.repository import Repository
from incrawl.worker import bind, open_frontier


def check(settings: BaseSettings, spidercls: type[Spider], arguments: dict[str, Any]) -> None:
    """Raises IncrawlError for a setting, argument, server or repository that cannot be used."""
    config = Config.from_settings(settings)
    policy_from(config)
    load_filters(config.filters)
    check_arguments = getattr(spidercls, "check_arguments", None)
    if check_arguments is not None:
        check_arguments(config, **arguments)
    Repository(config.repository_dir).check()
    # In a thread of its own: this one's event loop belongs to Twisted, which is not running yet.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, _check_server(settings, config, spidercls.name)).result()


async def _check_server(settings: BaseSettings, config: Config, spider: str) -> None:
    frontier = await open_frontier(settings, config, spider, warn=False)
    try:
        await bind(frontier, Repository(config.repository_dir))
    finally:
        await frontier.close()

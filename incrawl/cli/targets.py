"""What an operator points at: a page, a site, or all pages that are quarantined."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from incrawl.core.urls import host_key, is_web_url
from incrawl.errors import ConfigError
from incrawl.frontier import keys, operations
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.packing import read

HOST_ID_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Target:
    """`https://example.com/news` is a page; `example.com`, `localhost:8000` are sites: one host each."""

    name: str
    is_site: bool


def read_target(text: str) -> Target:
    if "://" in text:
        return Target(read_page(text), is_site=False)
    return Target(read_site(text), is_site=True)


def read_page(text: str) -> str:
    if not is_web_url(text):
        raise ConfigError(f"{text!r} is no URL: write it in full, as https://example.com/page.")
    return text


def read_site(text: str) -> str:
    """The host key of a site as people write it, also from a URL of it."""
    url = text if "://" in text else f"http://{text}"
    if not is_web_url(url) or urlsplit(url).path.strip("/") or any(map(str.isspace, text)):
        raise ConfigError(f"{text!r} is no site: write its host, as example.com or localhost:8000.")
    return host_key(url)


async def urls_of_site(frontier: Frontier, site: str) -> list[str]:
    return [record.url async for record in operations.records(frontier) if host_key(record.url) == site]


async def quarantined_urls(frontier: Frontier) -> AsyncIterator[str]:
    """Pages that are not given out any more because workers died of them."""
    for partition in range(frontier.partitions):
        prefix = keys.namespace_prefix(partition, frontier.namespace)
        places = await frontier.client.hgetall(keys.quarantine(prefix))
        for url_id, place in places.items():
            known = await frontier.run("look", partition, url_id, place[:HOST_ID_LENGTH])
            record = read(known[0]) if known is not None else None
            if record is not None:
                yield record.url

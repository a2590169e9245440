"""Where in the frontier a URL or a host belongs: its ids and its partition."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from incrawl.core.urls import canonical, host_id, host_key, partition_of, url_id


class HostPlace(NamedTuple):
    name: str
    id: bytes
    partition: int


@lru_cache(maxsize=65536)
def place_host(name: str, partitions: int) -> HostPlace:
    """The place of a host, by its host key."""
    return HostPlace(name, host_id(name), partition_of(name, partitions))


class UrlPlace(NamedTuple):
    id: bytes
    host: HostPlace


def place_url(url: str, partitions: int) -> UrlPlace:
    """The place of a URL, whatever its spelling."""
    plain = canonical(url)
    return UrlPlace(url_id(plain), place_host(host_key(plain), partitions))

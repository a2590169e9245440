"""Every key in Redis. All keys of a partition carry its hash tag, so that a script touches one
cluster slot only; the Lua side of this list is in `lua/parts/`.

For a partition tag `{i07}` and the namespace `shop/incremental`, `ns` = `{i07}shop/incremental:`

| key                  | type   | member or field → score or value                                         |
|----------------------|--------|--------------------------------------------------------------------------|
| `ns`meta             | hash   | buckets, urls (counts); horizon (ms: start of the latest run); wheel      |
| `ns`r:<bucket>       | hash   | URL id → packed record (`packing.py`)                                    |
| `ns`q<list>:<host>   | zset   | URL id → due, ms, less level/256                                         |
| `ns`ready<list>      | zset   | host id → max(host may be visited, earliest due), ms                     |
| `ns`leases           | zset   | URL id → expiry, ms                                                      |
| `ns`owners           | hash   | URL id → token, host, list, alone, score, of a leased or suspect URL     |
| `ns`given:<token>    | string | ids that a `lease` has given, should its answer be lost; expires         |
| `ns`suspects         | zset   | URL id → ms before which it is not given out again                       |
| `ns`raised           | hash   | URL id → level that a leased page was found at meanwhile, if greater      |
| `ns`deaths           | hash   | URL id → workers that died while it was their only page                  |
| `ns`quarantine       | hash   | URL id → host, list, score                                               |
| `ns`pass             | set    | start of a URL id: pages of the 20 % collection still to be visited       |
| `ns`collection       | string | home only: what policies know of the collection as a whole, msgpack      |
| `ns`places           | string | home only: pages in a collection of bounded size                         |
| `ns`placed:<id>      | string | home only: the URL was given a place, should the answer be lost; expires  |
| `ns`filters          | string | home only: digest of the filter file that the pages were last sorted by  |
| `ns`traps            | hash   | home only: URL pattern that leads nowhere → when found, an example; JSON |
| `ns`budget           | hash   | home only: start of a slice of time, ms → requests counted in it         |
| `ns`done:<token>     | string | home only: answer of a `spend`, should it be lost; expires               |
| `ns`claim:<job>      | string | home only: token of the worker that is at a batch job; expires           |
| {i07}host:<host>     | hash   | name; next (ms, may be visited); lock, until (token, ms); gap (ms); reason |
| {i07}cache:<host>:…  | string | what workers share about a host for a while (robots.txt), expires        |
| {i07}clock           | string | latest time seen, ms; "ours:server's" while ahead of the server's clock  |
| {i07}woke            | string | ms of the first call after a silence and of the last one before it, "a:b" |
| {i07}sync            | string | empty; written to see whether replicas follow                            |
| incrawl:server       | hash   | schema, partitions: fixed when a server is first used                    |
| incrawl:namespaces   | hash   | namespace → repository id                                                |

Hosts and pace are shared by all namespaces; records and queues are a namespace's own. Its home is one
of the partitions, where it keeps what is not about single pages (`shared.py`).
"""

from __future__ import annotations

import math

SERVER = b"incrawl:server"
NAMESPACES = b"incrawl:namespaces"


def tag(partition: int) -> bytes:
    return b"{i%02d}" % partition


def namespace_prefix(partition: int, namespace: str) -> bytes:
    return tag(partition) + namespace.encode() + b":"


def meta(prefix: bytes) -> bytes:
    return prefix + b"meta"


def bucket(prefix: bytes, number: int) -> bytes:
    return prefix + b"r:%d" % number


def queue(prefix: bytes, list_: int, host: bytes) -> bytes:
    return prefix + b"q%d:" % list_ + host


def due_seconds(score: float) -> float:
    """The due time, in seconds, of a URL that waits in a queue with this score."""
    return math.ceil(score) / 1000


def ready(prefix: bytes, list_: int) -> bytes:
    return prefix + b"ready%d" % list_


def leases(prefix: bytes) -> bytes:
    return prefix + b"leases"


def suspects(prefix: bytes) -> bytes:
    return prefix + b"suspects"


def quarantine(prefix: bytes) -> bytes:
    return prefix + b"quarantine"


def current_pass(prefix: bytes) -> bytes:
    return prefix + b"pass"


def places(prefix: bytes) -> bytes:
    return prefix + b"places"


def collection(prefix: bytes) -> bytes:
    return prefix + b"collection"


def filters(prefix: bytes) -> bytes:
    return prefix + b"filters"


def traps(prefix: bytes) -> bytes:
    return prefix + b"traps"


def host(partition: int, host_id: bytes) -> bytes:
    return tag(partition) + b"host:" + host_id


def cache(partition: int, host_id: bytes, name: bytes) -> bytes:
    return tag(partition) + b"cache:" + host_id + b":" + name


def clock(partition: int) -> bytes:
    return tag(partition) + b"clock"


def sync(partition: int) -> bytes:
    return tag(partition) + b"sync"

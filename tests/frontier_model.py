"""A simple model of the frontier, and a machine that drives both with the same steps.

The model is a dictionary: for every URL its state and what belongs to it. The frontier decides in
which order pages are leased; the model says which ones may be. After each step every URL must be in
the state that the model has for it, and in the keys of that state only.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import redis
from frontiers import LEASE, Bench, advance, discover, known, take
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from incrawl.frontier import keys, operations
from incrawl.frontier.frontier import Frontier, Lease
from incrawl.frontier.glance import look_many
from incrawl.frontier.leases import read_leases
from incrawl.frontier.packing import LISTS

LEASE_MS = round(LEASE * 1000)
HOSTS = ("a.test", "b.test", "c.test")
URLS = tuple(f"http://{host}/{page}" for host in HOSTS for page in range(2))
MORE = tuple(f"http://{host}/more/{page}" for host in HOSTS for page in range(14))  # fill further buckets
YEAR = 365 * 86400.0

# A lease for a step: whether one that a worker has now, and which. What was leased before depends on the
# server's clock, too, so what is drawn must not depend on that: else the same draws would not come again.
Choice = tuple[bool, int]
CHOICES = st.tuples(st.sampled_from([True, True, True, False]), st.integers(0, 9999))


@dataclass
class Modelled:
    """A known URL."""

    state: str = "queued"
    level: int = 0
    list: int = 0
    visits: int = 0
    deaths: int = 0
    due: float = 0.0  # ms, of a queued one
    lease: Lease | None = None  # the latest, of a leased one
    expiry: float = 0.0  # ms


@dataclass
class Host:
    closed_until: float = 0.0  # ms; before it nobody may be sent there
    locked_by: set[str] = field(default_factory=set)


class FrontierMachine(RuleBasedStateMachine):
    """Set `bench` before running."""

    bench: Bench

    @initialize(gap=st.sampled_from([0, 10]), continuous=st.booleans())
    def open(self, gap: int, continuous: bool) -> None:
        self.bench.wipe()
        self.gap_ms, self.continuous = gap * 1000, continuous
        self.urls: dict[str, Modelled] = {}
        self.hosts = {host: Host() for host in HOSTS}
        self.given: list[Lease] = []  # all leases ever given, lost ones included
        self.horizon: float | None = None
        self.marks = 0
        self.loop = asyncio.Runner()
        self.redis = holder(self.bench)
        self.context = self.bench.open(gap=gap, continuous=continuous)
        self.frontier: Frontier = self.run(self.context.__aenter__())
        for number, url in enumerate(URLS):
            self.discover({url}, 1, number % LISTS)

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.drain()
            self.run(self.context.__aexit__(None, None, None))
            self.redis.close()
            self.loop.close()

    def run(self, step: Any) -> Any:
        return self.loop.run(step)

    def now(self) -> float:
        return float(self.run(self.frontier.run("clock", 0)))

    # steps

    @rule(
        urls=st.sets(st.sampled_from(URLS), min_size=1),
        level=st.integers(0, 2),
        list_=st.integers(0, LISTS - 1),
        twice=st.booleans(),
    )
    def discover(self, urls: set[str], level: int, list_: int, twice: bool = False) -> None:
        before = self.now()
        new = self.run(discover(self.frontier, *urls, level=level, list=list_))
        assert new == len(urls - self.urls.keys())
        if twice:
            again = discover(self.frontier, *urls, level=level, list=list_)
            assert self.changes_nothing(again) == 0
        base = before if self.continuous or self.horizon is None else self.horizon
        for url in urls:
            if url not in self.urls:
                self.urls[url] = Modelled(level=level, list=list_)
                self.adopt_due(url, base - level)
            elif self.urls[url].level < level:
                self.urls[url].level = level
                if self.urls[url].state == "queued":
                    self.adopt_due(url, min(base - level, self.urls[url].due))

    @rule(level=st.integers(0, 2), list_=st.integers(0, LISTS - 1), twice=st.booleans())
    def discover_more(self, level: int, list_: int, twice: bool) -> None:
        """Enough of them to split buckets, also where pages are leased."""
        self.discover(set(MORE), level, list_, twice)
        assert int(self.redis.hget(keys.meta(self.prefix), b"buckets")) > 1

    @rule()
    def begin(self) -> None:
        self.run(self.frontier.begin())
        self.horizon = float(self.redis.hget(keys.meta(self.prefix), b"horizon"))

    @rule(count=st.integers(1, 6), twice=st.booleans(), new_run=st.booleans())
    def work(self, count: int, twice: bool, new_run: bool) -> None:
        if new_run:
            self.begin()
        self.lease(count, twice)

    @rule(twice=st.booleans())
    def work_alone(self, twice: bool) -> None:
        self.lease(1, twice, alone=True)

    @rule(choice=CHOICES, delay=st.sampled_from([0.0, 5.0]), alone=st.booleans())
    def visit(self, choice: Choice, delay: float, alone: bool) -> None:
        self.begin()
        self.lease(1 if alone else 3, alone=alone)
        self.complete(choice, delay)

    def lease(self, count: int, twice: bool = False, alone: bool = False) -> None:
        token = self.marks.to_bytes(8)
        self.marks += 1
        arguments = (token, count, LEASE_MS, self.gap_ms, int(self.continuous), int(alone), 0)
        now, _, _, _, granted = self.run(self.frontier.run("lease", 0, *arguments))
        if twice:  # as if the answer had been lost
            assert self.run(self.frontier.run("lease", 0, *arguments))[4] == granted
        self.sweep(now)
        limit = now if self.continuous or self.horizon is None else min(now, self.horizon)
        leases = read_leases(token, 0, granted)
        assert len(leases) <= (1 if alone else count)
        for lease in leases:
            self.check_granted(lease, now, limit, alone)

    def sweep(self, now: float) -> None:
        """Leases that have expired by now are taken back."""
        woke, _, before = (self.redis.get(keys.tag(0) + b"woke") or b"0:0").partition(b":")
        ended = float(before) if now - float(woke) < LEASE_MS / 2 else now
        for url, page in self.urls.items():
            if page.state == "leased" and page.expiry <= ended:
                assert page.lease is not None
                page.deaths += page.lease.suspect
                page.state = "quarantined" if page.deaths >= 3 else "suspect"
                self.leave(url, now)

    def check_granted(self, lease: Lease, now: float, limit: float, alone: bool) -> None:
        record = lease.record
        page, host = self.urls[record.url], self.hosts[host_of(record.url)]
        assert lease.suspect is alone
        assert page.state == ("suspect" if alone else "queued")
        assert alone or page.due == lease.due * 1000 <= limit
        assert host.closed_until <= now
        assert not (self.gap_ms and host.locked_by)
        assert (record.level, record.list, record.visits) == (page.level, page.list, page.visits)
        assert lease.place == self.frontier.place(record.url)
        page.lease, page.state, page.expiry = lease, "leased", now + LEASE_MS
        self.given.append(lease)
        if self.gap_ms:
            host.locked_by.add(record.url)

    @rule(choice=CHOICES, delay=st.sampled_from([None, 0.0, 5.0, 30.0]), twice=st.booleans())
    def complete(self, choice: Choice, delay: float | None, twice: bool = False) -> None:
        lease, before = self.any_lease(choice), self.now()
        if lease is None:
            return
        url, held = lease.record.url, self.holds(lease)
        self.marks += 1
        record = lease.record._replace(visits=lease.record.visits + 1, document=f"mark-{self.marks}")
        done = self.run(self.frontier.complete(lease, record, delay=delay, since_response=0.0))
        assert done is held
        if twice:
            again = self.frontier.complete(lease, record, delay=delay, since_response=0.0)
            assert self.changes_nothing(again) is held
        if not held:
            return
        page = self.urls[url]
        page.visits, page.deaths = page.visits + 1, 0
        risen = page.level > lease.record.level
        page.state = "retired" if delay is None and not risen else "queued"
        if page.state == "queued":
            horizon = before if self.horizon is None else min(before, self.horizon)
            self.adopt_due(url, horizon if risen else before + (delay or 0) * 1000)
        self.leave(url, before)

    @rule(choice=CHOICES, delay=st.sampled_from([None, 0.0, 30.0]))
    def release(self, choice: Choice, delay: float | None) -> None:
        lease, before = self.any_lease(choice), self.now()
        if lease is None:
            return
        held = self.holds(lease)
        assert self.run(self.frontier.release(lease, delay=delay)) is held
        if held:
            url = lease.record.url
            page = self.urls[url]
            page.state = "suspect" if lease.suspect else "queued"
            if page.state == "queued":
                self.adopt_due(url, lease.due * 1000 if delay is None else before + delay * 1000)
            self.hosts[host_of(url)].locked_by.discard(url)

    @rule(choice=CHOICES)
    def renew(self, choice: Choice) -> None:
        lease = self.any_lease(choice)
        if lease is None:
            return
        lost = self.run(self.frontier.renew([lease]))
        assert (lost == []) is self.holds(lease)
        if not lost:
            score = self.redis.zscore(keys.leases(self.prefix), lease.place.id)
            self.urls[lease.record.url].expiry = float(score)

    @rule(seconds=st.sampled_from([1.0, 11.0, 40.0, LEASE + 1]))
    def pass_time(self, seconds: float) -> None:
        self.run(advance(self.frontier, seconds))

    @rule(alone=st.booleans())
    def crash(self, alone: bool) -> None:
        """A worker takes pages, dies, and somebody notices."""
        self.lease(6, alone=alone)
        self.pass_time(LEASE + 1)
        self.lease(0)
        self.pass_time(self.gap_ms / 1000)

    @rule()
    def expire_some(self) -> None:
        """Some leases end while others go on."""
        self.lease(2)
        self.pass_time(40.0)
        self.lease(2)
        self.pass_time(LEASE - 39)
        self.lease(0)

    @rule(host=st.sampled_from(HOSTS), seconds=st.sampled_from([0, 5, 100]))
    def block(self, host: str, seconds: int) -> None:
        before = self.now()
        self.run(self.frontier.block_host(host, seconds, "for a test"))
        closed = self.hosts[host].closed_until
        self.hosts[host].closed_until = max(closed, before + seconds * 1000) if seconds else 0.0

    @rule(url=st.sampled_from(URLS))
    def forget(self, url: str) -> None:
        assert self.run(operations.forget(self.frontier, url)) is (url in self.urls)
        page = self.urls.pop(url, None)
        if page is not None and page.state == "leased" and self.gap_ms:
            host = self.hosts[host_of(url)]
            host.closed_until = max(host.closed_until, page.expiry + self.gap_ms)
            host.locked_by.discard(url)

    @rule(url=st.sampled_from(URLS), delay=st.sampled_from([None, 0.0, 30.0]))
    def reschedule(self, url: str, delay: float | None) -> None:
        before, page = self.now(), self.urls.get(url)
        outcome = self.run(operations.reschedule(self.frontier, url, delay))
        expected = "unknown" if page is None else "leased" if page.state == "leased" else "moved"
        assert outcome == expected
        if page is not None and outcome == "moved":
            page.deaths, page.state = 0, "retired" if delay is None else "queued"
            if delay is not None:
                at_once = before if self.horizon is None else min(before, self.horizon)
                self.adopt_due(url, before + delay * 1000 if delay else at_once)

    @rule(url=st.sampled_from(URLS), list_=st.integers(0, LISTS - 1), level=st.integers(0, 2))
    def amend(self, url: str, list_: int, level: int) -> None:
        page = self.urls.get(url)
        if page is None:
            return
        record = self.run(known(self.frontier, url)).record
        # What stands there already counts as written, even while a worker has the page: see `amend`.
        expected = page.state != "leased" or (record.list, record.level) == (list_, level)
        assert self.run(operations.amend(self.frontier, record, list=list_, level=level)) is expected
        if page.state != "leased":
            page.list, page.level = list_, level

    # what must always hold

    @invariant()
    def every_url_is_in_exactly_one_state(self) -> None:
        if not hasattr(self, "redis"):
            return
        places, owners, count, deaths = self.places()
        ids = {self.frontier.place(url).id: page for url, page in self.urls.items()}
        for url_id, page in ids.items():
            expected = [f"queue {page.list}"] if page.state == "queued" else [page.state]
            assert places.pop(url_id, ["retired"]) == expected, page
        assert places == {}, "URLs that nobody knows"
        assert owners == {url_id for url_id, page in ids.items() if page.state in {"leased", "suspect"}}
        assert count == len(self.urls)
        assert deaths == {url_id: page.deaths for url_id, page in ids.items() if page.deaths}

    @invariant()
    def no_score_tells_more_than_the_records_level(self) -> None:
        """`discover` takes a waiting URL's score for its level: less costs a look, more would cost pages."""
        if not hasattr(self, "redis"):
            return
        read, places = self.redis.pipeline(transaction=False), [*map(self.frontier.place, self.urls)]
        for place, page in zip(places, self.urls.values(), strict=True):
            read.zscore(keys.queue(self.prefix, page.list, place.host.id), place.id)
        for page, score in zip(self.urls.values(), read.execute(), strict=True):
            assert score is None or (math.ceil(score) - score) * 256 <= page.level

    @invariant()
    def every_record_is_found_where_it_is_looked_for(self) -> None:
        if not hasattr(self, "redis"):
            return
        records = [glance.record for glance in self.run(look_many(self.frontier, self.urls))]
        found = {record.url: (record.list, record.visits) for record in records}
        assert found == {url: (page.list, page.visits) for url, page in self.urls.items()}

    def places(self) -> tuple[dict[bytes, list[str]], set[bytes], int, dict[bytes, int]]:
        """Where each URL stands, by reading every key; a host with a queue must stand in its ready set."""
        prefix, hosts = self.prefix, [self.frontier.place_host(name).id for name in HOSTS]
        read = self.redis.pipeline(transaction=False)
        read.zrange(keys.leases(prefix), 0, -1).zrange(keys.suspects(prefix), 0, -1)
        read.hkeys(keys.quarantine(prefix)).hkeys(prefix + b"owners").hgetall(prefix + b"deaths")
        read.hget(keys.meta(prefix), b"urls")
        for list_ in range(LISTS):
            read.zrange(keys.ready(prefix, list_), 0, -1)
            for host in hosts:
                read.zrange(keys.queue(prefix, list_, host), 0, -1)
        leased, suspects, quarantined, owners, deaths, count, *lists = read.execute()
        sources = {"leased": leased, "suspect": suspects, "quarantined": quarantined}
        for list_ in range(LISTS):
            ready, *queues = lists[list_ * (1 + len(hosts)) : (list_ + 1) * (1 + len(hosts))]
            assert {host for host, queue in zip(hosts, queues, strict=True) if queue} <= set(ready)
            sources[f"queue {list_}"] = [url_id for queue in queues for url_id in queue]
        found: dict[bytes, list[str]] = {}
        for place, members in sources.items():
            for url_id in members:
                found.setdefault(url_id, []).append(place)
        return found, set(owners), int(count or 0), {url_id: int(n) for url_id, n in deaths.items()}

    def drain(self) -> None:
        """In the end every page can be visited, save those that are retired or quarantined."""
        waiting = {u for u, page in self.urls.items() if page.state in {"queued", "suspect", "leased"}}
        for host in HOSTS:
            self.run(self.frontier.block_host(host, 0, ""))
        self.run(advance(self.frontier, YEAR))
        self.run(self.frontier.begin())
        seen: Counter[str] = Counter()
        for _ in range(60):
            for alone in (False, True):
                for lease in self.run(take(self.frontier, 20, alone=alone)):
                    seen[lease.record.url] += 1
                    assert self.run(
                        self.frontier.complete(lease, lease.record, delay=None, since_response=0.0)
                    )
            self.run(advance(self.frontier, 31.0))
        assert waiting - seen.keys() <= {u for u in waiting if self.urls[u].deaths == 2}
        assert all(count == 1 for count in seen.values())

    # helpers

    def changes_nothing(self, again: Any) -> Any:
        """The answer of a call that is made again as if its answer had been lost."""
        before = self.everything()
        answer = self.run(again)
        assert self.everything() == before
        return answer

    def everything(self) -> dict[bytes, bytes]:
        """All keys of the frontier as they are stored, save the clock's."""
        tag = keys.tag(0)
        names = sorted(set(self.redis.keys(tag + b"*")) - {keys.clock(0), tag + b"woke"})
        read = self.redis.pipeline(transaction=False)
        for name in names:
            read.dump(name)
        return dict(zip(names, read.execute(), strict=True))

    @property
    def prefix(self) -> bytes:
        return keys.namespace_prefix(0, self.frontier.namespace)

    def any_lease(self, choice: Choice) -> Lease | None:
        """One that a worker has now, if that is wanted and there is any; else one given at some time."""
        has_it_now, which = choice
        held = [lease for lease in self.given if self.holds(lease)]
        leases = held if has_it_now and held else self.given
        return leases[which % len(leases)] if leases else None

    def holds(self, lease: Lease) -> bool:
        page = self.urls.get(lease.record.url)
        return page is not None and page.state == "leased" and page.lease is lease

    def adopt_due(self, url: str, expected: float) -> None:
        """Takes the due time over from the frontier, if it is what it should be or a moment later."""
        found = self.run(known(self.frontier, url))
        assert found.state == "queued"
        assert expected <= found.time * 1000 <= expected + 5000
        page = self.urls[url]
        queue = keys.queue(self.prefix, page.list, self.frontier.place(url).host.id)
        page.due = keys.due_seconds(self.redis.zscore(queue, self.frontier.place(url).id)) * 1000

    def leave(self, url: str, now: float) -> None:
        """A visit has ended: its host is closed for the gap."""
        host = self.hosts[host_of(url)]
        host.locked_by.discard(url)
        if self.gap_ms:
            host.closed_until = max(host.closed_until, now + self.gap_ms)


def holder(bench: Bench) -> redis.Redis:
    """The server that has the one partition."""
    if not bench.clustered:
        return redis.Redis.from_url(bench.url)
    with redis.RedisCluster.from_url(bench.url) as cluster:
        node = cluster.get_node_from_key(keys.tag(0))
    return redis.Redis(host=node.host, port=node.port)


def host_of(url: str) -> str:
    return url.split("/")[2]

"""What the Scrapy parts of one crawl share: settings, frontier, repository, policy, ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from incrawl.admission import Admission
from incrawl.collection.hastening import Hastener
from incrawl.collection.keeper import Keeper
from incrawl.config import Config
from incrawl.core.identity import robots_name
from incrawl.core.refresh import policy_from
from incrawl.core.refresh.policy import Collection, Limits, SpendsAll
from incrawl.core.values import Rate
from incrawl.errors import ServerError
from incrawl.filter_pass import apply_filters
from incrawl.frontier import bounded, operations
from incrawl.frontier.connection import connect
from incrawl.frontier.connections import CONNECTIONS
from incrawl.frontier.frontier import Find, Frontier
from incrawl.frontier.trapped import known_traps
from incrawl.going_through import GoingThrough
from incrawl.host_trust import HostTrust
from incrawl.ledger import Ledger
from incrawl.lessons import Lessons
from incrawl.purse import Purse
from incrawl.repository import Repository
from incrawl.robots_files import RobotsFiles
from incrawl.seen import SeenLinks
from incrawl.shelf import Shelf
from incrawl.sitemap_reader import SitemapReader
from incrawl.twins import Twins

_workers: WeakKeyDictionary[Crawler, Worker] = WeakKeyDictionary()


def namespace_of(config: Config, settings: BaseSettings, spider: str) -> str:
    """The name of a spider's set of URL records."""
    return config.namespace or f"{settings['BOT_NAME']}/{spider}"


async def open_frontier(
    settings: BaseSettings, config: Config, spider: str, *, warn: bool = True
) -> Frontier:
    """The frontier of a spider, on the server that the settings name."""
    return await Frontier.open(
        await connect(settings, config, warn=warn),
        namespace_of(config, settings, spider),
        partitions=config.partitions,
        lease_time=config.lease_time,
        gap=config.host_interval,
        continuous=config.continuous,
    )


async def bind(frontier: Frontier, repository: Repository) -> None:
    """Makes frontier and repository belong together; a frontier that was lost is not begun anew unnoticed."""
    if not await frontier.is_bound() and frontier.namespace in repository.namespaces():
        raise ServerError(
            f"The frontier knows nothing of {frontier.namespace}, but {repository.root} holds its documents: "
            "`scrapy rebuild` or `scrapy restore` brings it back. To begin anew, name another directory in "
            "INCRAWL_REPOSITORY_DIR."
        )
    await frontier.bind_repository(repository.identity)


class Worker:
    """One per crawler. `open` comes before `frontier` and `ledger` are used."""

    frontier: Frontier
    ledger: Ledger
    keeper: Keeper

    def __init__(
        self, config: Config, settings: BaseSettings, spider: str, count: Callable[..., None]
    ) -> None:
        self.config = config
        self.count = count  # adds to a stat: count("incrawl/part/outcome", 2)
        self.repository = Repository(config.repository_dir, namespace_of(config, settings, spider))
        self.shelf = Shelf(self.repository)
        self.policy = policy_from(config)
        self.limits = Limits.from_config(config)
        self.purse: Purse | None = None  # where there is a budget
        self._hastener: Hastener | None = None  # where all of it is to be spent
        self.through = GoingThrough(self)
        self.seen = SeenLinks()
        self.obeys_robots = settings.getbool("ROBOTSTXT_OBEY")
        self.robots = RobotsFiles(
            self, robots_name(settings["ROBOTSTXT_USER_AGENT"] or settings["USER_AGENT"])
        )
        self.admission = Admission(config, count, self.robots.known)
        self.sitemaps = SitemapReader(self)
        self.trust = HostTrust(self)
        self.lessons = Lessons(self)
        self.twins = Twins(self)
        self.discovering = 0  # batches of links on their way to the frontier
        self.on_discovered: Callable[[set[int]], None] = lambda partitions: None
        self._settings = settings
        self._spider = spider

    @classmethod
    def of(cls, crawler: Crawler) -> Worker:
        """The worker of a crawler, made when first asked for."""
        worker = _workers.get(crawler)
        if worker is None:
            config = Config.from_settings(crawler.settings)

            def count(name: str, by: int = 1) -> None:
                crawler.stats.inc_value(name, by)

            worker = _workers[crawler] = cls(config, crawler.settings, crawler.spidercls.name, count)
        return worker

    async def open(self) -> None:
        """Reaches the server, clears up after dead workers and begins the run."""
        self.frontier = await open_frontier(self._settings, self.config, self._spider)
        await bind(self.frontier, self.repository)
        for host, seconds in self.config.host_intervals.items():
            await self.frontier.set_gap(host, seconds)
        self.ledger = Ledger(self)
        self.keeper = Keeper(self.frontier, self.repository, self.config, self.policy)
        await self.keeper.open()
        if self.config.budget is not None:
            self.purse = Purse(self.frontier, self.config.budget, self.config.max_wait, self.count)
            await self._use_all_of(self.config.budget)
        await self.repository.sweep(self._is_current)
        await apply_filters(self)
        self.admission.traps.learn_all(await known_traps(self.frontier))
        await self.frontier.begin()

    async def _use_all_of(self, budget: Rate) -> None:
        if not isinstance(self.policy, SpendsAll) or not self.policy.spends_all:
            return
        self._hastener = Hastener(self.frontier, budget, self.limits, self.count)
        if self.config.continuous:
            self._hastener.start()
        else:
            await self._hastener.at_start(self.keeper.snapshot.time)

    async def discover(self, finds: Sequence[Find], *, seeds: bool = False) -> int:
        """Makes URLs known to the frontier, and has the partitions looked at that may now have work.

        `seeds`, which somebody has asked for, are visited even where the collection is full.
        """
        self.discovering += 1
        connections = CONNECTIONS.made
        try:
            new = await self._make_known(finds, seeds)
        finally:
            self.discovering -= 1
        self.seen.add(((find.url, find.level) for find in finds), connections)
        if not seeds:
            self.count("incrawl/links/looked_up", len(finds))
            self.count("incrawl/links/new", new)
        self.on_discovered({find.place.host.partition for find in finds})
        return new

    async def _make_known(self, finds: Sequence[Find], seeds: bool) -> int:
        size = self.config.collection_size
        if size is not None and not seeds:
            return await bounded.discover_within(self.frontier, finds, size)
        new = await self.frontier.discover(finds)
        if size is not None:
            await bounded.admit(self.frontier, new)
        return new

    @property
    def collection(self) -> Collection:
        """What is known of all pages together, as of the latest ranking."""
        return self.keeper.collection

    async def close(self, *, finished: bool) -> None:
        """Lets go of the server. A run that is `finished` was not stopped: it may end with a ranking."""
        try:
            if finished:
                await self.keeper.conclude()
        finally:
            if self._hastener is not None:
                await self._hastener.close()
            await self.keeper.close()
            await self.frontier.close()

    async def _is_current(self, url: str, run: str) -> bool:
        known = await operations.look(self.frontier, url)
        return known is not None and known.record.document == run

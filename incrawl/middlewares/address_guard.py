"""Keeps the crawl on the public web: http and https, to addresses that may be contacted.

The addresses themselves are checked by the resolver (`incrawl.network.resolver`), when connecting.
This middleware makes sure that the resolver is in force and says in the stats and to the visit what
was refused: `incrawl/address/scheme`, `…/proxy`, `…/credentials`, `…/private`, and `…/no_contact` where
only networks opened by name may be contacted, because nobody is named who runs the crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.exceptions import CannotResolveHostError
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object

from incrawl.errors import ConfigError
from incrawl.network.resolver import GuardedResolver, policy_from
from incrawl.refusals import refuse

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector


class AddressGuardMiddleware:
    """Stands before all that may send something for a request, such as the look at robots.txt."""

    def __init__(self, stats: StatsCollector, resolver: GuardedResolver):
        self.stats = stats
        self.resolver = resolver

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> AddressGuardMiddleware:
        check_handlers(crawler.settings)
        guard = cls(crawler.stats, GuardedResolver.from_crawler(crawler, running_reactor()))
        crawler.signals.connect(guard.take_hold, signals.engine_started)
        return guard

    def take_hold(self) -> None:
        """Uses the resolver that Scrapy installed; installs its own where there is none or another policy."""
        installed = running_reactor().nameResolver
        if isinstance(installed, GuardedResolver) and installed.policy == self.resolver.policy:
            self.resolver = installed
        else:
            self.resolver.install_on_reactor()

    def process_request(self, request: Request) -> None:
        if self.resolver is not running_reactor().nameResolver:
            # A reactor has one resolver: a second crawl in this process has put its own in place.
            raise ConfigError("Crawls with different INCRAWL_ALLOW_NETWORKS need processes of their own.")
        parts = urlparse_cached(request)
        if parts.scheme not in {"http", "https"}:
            raise refuse(self.stats, "address", "scheme", parts.scheme)
        if request.meta.get("proxy"):
            # A proxy looks up names itself; what it connects to could not be checked.
            raise refuse(self.stats, "address", "proxy")
        if "@" in parts.netloc:
            raise refuse(self.stats, "address", "credentials", parts.hostname or "")

    def process_exception(self, request: Request, exception: Exception) -> None:
        host = urlparse_cached(request).hostname or ""
        if isinstance(exception, CannotResolveHostError) and self.resolver.refuses(host):
            public = self.resolver.policy.public
            raise refuse(self.stats, "address", "private" if public else "no_contact", host)


def check_handlers(settings: BaseSettings) -> None:
    """A download handler that does its own name look-ups would get around the guard."""
    if policy_from(settings).open_to_all:
        return
    for scheme, path in settings.getwithbase("DOWNLOAD_HANDLERS").items():
        if path is None:
            continue
        if scheme not in {"http", "https"}:
            raise ConfigError(f"DOWNLOAD_HANDLERS must have no handler for {scheme}: set it to None.")
        if not issubclass(load_object(path), HTTP11DownloadHandler):
            raise ConfigError(f"The {scheme} handler {path} does not check the addresses it connects to.")


def running_reactor() -> Any:
    from twisted.internet import reactor

    return reactor

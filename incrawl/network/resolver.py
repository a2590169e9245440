"""The name resolver of the crawl: it gives out only addresses that may be contacted.

Twisted connects to the addresses that its resolver hands over and to no others, for names and for
literal addresses alike. What is checked here is therefore what is connected to: a name cannot turn
private between check and use, and no request, redirect, robots.txt or sitemap gets around it.
"""

# ruff: noqa: N802, N803 - Twisted's interfaces name the methods and their arguments.

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IAddress, IHostnameResolver, IHostResolution, IResolutionReceiver
from zope.interface import implementer

from incrawl.config import Config
from incrawl.core.addresses import AddressBook, AddressPolicy, Answer
from incrawl.core.identity import contact_in

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

# Providers of Twisted's zope interfaces, which type checkers cannot follow.
Receiver = Any
Resolver = Any
Reactor = Any


@implementer(IHostResolution)
class Resolution:
    """One question under way, as Twisted wants to see it."""

    def __init__(self, name: str):
        self.name = name

    def cancel(self) -> None:
        raise NotImplementedError("A question to the system's resolver cannot be taken back.")


@implementer(IResolutionReceiver)
class Question:
    """A name being looked up, and everybody who waits for it."""

    def __init__(self, resolver: GuardedResolver, host: str):
        self.resolver = resolver
        self.host = host
        self.waiting: list[tuple[Receiver, int]] = []
        self.addresses: list[str] = []
        self.timer = resolver.reactor.callLater(resolver.timeout, self.give_up)

    def resolutionBegan(self, resolutionInProgress: Resolution) -> None:
        """Nothing to do: those who wait were told when they asked."""

    def addressResolved(self, address: IPv4Address | IPv6Address) -> None:
        self.addresses.append(address.host)

    def resolutionComplete(self) -> None:
        if self.timer.active():
            self.timer.cancel()
        self.tell(self.resolver.note(self.host, self.addresses))

    def give_up(self) -> None:
        """No answer in time: as if there were no address. A late answer still goes into the book."""
        self.tell(Answer((), 0, 0.0))

    def tell(self, answer: Answer) -> None:
        self.resolver.questions.pop(self.host, None)
        waiting, self.waiting = self.waiting, []
        for receiver, port in waiting:
            deliver(receiver, answer, port)


@implementer(IHostnameResolver)
class GuardedResolver:
    """Set as `TWISTED_DNS_RESOLVER`. Asks Twisted's own resolver where the book has no answer."""

    def __init__(self, reactor: Reactor, policy: AddressPolicy, timeout: float):
        self.reactor = reactor
        self.policy = policy
        self.timeout = timeout
        self.inner: Resolver = innermost(reactor.nameResolver)
        self.book = AddressBook()
        self.questions: dict[str, Question] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Reactor) -> GuardedResolver:
        return cls(reactor, policy_from(crawler.settings), crawler.settings.getfloat("DNS_TIMEOUT"))

    def install_on_reactor(self) -> None:
        self.reactor.installNameResolver(self)

    def resolveHostName(
        self,
        resolutionReceiver: Receiver,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Resolution:
        resolution = Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        host = hostName.lower().rstrip(".")
        answer = self.book.get(host, self.reactor.seconds())
        if answer is not None:
            deliver(resolutionReceiver, answer, portNumber)
        elif host in self.questions:
            self.questions[host].waiting.append((resolutionReceiver, portNumber))
        else:
            question = self.questions[host] = Question(self, host)
            question.waiting.append((resolutionReceiver, portNumber))
            self.inner.resolveHostName(question, host, 0, addressTypes, transportSemantics)
        return resolution

    def note(self, host: str, addresses: Sequence[str]) -> Answer:
        """Puts an answer into the book, without the addresses that may not be contacted."""
        known = list(dict.fromkeys(addresses))
        allowed = [address for address in known if self.policy.allows(address)]
        return self.book.add(host, allowed, len(known) - len(allowed), self.reactor.seconds())

    def refuses(self, host: str) -> bool:
        """Whether the name was just found to have addresses, but none that may be contacted."""
        answer = self.book.get(host.lower().rstrip("."), self.reactor.seconds())
        return answer is not None and answer.refused > 0 and not answer.addresses


def policy_from(settings: BaseSettings) -> AddressPolicy:
    """Real sites are open only to a crawler that says who runs it."""
    config = Config.from_settings(settings)
    return AddressPolicy(
        config.allow_networks, bool(config.contact or contact_in(settings["USER_AGENT"] or ""))
    )


def innermost(resolver: Resolver) -> Resolver:
    """The resolver below any guard: a new guard takes an old one's place, it does not stand on it."""
    return resolver.inner if isinstance(resolver, GuardedResolver) else resolver


def deliver(receiver: Receiver, answer: Answer, port: int) -> None:
    for address in answer.addresses:
        kind = IPv6Address if ":" in address else IPv4Address
        receiver.addressResolved(kind("TCP", address, port))
    receiver.resolutionComplete()

"""Which network addresses may be contacted, and which host stood for which address.

Only addresses of the public Internet are open by default; a page that links to a router, a
database on loopback or a cloud's metadata service gets nothing from this crawler.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NAMED_NETWORKS = {
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    "any": ("0.0.0.0/0", "::/0"),
}
_IPV6_INTERNET = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_6TO4 = ipaddress.IPv6Network("2002::/16")
# Inside 2000::/3, not yet known as special to the ipaddress module of every Python we run on.
_DOCUMENTATION = ipaddress.IPv6Network("3fff::/20")
_RELAY_ANYCAST = ipaddress.IPv4Network("192.88.99.0/24")


def read_networks(text: str | Iterable[str]) -> tuple[Network, ...]:
    """Networks as people write them: `loopback, 10.1.0.0/16, ::1`. Raises ValueError."""
    words = text.split(",") if isinstance(text, str) else text
    found: list[Network] = []
    for word in (word.strip().lower() for word in words):
        if word:
            found.extend(
                ipaddress.ip_network(name, strict=False) for name in NAMED_NETWORKS.get(word, (word,))
            )
    return tuple(found)


def is_address(text: str) -> bool:
    """Whether the text is a literal address, and no name."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def unwrapped(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for (mapped, NAT64, 6to4), else itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _6TO4 and address.sixtofour is not None:
        return address.sixtofour
    return address


def is_global(address: Address) -> bool:
    """Whether this is one machine on the public Internet.

    Stricter than `ipaddress.is_global`, which in some Python versions takes multicast, site-local
    and IPv4-compatible addresses for global ones.
    """
    plain = unwrapped(address)
    if isinstance(plain, ipaddress.IPv4Address):
        return plain.is_global and not plain.is_multicast and plain not in _RELAY_ANYCAST
    return plain in _IPV6_INTERNET and plain.is_global and plain not in _DOCUMENTATION


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Global addresses are open, unless `public` is False, and so are those in `allowed`.

    >>> AddressPolicy().allows("::ffff:127.0.0.1")
    False
    >>> AddressPolicy(read_networks("loopback")).allows("::ffff:127.0.0.1")
    True
    """

    allowed: tuple[Network, ...] = ()
    public: bool = True

    @property
    def open_to_all(self) -> bool:
        return any(network.prefixlen == 0 for network in self.allowed)

    def allows(self, text: str) -> bool:
        """Whether the address may be connected to; what is no address may not."""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return False
        return self.opens(address) or (self.public and is_global(address))

    def opens_text(self, text: str) -> bool:
        """Whether the text is an address in a network that was opened by name."""
        try:
            return self.opens(ipaddress.ip_address(text))
        except ValueError:
            return self.open_to_all

    def opens(self, address: Address) -> bool:
        """Whether the address lies in a network that was opened by name, such as loopback."""
        plain = unwrapped(address)
        return any(plain in network or address in network for network in self.allowed)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a name stood for: addresses that may be contacted, how many others there were, until when."""

    addresses: tuple[str, ...]
    refused: int
    expires: float


class AddressBook:
    """Host names and their addresses, for a bounded time and of a bounded number."""

    def __init__(self, lifetime: float = 300.0, size: int = 10_000, miss_lifetime: float = 30.0):
        self.lifetime = lifetime
        self.miss_lifetime = miss_lifetime
        self.size = size
        self._answers: OrderedDict[str, Answer] = OrderedDict()

    def add(self, host: str, addresses: Iterable[str], refused: int, now: float) -> Answer:
        """Notes what a name stands for; a name without a usable address is asked again sooner."""
        found = tuple(addresses)
        answer = Answer(found, refused, now + (self.lifetime if found else self.miss_lifetime))
        self._answers[host] = answer
        self._answers.move_to_end(host)
        while len(self._answers) > self.size:
            self._answers.popitem(last=False)
        return answer

    def get(self, host: str, now: float) -> Answer | None:
        """What the name stands for, or None when it must be asked (again)."""
        answer = self._answers.get(host)
        if answer is None or answer.expires <= now:
            self._answers.pop(host, None)
            return None
        return answer

    def pairs(self) -> Iterator[tuple[str, str]]:
        """All (host, address) pairs known, the papers' URL–IP pairs."""
        for host, answer in self._answers.items():
            for address in answer.addresses:
                yield host, address

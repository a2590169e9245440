"""The guarded resolver with a table in place of DNS, for crawls that tests run in their own process."""

from __future__ import annotations

import ipaddress
import json
import os
from typing import Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHostnameResolver
from zope.interface import implementer

from incrawl.network.resolver import GuardedResolver


@implementer(IHostnameResolver)
class Table:
    """Each look-up of a name takes its next address; the last one stays. Literal addresses are themselves."""

    def __init__(self) -> None:
        self.names: dict[str, list[str]] = json.loads(os.environ["PROBE_NAMES"])

    def resolveHostName(self, receiver: Any, host: str, port: int = 0, *_: Any) -> Any:  # noqa: N802
        for address in self.addresses(host):
            kind = IPv6Address if ":" in address else IPv4Address
            receiver.addressResolved(kind("TCP", address, port))
        if self.names.get(host) != ["never"]:
            receiver.resolutionComplete()

    def addresses(self, host: str) -> list[str]:
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            known = self.names.get(host) or self.names.get(f"*.{host.partition('.')[2]}", [])
            found = known.pop(0) if len(known) > 1 else "".join(known)
            return [part for part in found.split() if part != "never"]


class TableResolver(GuardedResolver):
    def __init__(self, *args: Any):
        super().__init__(*args)
        self.inner = Table()
        self.book.lifetime = float(os.environ.get("PROBE_DNS_LIFETIME", "300"))

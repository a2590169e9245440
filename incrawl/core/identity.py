"""Who this crawler says it is: its User-Agent, the contact in it, and the name robots.txt knows it by.

Also the other way round: names and passwords in URLs are nobody's business, and are taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from incrawl.core.addresses import AddressPolicy, is_address
from incrawl.errors import ConfigError

_CONTACT = re.compile(r"\+?https?://(?!(?:www\.)?scrapy\.org\b)\S+|[^\s@()]+@[^\s@()]+\.[^\s@()]+", re.I)
_CREDENTIALS = re.compile(r"(?<=://)[^/?#@\s]*@")


def user_agent(name: str, contact: str) -> str:
    """The User-Agent header: a name, and where to complain.

    >>> user_agent("incrawl/0.1", "https://example.org/crawler")
    'incrawl/0.1 (+https://example.org/crawler)'
    """
    if not contact or contact in name:
        return name
    sign = "+" if contact.startswith(("http://", "https://")) else ""
    return f"{name} ({sign}{' '.join(contact.split())})"


def contact_in(agent: str) -> str:
    """The contact that a User-Agent names; Scrapy's own address is nobody's.

    >>> contact_in("mybot/2 (+https://example.org/bot)"), contact_in("Scrapy/2.19 (+https://scrapy.org)")
    ('https://example.org/bot', '')
    """
    found = _CONTACT.search(agent)
    return found[0].lstrip("+").rstrip(");,") if found else ""


def robots_name(agent: str) -> str:
    """The product token that robots.txt files are searched for.

    >>> robots_name("incrawl/0.1 (+https://example.org)")
    'incrawl'
    """
    found = re.match(r"[\w-]+", agent)
    return found[0].lower() if found else "*"


def check_contact(contact: str, urls: Iterable[str], policy: AddressPolicy) -> None:
    """Raises ConfigError for a crawl of real sites by nobody in particular.

    Real is any host that is not plainly inside the networks that were opened by name.
    """
    if contact:
        return
    for url in urls:
        host = urlsplit(url).hostname or ""
        if not is_own(host, policy):
            raise ConfigError(
                f"Crawling {host} needs a contact: set INCRAWL_CONTACT to a web or mail address that its "
                f"owner can write to (make crawl SEEDS=… CONTACT=…)."
            )


def check_addresses(urls: Iterable[str], policy: AddressPolicy) -> None:
    """Raises ConfigError where no URL at all may be asked for, by the literal address (or `localhost`) in it.

    With others beside them, such URLs are refused one by one, like links.
    """
    hosts = [urlsplit(url).hostname or "" for url in urls]
    if hosts and all(is_address(_address(host)) and not policy.allows(_address(host)) for host in hosts):
        raise ConfigError(
            f"{hosts[0]} is no public address: INCRAWL_ALLOW_NETWORKS=loopback or =private opens one's own "
            "networks to the crawl."
        )


def is_own(host: str, policy: AddressPolicy) -> bool:
    """Whether a host, by its literal address or as `localhost`, lies in an opened network."""
    return policy.opens_text(_address(host))


def _address(host: str) -> str:
    return "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host


def without_credentials(url: str) -> str:
    """A URL, or a text with URLs in it, without names and passwords.

    >>> without_credentials("https://user:secret@example.com/a")
    'https://example.com/a'
    """
    return _CREDENTIALS.sub("", url) if "@" in url else url

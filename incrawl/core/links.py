"""Which links of a page lead to pages of the same site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from incrawl.core.urls import host_key, is_web_url


def site_of(url: str) -> str:
    """The site of a URL: its host key, `www.` left out.

    >>> site_of("https://www.example.com/news")
    'example.com'
    """
    return host_key(url).removeprefix("www.")


def inside_site(page_url: str, links: Iterable[str]) -> Iterator[str]:
    """The links that stay on the page's site."""
    site = site_of(page_url)
    return (link for link in links if is_web_url(link) and site_of(link) == site)

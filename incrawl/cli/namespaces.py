"""Which set of URL records a command is about."""

from __future__ import annotations

from collections.abc import Collection

from incrawl.errors import ConfigError

DEFAULT_SPIDER = "incremental"
OUTSIDE = "scrapybot"  # what Scrapy calls a project where there is none


def choose_namespace(known: Collection[str], project: str, spider: str | None) -> str:
    """The namespace that is meant: named, usual, or the only one there is.

    Outside a project incrawl's own spider comes first, as it does for `scrapy crawl`; else the spider's
    name alone has to do.

    >>> choose_namespace({"shop/books"}, "scrapybot", None)
    'shop/books'
    """
    project = "incrawl" if project == OUTSIDE else project
    usual = f"{project}/{spider or DEFAULT_SPIDER}"
    if usual in known or not known:
        return usual
    if spider:
        near = [name for name in known if name.endswith(f"/{spider}")]
    else:
        near = [name for name in known if name.startswith(f"{project}/")] or list(known)
    if len(near) == 1:
        return near[0]
    names = ", ".join(sorted(near or known))
    raise ConfigError(f"Say which spider is meant, with --spider or INCRAWL_NAMESPACE; there are: {names}.")

"""What a page asks of robots about itself: `X-Robots-Tag` headers and `<meta name="robots">`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_AGENT_PREFIX = re.compile(r"\s*([\w-]+)\s*:(.*)", re.S)
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """`noindex`: the document is not kept. `nofollow`: its links are not followed."""

    noindex: bool = False
    nofollow: bool = False


def robots_tags(headers: Iterable[str], metas: Iterable[str], agent: str) -> RobotsTags:
    """What holds for `agent`, from X-Robots-Tag headers and the words of the page's meta tags.

    >>> robots_tags(["otherbot: noindex", "nofollow"], ["noindex"], "incrawl")
    RobotsTags(noindex=True, nofollow=True)
    """
    words = {word for header in headers for word in header_words(header, agent.lower())}
    words.update(word.strip().lower() for word in metas)
    everything = "none" in words
    return RobotsTags(everything or "noindex" in words, everything or "nofollow" in words)


def header_words(header: str, agent: str) -> Iterable[str]:
    """The words of one header that are for everybody or for `agent`; `name:` narrows those after it."""
    for_us = True
    for part in header.lower().split(","):
        prefix = _AGENT_PREFIX.fullmatch(part)
        if prefix and prefix[1] not in _WITH_VALUE:
            for_us = prefix[1] == agent
            part = prefix[2]
        if for_us:
            yield part.strip()

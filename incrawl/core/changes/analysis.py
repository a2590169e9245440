"""What one look at a page tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from incrawl.core.changes.ignored import Ignored
from incrawl.core.changes.links import MAX_LINKS, Links
from incrawl.core.changes.paragraphs import Paragraph
from incrawl.core.changes.places import Places
from incrawl.core.changes.signatures import Signatures


@dataclass(frozen=True)
class Analysis:
    """What one fetch of a page says. What not every visit needs is worked out when asked for."""

    signatures: Signatures
    text: tuple[bytes, ...] = field(repr=False)  # of the paragraphs, UTF-8
    all_links: Links = field(repr=False)
    title: str = ""
    robots: tuple[str, ...] = ()
    canonical: str = ""
    feeds: tuple[str, ...] = ()
    ignored: Ignored = field(default_factory=Ignored)

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Absolute http(s) URLs in document order, without duplicates and without nofollow ones."""
        return self.all_links.urls[0][:MAX_LINKS]

    @cached_property
    def nofollow_links(self) -> tuple[str, ...]:
        return self.all_links.urls[1][:MAX_LINKS]

    @property
    def links_left_out(self) -> int:
        """Links beyond what is taken from one page."""
        return sum(max(len(urls) - MAX_LINKS, 0) for urls in self.all_links.urls)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of each paragraph."""
        return tuple(text.decode("utf-8", "replace") for text in self.text)

    @cached_property
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The text-bearing paragraphs with their places and sums."""
        signatures = self.signatures
        nodes = signatures.column("nodes").tolist()
        levels = signatures.tree.levels.tolist()
        columns = zip(
            self.texts,
            Places(signatures.tree).xpaths(nodes),
            [levels[node] for node in nodes],
            signatures.column("paragraph_rms").tolist(),
            signatures.column("paragraph_checksums").tolist(),
            strict=True,
        )
        return tuple(Paragraph(*values) for values in columns)

"""Conditional requests: which validators to send, and whether a host's answers to them can be believed.

Two kinds of servers lie. Some say 304 though the page has changed: occasional full fetches find them
out. Some give a page another ETag each time, so that nothing is ever saved. What was found out is
kept per host, in a value that workers share.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

FULL_FETCH_EVERY = 10  # visits of a page
SHARED_NAME = "validators"  # of the value that workers share, among what they know of a host
DOUBTS_ALLOWED = 3
USELESS_ALLOWED = 5
LONGEST_VALIDATOR = 1000


@dataclass(frozen=True, slots=True)
class Validators:
    """The ETag and Last-Modified headers of one version of a page, as received; empty where there is none."""

    etag: str = ""
    last_modified: str = ""

    def common_with(self, other: Validators) -> Validators:
        """The validators that two versions share."""
        return Validators(
            self.etag if self.etag == other.etag else "",
            self.last_modified if self.last_modified == other.last_modified else "",
        )

    def __bool__(self) -> bool:
        return bool(self.etag or self.last_modified)


@dataclass(frozen=True, slots=True)
class Trust:
    """What is known of a host's validators."""

    honest: bool = True  # False: it was caught saying "not modified" of a page that was
    etag: bool = True  # False: its ETags change although pages do not
    doubts: int = 0
    useless: int = 0

    def __str__(self) -> str:
        if not self.honest:
            return "not trusted: 304 though changed"
        return "trusted" if self.etag else "ETag not trusted: it always changes"

    def headers(self, stored: Validators) -> dict[str, str]:
        """The headers of a conditional request; none where nothing can be gained or believed."""
        if not self.honest:
            return {}
        found = {}
        if self.etag and 0 < len(stored.etag) <= LONGEST_VALIDATOR:
            found["If-None-Match"] = stored.etag
        if 0 < len(stored.last_modified) <= LONGEST_VALIDATOR:
            found["If-Modified-Since"] = stored.last_modified
        return found

    def after_full_fetch(
        self, stored: Validators, received: Validators, *, changed: bool, often_changed: bool
    ) -> Trust:
        """A page was fetched without conditions, though it had validators.

        A changed page with a validator of its old version would have been called "not modified": a
        lie. A change of a page that seemed not to change between full fetches is a doubt.
        """
        if not changed:
            return replace(self, doubts=max(self.doubts - 1, 0))
        if stored.common_with(received):
            return replace(self, honest=False)
        doubts = self.doubts + (not often_changed)
        return replace(self, doubts=doubts, honest=self.honest and doubts < DOUBTS_ALLOWED)

    def after_conditional(self, stored: Validators, received: Validators, *, changed: bool) -> Trust:
        """A conditional request brought the page: rightly, or only because its ETag is a new one."""
        if changed or not stored.etag or stored.etag == received.etag:
            return self
        useless = self.useless + 1
        return replace(self, useless=useless, etag=self.etag and useless < USELESS_ALLOWED)

    def after_not_modified(self) -> Trust:
        return replace(self, useless=0)

    def pack(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def unpack(cls, data: bytes | None) -> Trust:
        """Of an unknown host, or of a value that cannot be read, nothing bad is known."""
        try:
            return cls(**json.loads(data)) if data else cls()
        except (ValueError, TypeError):
            return cls()


def is_full_fetch(visits: int) -> bool:
    """Whether the next visit of a page that was visited so often is to be unconditional."""
    return visits % FULL_FETCH_EVERY == FULL_FETCH_EVERY - 1

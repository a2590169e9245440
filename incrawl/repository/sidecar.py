"""What lies beside a document: the facts of its version, and the visits that found it unchanged."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

import msgpack

from incrawl.core.records import Outcome
from incrawl.repository.folders import RepositoryError

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sidecar:
    """All that is known of one version of a page, written once, together with the document.

    `signatures` and `volatility` belong to the change detection; here they are opaque.
    """

    url: str  # as found
    time: float  # when this version was seen first
    outcome: Outcome  # NEW for the first version of a page, else CHANGED
    kinds: tuple[str, ...] = ()
    size: str = "none"  # none, minor, major: how big the change from the previous version is
    paragraphs: tuple[str, ...] = ()  # places of the changed paragraphs
    previous: str | None = None  # run that holds the version before this one
    title: str = ""
    links: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()  # for each link, what an add-on spider asked to be done with it (JSON)
    status: int = 200
    type: str = ""
    encoding: str = ""
    length: int = 0  # bytes of the document
    ip: str = ""  # address that answered
    etag: str = ""
    last_modified: str = ""  # the header, as received
    signatures: bytes = b""
    volatility: bytes = b""
    # What the URL record said of the page itself: with it, a lost frontier can be rebuilt.
    level: int = 0
    pl: float | None = None
    pg: float | None = None
    request: str = ""

    def pack(self) -> bytes:
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values |= {"schema": SCHEMA, "outcome": str(self.outcome)}
        packed: bytes = msgpack.packb(values, unicode_errors="surrogatepass")  # odd text is still text
        return packed

    @classmethod
    def unpack(cls, data: bytes) -> Sidecar | None:
        """None for data that is no sidecar: a damaged one makes its page be taken afresh."""
        try:
            values = msgpack.unpackb(data, use_list=False, unicode_errors="surrogatepass")
            schema = values.pop("schema")
            if schema == SCHEMA:
                known = {item.name: values[item.name] for item in fields(cls) if item.name in values}
                return cls(**{**known, "outcome": Outcome(values["outcome"])})
        except (ValueError, TypeError, KeyError, AttributeError, msgpack.UnpackException):
            return None
        raise RepositoryError(f"A sidecar has schema {schema}: it needs a newer version of incrawl.")

    def visit(self, run: str) -> VisitEntry:
        """The visit that brought this version, as an entry of the history."""
        return VisitEntry(self.time, self.outcome, self.status, self.kinds, self.size, run)


@dataclass(frozen=True, slots=True)
class VisitEntry:
    """One line of a page's history."""

    time: float
    outcome: Outcome
    status: int | None = None
    kinds: tuple[str, ...] = ()
    size: str = "none"
    run: str = ""  # the version that this visit found or brought; filled in by the reader

    def line(self) -> bytes:
        known: dict[str, Any] = {"time": self.time, "outcome": str(self.outcome)}
        if self.status is not None:
            known["status"] = self.status
        if self.kinds or self.size != "none":
            known |= {"kinds": self.kinds, "size": self.size}
        return json.dumps(known, separators=(",", ":")).encode()

    @classmethod
    def from_line(cls, line: bytes, run: str) -> VisitEntry | None:
        """None for a line that was cut off by a crash."""
        try:
            seen: dict[str, Any] = json.loads(line)
            kinds = tuple(seen.get("kinds", ()))
            size = seen.get("size", "none")
            return cls(float(seen["time"]), Outcome(seen["outcome"]), seen.get("status"), kinds, size, run)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

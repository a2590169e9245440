"""What lies beside a document: the facts of its version, and the visits that found it unchanged."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field, fields
from typing import Any

import msgpack

from incrawl.core.records import Outcome
from incrawl.repository.folders import RepositoryError

SCHEMA = 1
LONGEST_REASON = 200


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
    previous_url: str = ""  # address that the version before lies under, where the page has moved
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
    ignored: dict[str, int] = field(default_factory=dict)  # what the comparison left out, counted by kind
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
        return VisitEntry(
            self.time, self.outcome, self.status, self.kinds, self.size, run, ignored=self.ignored
        )


@dataclass(frozen=True, slots=True)
class VisitEntry:
    """One line of a page's history."""

    time: float
    outcome: Outcome
    status: int | None = None
    kinds: tuple[str, ...] = ()
    size: str = "none"
    run: str = ""  # the version that this visit found or brought; filled in by the reader
    why: str = ""  # of a visit that brought nothing: what was in the way
    ignored: dict[str, int] = field(default_factory=dict)  # what the comparison left out, counted by kind
    volatile: tuple[str, ...] = ()  # places that differed and did not count
    volatility: bytes = b""  # what is known by now of the page's volatile parts

    def line(self) -> bytes:
        known: dict[str, Any] = {"time": self.time, "outcome": str(self.outcome)}
        if self.status is not None:
            known["status"] = self.status
        if self.kinds or self.size != "none":
            known |= {"kinds": self.kinds, "size": self.size}
        told = {"why": self.why[:LONGEST_REASON], "ignored": self.ignored, "volatile": self.volatile}
        known |= {name: value for name, value in told.items() if value}
        if self.volatility:
            known["volatility"] = b64encode(self.volatility).decode()
        return json.dumps(known, separators=(",", ":")).encode()

    @classmethod
    def from_line(cls, line: bytes, run: str) -> VisitEntry | None:
        """None for a line that was cut off by a crash."""
        try:
            seen: dict[str, Any] = json.loads(line)
            return cls(
                time=float(seen["time"]),
                outcome=Outcome(seen["outcome"]),
                status=seen.get("status"),
                kinds=tuple(seen.get("kinds", ())),
                size=seen.get("size", "none"),
                run=run,
                why=str(seen.get("why", "")),
                ignored=dict(seen.get("ignored", {})),
                volatile=tuple(seen.get("volatile", ())),
                volatility=b64decode(seen.get("volatility", "")),
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

"""From a page's kept history back to its URL record: every visit is gone through again, by the
algorithm that counted it the first time."""

from __future__ import annotations

from incrawl.core.changes import Signatures
from incrawl.core.records import UrlRecord, Visit
from incrawl.core.refresh.policy import Collection, Limits, RefreshPolicy
from incrawl.frontier.adoption import NEVER, Adopted
from incrawl.frontier.packing import pack
from incrawl.repository import Repository, Sidecar
from incrawl.visits import Step, Version, after_visit


class Replay:
    """Goes through histories under one policy."""

    def __init__(self, repository: Repository, policy: RefreshPolicy, limits: Limits) -> None:
        self._repository = repository
        self._policy = policy
        self._limits = limits

    def page(self, url: str, run: str) -> Adopted | None:
        """The page whose current version is in `run`; None where its facts are missing or damaged."""
        # A page that has moved may have a version under either address in one run: the newer one counts.
        versions = dict(reversed(list(self._repository.versions(url, run))))
        if not versions:
            return None
        now = versions[run]
        step = Step(UrlRecord(now.url, now.level, pl=now.pl, pg=now.pg, request=now.request), 0.0)
        last = 0.0
        for entry in reversed(list(self._repository.history(url, run))):
            brought = entry.time == versions[entry.run].time
            version = _version(entry.run, versions[entry.run]) if brought else None
            visit = Visit(entry.time, entry.outcome, entry.status)
            step = after_visit(step.record, visit, version, self._policy, Collection(), self._limits)
            last = entry.time
        due = NEVER if step.delay is None else round((last + step.delay) * 1000)
        return Adopted(pack(step.record), due)


def _version(run: str, sidecar: Sidecar) -> Version:
    signatures = Signatures.unpack(sidecar.signatures)
    digest = b"" if signatures is None else signatures.digest
    return Version(run, digest, sidecar.length, sidecar.type)

"""What a visit that brought a document comes to, from its bytes and what is known of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from incrawl.core.changes.analysis import Analysis
from incrawl.core.changes.digest import body_hash
from incrawl.core.changes.impostor import Disguise, Impostor, recognise
from incrawl.core.changes.judgement import judge
from incrawl.core.changes.reading import analyse
from incrawl.core.changes.rules import NO_RULES, IgnoreRules
from incrawl.core.changes.signatures import Signatures
from incrawl.core.changes.verdict import Verdict
from incrawl.core.changes.volatile import Volatility, learn_unchanged
from incrawl.core.records import Outcome


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document as it came."""

    body: bytes = field(repr=False)
    url: str  # where it came from in the end
    encoding: str | None = None
    unread: bool = False  # too long for a look inside: only its bytes are compared
    moved: bool = False  # whether a redirect led away from the page that was asked for


@dataclass(frozen=True, slots=True)
class Known:
    """What earlier visits left: the stored version (None: there is none), and what is volatile about it."""

    signatures: Signatures | None = field(default=None, repr=False)
    volatility: Volatility = field(default_factory=Volatility)
    elapsed: float = inf  # seconds since the stored version was last seen


@dataclass(frozen=True, slots=True)
class Finding:
    """`analysis` is None for bytes equal to last time, `verdict` where nothing was compared."""

    outcome: Outcome
    volatility: Volatility  # to be kept for the next visit
    analysis: Analysis | None = field(default=None, repr=False)
    verdict: Verdict | None = field(default=None, repr=False)
    impostor: Impostor | None = None


def examine(fetched: Fetched, known: Known, rules: IgnoreRules = NO_RULES) -> Finding:
    """One parse at most; signatures in `known` must have been made under the same rules."""
    before = known.signatures
    if before is not None and before.body_hash == body_hash(fetched.body):
        return Finding(Outcome.UNCHANGED, learn_unchanged(known.volatility))
    analysis = analyse(
        fetched.body, url=fetched.url, encoding=fetched.encoding, rules=rules, unread=fetched.unread
    )
    impostor = (
        recognise(fetched.body, analysis, moved=fetched.moved, before=before) if rules.impostors else None
    )
    if impostor is not None:
        return Finding(_outcome_of(impostor), known.volatility, analysis, impostor=impostor)
    if before is None:
        return Finding(Outcome.NEW, Volatility(), analysis)
    judged = judge(
        before, analysis.signatures, elapsed=known.elapsed, volatility=known.volatility, rules=rules
    )
    return Finding(_outcome_by(judged.verdict), judged.volatility, analysis, judged.verdict)


def _outcome_by(verdict: Verdict) -> Outcome:
    if verdict.changed:
        return Outcome.CHANGED
    return Outcome.VOLATILE if verdict.volatile_only else Outcome.UNCHANGED


def _outcome_of(impostor: Impostor) -> Outcome:
    """An error is tried again soon; whoever shows a wall goes on showing it for a while."""
    return Outcome.FAILED if impostor.disguise is Disguise.ERROR else Outcome.REFUSED

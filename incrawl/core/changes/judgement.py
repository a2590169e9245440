"""One visit's comparison from end to end: learn what is volatile, then say what changed."""

from __future__ import annotations

from dataclasses import dataclass

from incrawl.core.changes.differences import Differences
from incrawl.core.changes.rules import NO_RULES, IgnoreRules
from incrawl.core.changes.signatures import Signatures
from incrawl.core.changes.verdict import Verdict, verdict_on
from incrawl.core.changes.volatile import Volatility, learn


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    volatility: Volatility  # to be kept for the next visit, whatever the verdict


def judge(
    old: Signatures,
    new: Signatures,
    *,
    elapsed: float,
    volatility: Volatility | None = None,
    rules: IgnoreRules = NO_RULES,
) -> Judgement:
    """The verdict on a visit `elapsed` seconds after the version that it is compared with was last seen.

    What this visit shows to be volatile does not count at this visit any more.
    """
    differences = Differences.between(old, new)
    learnt = learn(volatility or Volatility(), differences, elapsed)
    return Judgement(verdict_on(differences, learnt, rules), learnt)

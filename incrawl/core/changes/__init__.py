"""Change detection: what a page says, and what changed since it was last seen.

before = analyse(old_body, url=url).signatures      # stored as before.pack()
after = analyse(new_body, url=url)
verdict = compare(before, after.signatures)          # kinds, size, paragraphs, levels, places
"""

from incrawl.core.changes.alike import are_alike
from incrawl.core.changes.analysis import Analysis
from incrawl.core.changes.digest import body_hash
from incrawl.core.changes.finding import Fetched, Finding, Known, examine
from incrawl.core.changes.judgement import Judgement, judge
from incrawl.core.changes.kinds import Change, Kind, Size
from incrawl.core.changes.paragraphs import Paragraph
from incrawl.core.changes.reading import analyse
from incrawl.core.changes.rules import NO_RULES, IgnoreRules, RuleBook, read_rules
from incrawl.core.changes.signatures import Signatures, SignaturesError
from incrawl.core.changes.verdict import ParagraphChange, Verdict, compare
from incrawl.core.changes.volatile import Volatility, learn, learn_unchanged

__all__ = [
    "NO_RULES",
    "Analysis",
    "Change",
    "Fetched",
    "Finding",
    "IgnoreRules",
    "Judgement",
    "Kind",
    "Known",
    "Paragraph",
    "ParagraphChange",
    "RuleBook",
    "Signatures",
    "SignaturesError",
    "Size",
    "Verdict",
    "Volatility",
    "analyse",
    "are_alike",
    "body_hash",
    "compare",
    "examine",
    "judge",
    "learn",
    "learn_unchanged",
    "read_rules",
]

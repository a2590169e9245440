"""docs/stats.md names what the code counts, no more and no less."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "stats.md"

# A name in a call that counts: count("incrawl/lease/lost"), inc_value(f"incrawl/change/{kind}").
COUNTED = re.compile(r"(?:count|inc_value)\(\s*f?\"incrawl/([\w/{}.]+)\"")
# refuse(stats, "limits", "body") counts incrawl/limits/body.
REFUSED = re.compile(r"refuse\([\w.]+, \"(\w+)\", (\"\w+\" if \w+ else \"\w+\"|\"\w+\"|[\w.]+)")


def counted() -> set[str]:
    """Part and outcome of all names in the code; `<>` for an outcome that is worked out."""
    found = set()
    for path in (ROOT / "incrawl").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        found |= {re.sub(r"\{.*\}", "<>", name) for name in COUNTED.findall(text)}
        for part, outcomes in REFUSED.findall(text):
            literal = re.findall(r"\"(\w+)\"", outcomes)
            found |= {f"{part}/{outcome}" for outcome in literal or ["<>"]}
    return found - {"<>", "part/outcome"}


def documented() -> set[str]:
    names = re.findall(r"^\| `incrawl/([\w/<>]+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"<\w+>", "<>", name) for name in names}


def test_all_that_is_counted_is_documented() -> None:
    assert counted() - documented() == set()


def test_all_that_is_documented_is_counted() -> None:
    by_another_name = {"traps/<>", "filters/links", "filters/requests", "content/links", "robots/links"}
    admission = (ROOT / "incrawl" / "admission.py").read_text(encoding="utf-8")
    assert documented() - counted() - by_another_name == set()
    assert all(name.replace("<>", "{") in admission for name in by_another_name)

"""One line about a run, fit for a crontab's mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrawl.core.records import Outcome


def summary_line(stats: Mapping[str, Any]) -> str:
    """`incrawl: 42 visited: 3 new, 5 changed, 30 unchanged, 4 gone; links found: 17; requests: 51`"""
    counts = {outcome: stats.get(f"incrawl/visit/{outcome}", 0) for outcome in Outcome}
    parts = ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in counts.items() if count)
    visited = sum(counts.values())
    links = stats.get("incrawl/links/new", 0)
    requests = stats.get("downloader/request_count", 0)
    told = f"{visited} visited: {parts}" if parts else "nothing was due"
    bad = stats.get("incrawl/seeds/bad", 0)
    mistakes = f"; bad seed lines: {bad}" if bad else ""
    return f"incrawl: {told}; links found: {links}; requests: {requests}{mistakes}"

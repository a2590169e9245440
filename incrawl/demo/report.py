"""Shows what a demo crawl found, in a way that needs no explanation."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from incrawl.core.records import Outcome, UrlRecord
from incrawl.core.values import format_span
from incrawl.demo.findings import SAME, Findings
from incrawl.demo.site import DemoSite


def show(findings: Findings, site: DemoSite, state_dir: Path, console: Console) -> bool:
    """Prints the report; False if it does not agree with what the site really did."""
    wrong = findings.disagreements(site)
    console.print(rounds_table(findings))
    console.print(changes_table(findings))
    console.print(refresh_table(findings))
    lines = conclusion(findings, site, wrong)
    console.print(Panel(Group(*lines), title="In short", border_style="green"))
    console.print(what_next(findings, state_dir), soft_wrap=True)
    return not wrong


def rounds_table(findings: Findings) -> Table:
    """One line per round: what was fetched, and what a crawler without memory would have fetched."""
    table = make_table("Round by round")
    for heading in ("round", "known", "fetched", "new", "unchanged", "changed", "gone", "spared"):
        table.add_column(heading, justify="right")
    table.add_column("of all")
    for number in range(len(findings.starts)):
        outcomes, known = findings.outcomes(number), findings.known_in(number)
        same = sum(outcomes[outcome] for outcome in SAME)
        fetched = outcomes.total()
        counts = (number + 1, known, fetched, outcomes[Outcome.NEW], same, outcomes[Outcome.CHANGED],
                  outcomes[Outcome.GONE], known - fetched)  # fmt: skip
        table.add_row(*(str(count) if count else "·" for count in counts), bar(fetched, known))
    return table


def make_table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)


def bar(part: int, whole: int, width: int = 8) -> str:
    full = round(width * part / whole) if whole else 0
    return "█" * full + "░" * (width - full)


def changes_table(findings: Findings) -> Table:
    """One line per page that changed: how often, and the verdict on its changes."""
    table = make_table("What changed")
    table.add_column("page")
    table.add_column("times", justify="right")
    table.add_column("verdict")
    for url, visits in sorted(findings.changes().items()):
        verdicts = sorted({f"{visit.size} {', '.join(visit.kinds)}" for visit in visits})
        table.add_row(Text(url), str(len(visits)), Text("; ".join(verdicts)))
    return table


def refresh_table(findings: Findings) -> Table:
    """How refresh times have moved apart, in four groups of pages."""
    table = make_table("How often pages are asked for now")
    for heading, justify in (("pages that", "left"), ("pages", "right"), ("refresh time", "left")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for category, label in LABELS.items():
        spans = refresh_times([record for record in findings.records if record.category() == category])
        if spans:
            ends = dict.fromkeys((format_span(spans[0]), format_span(spans[-1])))
            table.add_row(label, str(len(spans)), " to ".join(ends))
    return table


LABELS = {
    "static": "never changed",
    "regular": "changed now and then",
    "frequent": "changed most of the time",
    "dynamic": "changed every time",
}


def refresh_times(records: list[UrlRecord]) -> list[float]:
    return sorted(record.refresh_time for record in records if record.refresh_time is not None)


def conclusion(findings: Findings, site: DemoSite, wrong: list[str]) -> list[RenderableType]:
    full, made, rounds = findings.requests_of_all, findings.requests, len(findings.starts)
    changed = sum(len(visits) for visits in findings.changes().values())
    there = sum(page.exists(site.round) for page in site.reachable())
    agreed = "The site's own account agrees, change by change."
    lines = [
        f"{findings.known_in(rounds - 1)} pages, {made} requests in {rounds} rounds. Taking every page each "
        f"time would have cost {full}: {full - made} saved, {share(full - made, full)}.",
        f"{changed} changes found. {'' if wrong else agreed}",
        f"{site.up_to_date()} of the {there} pages that are still there look as they did when last fetched.",
    ]
    forbidden = [site.url(page) for page in site.pages if page.hidden]
    if not {hit.url for hit in site.hits} & set(forbidden):
        lines.append(f"Never asked for, because robots.txt forbids it: {', '.join(forbidden)}")
    alarms = [f"The site's own account differs: {sentence}." for sentence in wrong]
    return [*map(Text, lines), *(Text(alarm, style="red") for alarm in alarms)]


def share(part: int, whole: int) -> str:
    return f"{round(100 * part / whole)} %" if whole else "0 %"


def what_next(findings: Findings, state_dir: Path) -> Text:
    """Commands that work as they stand, from where the user is."""
    scrapy = os.path.relpath(Path(sys.executable).with_name("scrapy"))
    option = f"-s INCRAWL_STATE_DIR={os.path.relpath(state_dir)}"
    page = next(iter(findings.changes()), "URL")
    return Text(
        "What to type next\n"
        f"  {scrapy} changes {option}\n"
        f"  {scrapy} record {page} {option}\n"
        f"  {scrapy} diff {page} {option}\n"
        f"  {scrapy} server stop {option}\n"
        "and for your own sites, a file with one URL a line:\n"
        "  make crawl SEEDS=seeds/mine.txt CONTACT=you@example.org"
    )

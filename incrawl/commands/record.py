"""`scrapy record URL`: all that is known of one page."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console

from incrawl.cli.command import FrontierCommand, NotKnown, Report, repository_of
from incrawl.cli.targets import read_page
from incrawl.cli.text import ahead, clean, facts_table, make_table, moment
from incrawl.config import Config
from incrawl.core.elsewhere import Elsewhere
from incrawl.core.passes import passes_left
from incrawl.core.records import UrlRecord
from incrawl.core.urls import host_key
from incrawl.core.validators import SHARED_NAME, Trust
from incrawl.core.values import format_span
from incrawl.errors import ConfigError
from incrawl.frontier import operations
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.operations import Known
from incrawl.repository import Repository, Sidecar, VisitEntry, place_of

WITH_A_WORKER = frozenset({"leased", "suspect"})
_SPANS = ("refresh_time",)
_TIMES = ("last_crawl_time", "next_due")


class Command(FrontierCommand):
    arguments = (1, 1)

    def syntax(self) -> str:
        return "[options] URL"

    def short_desc(self) -> str:
        return "Show all that is known of a page, with its history"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--visits", type=int, default=20, metavar="N", help="visits to show (default: 20; 0: all)"
        )

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        if opts.visits < 0:
            raise ConfigError("--visits must not be below 0.")
        url = read_page(args[0])
        known = await operations.look(frontier, url)
        if known is None:
            raise NotKnown(f"{url} is not known to {frontier.namespace}.")
        repository = repository_of(config, frontier)
        trust = Trust.unpack(await frontier.cache_get(host_key(url), SHARED_NAME))
        described = describe(known, config, repository, opts.visits, frontier.now())
        return {**described, "validators": str(trust), "now": frontier.now()}

    def show(self, report: Report, console: Console) -> None:
        facts = {name: value for name, value in report.items() if name not in ("history", "now")}
        for name in _SPANS:
            facts[name] = format_span(facts[name])
        for name in _TIMES:
            facts[name] = moment(facts[name])
        if report["next_due"] is not None:
            facts["next_due"] += f" ({ahead(report['next_due'], report['now'])})"
        if report["elsewhere"] is not None:
            facts["elsewhere"] = str(Elsewhere(**report["elsewhere"]))
        console.print(facts_table({name: "-" if value is None else value for name, value in facts.items()}))
        table = make_table(
            "visit", "outcome", "#status", "kinds", "size", "note", title="History, newest first"
        )
        for visit in report["history"]:
            kinds = clean(", ".join(visit["kinds"]))
            status = "-" if visit["status"] is None else str(visit["status"])
            row = moment(visit["time"]), visit["outcome"], status, kinds, clean(visit["size"])
            table.add_row(*row, clean(note(visit)))
        if report["history"]:
            console.print()
            console.print(table)


def note(visit: dict[str, Any]) -> str:
    """What was in the way, or what the comparison left out."""
    left_out = (f"{count} × {kind}" for kind, count in sorted(visit["ignored"].items()))
    return visit["why"] or ", ".join([*left_out, *visit["volatile"]])


def describe(known: Known, config: Config, repository: Repository, visits: int, now: float) -> dict[str, Any]:
    """The record as paper 000, Fig. 4, has it, and what the sidecar adds."""
    record, place = known.record, place_of(known.record.url)
    sidecar = repository.sidecar(record.url, record.document) if record.document else None
    history = repository.history(record.url, record.document)
    probability = record.change_probability()
    return {
        "doc_id": place.doc_id,
        "url": record.url,
        "refresh_time": config.average_refresh_time if record.refresh_time is None else record.refresh_time,
        "last_crawl_time": record.last_crawl,
        "status": int(known.state in WITH_A_WORKER),
        "state": known.state,
        "pl": config.pl if record.pl is None else record.pl,
        "pg": config.pg if record.pg is None else record.pg,
        "document": document_path(repository, record.url, record.document),
        "run": record.document,
        "fingerprint_key": record.fingerprint.hex() or None,
        "size": record.size,
        "type": record.type,
        "level": record.level,
        "visits": record.visits,
        "changes": record.changes,
        "failures": record.failures,
        "pc": probability,
        "category": str(record.category()),
        "next_due": known.next_due,
        "elsewhere": elsewhere_facts(record.elsewhere),
        "barred": record.barred or None,
        **importance_facts(record, config, now),
        **sidecar_facts(sidecar),
        "history": [told(entry) for entry in islice(history, visits or None)],
    }


def told(entry: VisitEntry) -> dict[str, Any]:
    """A visit as it is shown; what has been learnt from it is for programs."""
    return {name: value for name, value in asdict(entry).items() if name != "volatility"}


def elsewhere_facts(elsewhere: Elsewhere | None) -> dict[str, Any] | None:
    """Another address of the page: moved to, its canonical one, or one that says the same."""
    return None if elsewhere is None else asdict(elsewhere)


def importance_facts(record: UrlRecord, config: Config, now: float) -> dict[str, Any]:
    """What rankings have found out, and the visiting frequency; `list` counts from 1, as the paper does."""
    fr_max = record.fr_max or None
    return {
        "rank": record.rank,
        "list": record.list + 1,
        "interest": record.interest,
        "fr": passes_left(record.last_crawl, fr_max, now, config.pass_time) if fr_max else None,
        "fr_max": fr_max,
        "recrawl_threshold": record.recrawl_threshold,
    }


def sidecar_facts(sidecar: Sidecar | None) -> dict[str, Any]:
    if sidecar is None:
        return {"title": None, "ip": None, "etag": None, "last_modified": None, "links": None}
    return {
        "title": sidecar.title,
        "ip": sidecar.ip or None,
        "etag": sidecar.etag or None,
        "last_modified": sidecar.last_modified or None,
        "links": len(sidecar.links),
    }


def document_path(repository: Repository, url: str, run: str | None) -> str | None:
    """The file of the current version."""
    if run is None:
        return None
    place = place_of(url)
    return str(Path(repository.root, run, *place.folders, place.name))

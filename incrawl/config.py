"""Every setting of incrawl: read once, checked, documented. `docs/settings.md` is made from this file.

A field `host_interval` is the Scrapy setting `INCRAWL_HOST_INTERVAL`. Settings may come as text
(`scrapy crawl -s`, scrapyd) or as Python values; both go through the field's reader.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

from incrawl.core.addresses import Network, read_networks
from incrawl.core.changes.rules import RuleBook, read_rules
from incrawl.core.content import DEFAULT_TYPES
from incrawl.core.setting_values import (
    a_count,
    a_few_minutes,
    a_number_of_partitions,
    a_path,
    a_positive_span,
    a_ratio,
    a_share,
    a_share_or_zero,
    a_span,
    a_switch,
    a_time_to_rank,
    an_importance,
    host_spans,
    some_text,
    some_types,
)
from incrawl.core.values import Rate, parse_rate, parse_size
from incrawl.errors import ConfigError

PREFIX = "INCRAWL_"


class Settings(Protocol):
    """What is needed of `scrapy.settings.BaseSettings`."""

    def get(self, name: str, default: Any = None) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...


def setting(default: Any, read: Callable[[Any], Any], doc: str) -> Any:
    """A field of Config: its default, the reader that checks and converts it, what it means."""
    return field(default=default, metadata={"read": read, "doc": doc})


def default_state_dir() -> Path:
    """One place per user, whatever the working directory, so that all processes meet there."""
    if named := os.environ.get(f"{PREFIX}STATE_DIR"):
        return a_path(named)
    try:
        return a_path(os.environ.get("XDG_STATE_HOME") or "~/.local/state") / "incrawl"
    except ValueError as error:
        raise ConfigError(f"INCRAWL_STATE_DIR must be set: {error}.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings, checked. Fields are in the order in which the docs list them."""

    state_dir: Path = setting(
        None, a_path, "Directory of the embedded server and, by default, of the repository. "
        "Default: the environment variable of this name, or `$XDG_STATE_HOME/incrawl`, or "
        "`~/.local/state/incrawl`."
    )  # fmt: skip
    repository_dir: Path = setting(
        None, a_path, "Directory of the documents. Default: `repository` inside the state directory."
    )
    namespace: str = setting("", some_text, "Name of the set of URL records. Default: project/spider.")
    partitions: int = setting(
        16, a_number_of_partitions, "Parts that hosts are spread over; fixed when a server is first used."
    )
    lease_time: float = setting("60s", a_positive_span, "How long a page belongs to a worker unless renewed.")
    host_interval: float = setting("10s", a_span, "Least time between two requests to a host. 0: no pause.")
    host_intervals: Mapping[str, float] = setting(
        "", host_spans, "Other intervals for single hosts: `example.com=2s, localhost:8000=0`."
    )
    max_wait: float = setting(
        "2m", a_span, "A run waits this long for a page that is due while its host is being left in peace."
    )
    continuous: bool = setting(False, a_switch, "Wait for the next due page instead of ending the run.")
    refresh_policy: str = setting(
        "self_adjusting",
        some_text,
        "How refresh times are set: the short name of a policy (`docs/policies.md`) or a dotted path.",
    )
    average_refresh_time: float = setting("1d", a_positive_span, "Refresh time of a page not yet compared.")
    min_refresh_time: float = setting("10m", a_positive_span, "No refresh time gets shorter.")
    max_refresh_time: float = setting("90d", a_positive_span, "No refresh time gets longer.")
    pl: float = setting(0.3, a_share, "Below this share of changed visits the refresh time grows.")
    pg: float = setting(0.7, a_share, "Above this share of changed visits the refresh time shrinks.")
    pass_time: float = setting(
        "1d", a_positive_span, "Policy `visit_frequency`: time between two passes over the pages."
    )
    interest_pl: float = setting(0.5, a_share, "Policy `interest`: below it, refresh times grow.")
    interest_pg: float = setting(0.8, a_share, "Policy `interest`: above it, refresh times shrink.")
    interest_gate: float = setting(
        0.0, a_share_or_zero, "Policy `interest`: pages of less interest are crawled by their changes alone."
    )
    content_weight: float = setting(
        0.5, a_share_or_zero, "Policy `interest`: weight of a page's changes; its readers have the rest."
    )
    hybrid_ratio: float = setting(
        4.0, a_ratio, "Policy `hybrid`: how many times as often the best 20 % are visited as the others."
    )
    budget: Rate | None = setting(
        None, parse_rate, "Requests that may be sent within any such time, all kinds together and by all "
        "workers: `20000/day`, `500/h`. Default: no limit."
    )  # fmt: skip
    importance: str = setting(
        "uniform", an_importance, "Policy `budget`: what a page's freshness is worth: `uniform`, as all "
        "others'; `rank`, by PageRank; `interest`, by readers (`scrapy interest`)."
    )  # fmt: skip
    collection_size: int | None = setting(
        None, a_count, "Pages that are kept fresh; of more, the most important ones. Default: no limit."
    )  # fmt: skip
    selective_recrawl: bool | None = setting(
        None, a_switch, "Whether an unchanged page has its internal pages visited when many of them changed. "
        "Default: with the policy `visit_frequency`."
    )  # fmt: skip
    rank: str = setting(
        "auto", a_time_to_rank, "When pages are ranked again: `auto`, when the policy or the collection's "
        "size needs it; `always`, after every run; `never`, by `scrapy rank` only."
    )  # fmt: skip
    rank_interval: float = setting(
        "1h", a_positive_span, "Time between two rankings in a crawl that goes on and on."
    )
    contact: str = setting(
        "",
        some_text,
        "Web or mail address of who runs the crawl, sent with every request. Needed on real sites.",
    )
    allow_networks: tuple[Network, ...] = setting(
        "", read_networks, "Networks that may be contacted besides the public Internet: `loopback`, "
        "`private`, `any`, or networks such as `10.1.0.0/16`."
    )  # fmt: skip
    filters: Path | None = setting(None, a_path, "File of URL filters (see docs/safety.md). Default: none.")
    content_types: frozenset[str] = setting(
        DEFAULT_TYPES, some_types, "Media types that are kept; all others are neither requested nor stored."
    )
    sitemaps: bool = setting(
        True, a_switch, "Read the sitemaps and feeds that robots.txt and pages name (spider `incremental`)."
    )
    max_body: int = setting("4MiB", parse_size, "A larger page, decompressed, is cut off and not kept.")
    max_links: int = setting(2000, a_count, "Links followed from one page; the rest are counted and dropped.")
    page_time: float = setting(
        "60s", a_positive_span, "Time for one page's transfer, its redirects and retries included."
    )
    site_time: float = setting(
        "0", a_span, "Time a host's transfers may take within a day; then it rests. 0: no limit."
    )
    ignore: RuleBook = setting(
        "", read_rules, "What comparisons leave out, by site (docs/change-detection.md): a mapping with "
        "CSS `selectors`, regular expressions as `patterns`, `kinds`, and a `threshold`."
    )  # fmt: skip
    second_look: float = setting(
        "2m", a_few_minutes, "A page's first change is checked so long afterwards, in a continuous run: what "
        "differs again is volatile. 0: never."
    )  # fmt: skip
    detect_changes: bool = setting(
        True, a_switch, "Off: the add-on only schedules, and every page that is due reaches the spider."
    )
    parse_unchanged: bool = setting(
        False, a_switch, "Call an add-on spider's callback for pages that did not change, too."
    )

    @classmethod
    def from_settings(cls, settings: Settings) -> Config:
        """Reads all `INCRAWL_` settings; a wrong or unknown one raises ConfigError that names it."""
        reject_unknown_names(settings)
        values = {item.name: read_one(settings, item) for item in fields(cls)}
        values["state_dir"] = values["state_dir"] or default_state_dir()
        values["repository_dir"] = values["repository_dir"] or values["state_dir"] / "repository"
        config = cls(**values)
        config.check_together()
        return config

    def check_together(self) -> None:
        if self.pl >= self.pg:
            raise ConfigError(f"INCRAWL_PL ({self.pl}) must be below INCRAWL_PG ({self.pg}).")
        if self.interest_pl >= self.interest_pg:
            raise ConfigError("INCRAWL_INTEREST_PL must be below INCRAWL_INTEREST_PG.")
        if self.min_refresh_time > self.max_refresh_time:
            raise ConfigError("INCRAWL_MIN_REFRESH_TIME must not be above INCRAWL_MAX_REFRESH_TIME.")


def read_one(settings: Settings, item: Any) -> Any:
    """The value of one field, from the settings or its default, through its reader."""
    name = PREFIX + item.name.upper()
    value = settings.get(name)
    if value is None or value == "":  # an unset variable in a script: `-s INCRAWL_STATE_DIR=$HERE`
        value = item.default
    if value is None:
        return None
    try:
        return item.metadata["read"](value)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{name} cannot be {value!r}: {error}.") from None


def reject_unknown_names(settings: Settings) -> None:
    """A misspelt setting would be ignored in silence; here it stops the start."""
    known = {PREFIX + item.name.upper() for item in fields(Config)}
    for name in settings:
        if name.startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ConfigError(f"{name} is not a setting of incrawl.{hint}")

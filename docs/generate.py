"""Writes docs/settings.md from `incrawl.config.Config`: `python docs/generate.py`. A test compares them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from incrawl.addon import SAFE_DEFAULTS
from incrawl.config import PREFIX, Config

PAGE = Path(__file__).with_name("settings.md")

# The heading that stands above a field.
HEADINGS = {
    "state_dir": "Where things are kept",
    "lease_time": "Pace and work",
    "refresh_policy": "Refresh times",
    "budget": "Budget and collection",
    "contact": "Manners, safety, limits",
    "detect_changes": "Spiders of your own (the add-on)",
}

START = """# Settings

This page is made from `incrawl/config.py` by `python docs/generate.py`.

All settings of incrawl start with `INCRAWL_`. They go where Scrapy settings go: into a project's
`settings.py`, on the command line (`scrapy crawl incremental -s INCRAWL_HOST_INTERVAL=2s`), or into scrapyd's
`setting=` parameter. They are read once, when a command starts; one that is misspelt or cannot be used stops
the command with a sentence that names it. An empty one counts as not set.

`REDIS_URL` and `INCRAWL_STATE_DIR`, which say where things are, may also be environment variables. A setting
comes before them, and with an empty setting `REDIS_URL` the embedded server is used.

Spans of time are seconds or text such as `10s`, `15m`, `1.5h`, `7d`, `2w`; sizes are bytes or text such as
`500k`, `4MiB`; switches are `true` or `false`.
"""

END = """
## The server

Without any of these, incrawl starts a server of its own in the state directory. The names are those of
scrapy-redis.

| Setting | Meaning |
|---|---|
| `REDIS_URL` | An outside Redis 6.2+ or Valkey, or a cluster: `redis://`, `rediss://` or `unix://`. |
| `REDIS_HOST`, `REDIS_PORT`, `REDIS_DB` | The same in parts. |
| `REDIS_PARAMS` | Further parameters of the client, a dict or JSON: `{"password": "…"}`. |

## What the add-on sets in Scrapy

Values of your own win.

| Setting | Value |
|---|---|
"""


def settings_page() -> str:
    defaults = (row(name, value) for name, value in SAFE_DEFAULTS.items())
    return START + "".join(map(entry, fields(Config))) + END + "".join(defaults)


def entry(item: Any) -> str:
    """One row of the table, with a heading and a new table in front of it where one is due."""
    head = ""
    if item.name in HEADINGS:
        head = f"\n## {HEADINGS[item.name]}\n\n| Setting | Default | Meaning |\n|---|---|---|\n"
    doc = item.metadata["doc"].replace("|", "\\|")
    return f"{head}| `{PREFIX}{item.name.upper()}` | {shown(item.default)} | {doc} |\n"


def shown(default: Any) -> str:
    """A default as one would write it."""
    if default is None or default == "":
        return ""
    if isinstance(default, tuple | frozenset):
        return f"`{', '.join(sorted(default))}`"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def row(name: str, value: object) -> str:
    return f"| `{name}` | {'see `incrawl/addon.py`' if isinstance(value, dict) else f'`{value}`'} |\n"


if __name__ == "__main__":
    PAGE.write_text(settings_page(), encoding="utf-8")

"""The commands as entry points, for wherever incrawl is installed.

Scrapy makes all installed commands at every start, whatever is typed and whosever project it is. So each
entry point is a stand-in, which imports its command only when something is asked of it.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand


class StandIn:
    """Has and does what its command has and does."""

    module: str

    @cached_property
    def _command(self) -> ScrapyCommand:
        command: ScrapyCommand = import_module(self.module).Command()
        return command

    def __getattr__(self, name: str) -> Any:
        return getattr(self._command, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._command, name, value)


def __getattr__(name: str) -> type[StandIn]:
    """The class that an entry point `incrawl.cli.installed:status` names."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type(name, (StandIn,), {"module": f"incrawl.commands.{name}"})

"""Operators' commands as they are typed: the real ones, but in this process, which saves importing."""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from scrapy.cmdline import execute
from scrapy.settings import Settings


class Typed(NamedTuple):
    """What a command left: its exit code, its output, its errors."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one object that a command which went well has printed."""
        assert (self.code, self.err) == (0, ""), self
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def typed(*words: str, project: str = "shop", **settings: str | Path) -> Typed:
    """Runs `scrapy words…` in a project of that name with these settings."""
    given = Settings({"BOT_NAME": project, "COMMANDS_MODULE": "incrawl.commands"})
    given.setdict({name: str(value) for name, value in settings.items()}, "project")
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            execute(["scrapy", *words], given)
        except SystemExit as end:
            return Typed(int(end.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("a command ends with an exit code")

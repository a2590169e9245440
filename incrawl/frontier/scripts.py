"""The Lua scripts: one file per verb, put behind the parts that its head says it needs.

A server makes a script's functions anew for every call, so a verb carries only parts that it uses.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha1
from importlib.resources import files

_NEEDS = re.compile(r"^-- needs: (.+)$", re.MULTILINE)


class Script:
    """One verb of the frontier; servers know it by its digest once they have seen it."""

    def __init__(self, verb: str) -> None:
        text = _read(f"{verb}.lua")
        self.text = "\n".join([*map(_part, ["base", *_needed(text)]), text])
        self.sha = sha1(self.text.encode(), usedforsecurity=False).hexdigest()


@cache
def script(verb: str) -> Script:
    return Script(verb)


def _needed(text: str) -> dict[str, None]:
    """The parts that a text needs, each behind those that it needs itself."""
    declared = _NEEDS.search(text)
    needed: dict[str, None] = {}
    for name in declared[1].split(", ") if declared else ():
        needed.update(_needed(_part(name)))
        needed[name] = None
    return needed


def _part(name: str) -> str:
    return _read(f"parts/{name}.lua")


@cache
def _read(path: str) -> str:
    # A scrapyd egg stays zipped, so there may be no file to open.
    return files("incrawl.frontier").joinpath("lua", *path.split("/")).read_text(encoding="utf-8")

"""The Lua scripts: one file per verb, `prelude.lua` in front of each, `expiry.lua` in front of `lease`."""

from __future__ import annotations

from functools import cache
from hashlib import sha1
from importlib.resources import files


class Script:
    """One verb of the frontier; servers know it by its digest once they have seen it."""

    def __init__(self, verb: str) -> None:
        parts = ("prelude", "expiry", verb) if verb == "lease" else ("prelude", verb)
        self.text = "\n".join(map(_read, parts))
        self.sha = sha1(self.text.encode(), usedforsecurity=False).hexdigest()


@cache
def script(verb: str) -> Script:
    return Script(verb)


def _read(name: str) -> str:
    # A scrapyd egg stays zipped, so there may be no file to open.
    return files("incrawl.frontier").joinpath("lua", f"{name}.lua").read_text(encoding="utf-8")

"""Tag names as small numbers. Those of HTML have the same number everywhere, so that they can be stored."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

_HTML = """
? html head title base link meta style script noscript template body section nav article aside h1 h2 h3
h4 h5 h6 hgroup header footer address main search p hr pre blockquote ol ul menu li dl dt dd figure
figcaption div a em strong small s cite q dfn abbr ruby rb rt rtc rp data time code var samp kbd sub sup
i b u mark bdi bdo span br wbr ins del picture source img iframe embed object param video audio track map
area table caption colgroup col tbody thead tfoot tr td th form label input button select datalist
optgroup option textarea output progress meter fieldset legend details summary dialog slot canvas acronym
applet basefont bgsound big blink center dir font frame frameset isindex keygen listing marquee menuitem
multicol nextid nobr noembed noframes plaintext rbc spacer strike tt xmp svg g path defs use symbol
circle ellipse line polygon polyline rect text tspan image clippath lineargradient radialgradient stop
mask filter math mi mn mo mrow msup
"""
KNOWN: tuple[str, ...] = tuple(_HTML.split())
"""Part of the stored form: new names may only be added in a new schema."""

UNKNOWN = 0  # stands for any further name on a page with far too many
MOST_NAMES = 60_000


class Vocabulary:
    """Numbers for all tag names met so far: those of HTML, then any others."""

    def __init__(self) -> None:
        self._numbers = {name.encode(): number for number, name in enumerate(KNOWN)}
        self._names = list(KNOWN)
        self._adding = Lock()

    def __len__(self) -> int:
        return len(self._names)

    def number(self, name: bytes) -> int:
        known = self._numbers.get(name)
        return self._add(name) if known is None else known

    def name(self, number: int) -> str:
        return self._names[number]

    def _add(self, name: bytes) -> int:
        with self._adding:
            if name not in self._numbers:
                if len(self._names) >= MOST_NAMES:
                    return UNKNOWN
                self._names.append(name.decode("utf-8", "replace"))
                self._numbers[name] = len(self._names) - 1
            return self._numbers[name]


def among(*names: str) -> Callable[[Any], Any]:
    """A function that tells for a column of numbers which of them stand for one of these HTML tags."""
    table = np.zeros(len(KNOWN) + 1, np.bool_)
    table[[KNOWN.index(name) for name in names]] = True
    return partial(table.take, mode="clip")

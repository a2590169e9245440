"""The normal form of inline scripts: without tokens and time stamps.

A parser runs over a script at about a nanosecond a character. Long scripts therefore are only searched
for the names that tokens go by; short ones, where sites write such things, are read more closely.
"""

from __future__ import annotations

import re

from incrawl.core.changes.ignored import Ignored
from incrawl.core.changes.noise import PLACEHOLDER, is_token

_SHORT = 3000
_MARKERS = (
    "once", "oken", "csrf", "CSRF", "xsrf", "essionI", "ession_i", "imestamp", "equestI", "equest_i", 'Time"',
    'time"', "Time'", "view_dom_id", "build_id",
)  # fmt: skip
_AFTER_MARKER = re.compile(
    r"""[\w-]{0,24}["']?\s{0,4}[:=]\s{0,4}(?:"[^"\n]{0,400}"|'[^'\n]{0,400}'|[\w.]{1,40})"""
)
_QUOTED = re.compile(r"""["'][A-Za-z0-9+/_=-]{10,}["']""")
_STAMP = re.compile(r"1[4-9]\d{8}(?:\d{3})?(?!\d)")


def plain_script(script: str, ignored: Ignored) -> str:
    """The script without what only this fetch holds; white space at its ends does not count.

    >>> plain_script('var csrfToken = "x81", build = 7;', Ignored())
    'var csrf#, build = 7;'
    """

    def hidden(match: re.Match[str]) -> str:
        quoted = match[0][0] in "\"'"
        if quoted and not is_token(match[0][1:-1]):
            return match[0]
        ignored.add("token in script", match[0])
        return PLACEHOLDER

    plain = _without_named_tokens(script, ignored).strip()
    if len(plain) <= _SHORT:
        plain = " ".join(_STAMP.sub(hidden, _QUOTED.sub(hidden, plain)).split())
    return plain


def _without_named_tokens(script: str, ignored: Ignored) -> str:
    spans = sorted(span for marker in _MARKERS if marker in script for span in _spans_after(script, marker))
    if not spans:
        return script
    kept: list[str] = []
    end = 0
    for start, stop in spans:
        if start >= end:
            kept += [script[end:start], PLACEHOLDER]
            ignored.add("token in script", script[start:stop])
            end = stop
    return "".join([*kept, script[end:]])


def _spans_after(script: str, marker: str) -> list[tuple[int, int]]:
    """Where the rest of a name after `marker`, and the value given to it, stand in the script."""
    spans = []
    start = script.find(marker)
    while start >= 0:
        end = start + len(marker)
        if match := _AFTER_MARKER.match(script, end):
            spans.append((end, match.end()))
            end = match.end()
        start = script.find(marker, end)
    return spans

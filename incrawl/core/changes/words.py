"""Which words of a paragraph changed, for showing a change to people."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_WORDS = 1500  # comparing words takes more than linear time; longer paragraphs are shown as a whole


class Stretch(NamedTuple):
    """Words that are the same on both sides, or that were replaced (one side may be empty)."""

    same: bool
    old: str
    new: str


def compare_words(old: str, new: str) -> list[Stretch]:
    """Both texts cut into stretches; put together again they are the texts.

    >>> compare_words("a big dog", "a small dog")[1]
    Stretch(same=False, old='big', new='small')
    """
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(before), len(after)) > _MOST_WORDS:
        return [Stretch(old == new, old, new)]
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [
        Stretch(step == "equal", "".join(before[left:left_end]), "".join(after[right:right_end]))
        for step, left, left_end, right, right_end in steps
    ]

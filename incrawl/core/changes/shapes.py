"""The shape of a paragraph: its text without digits, dates and tokens.

A clock, a counter or "3 minutes ago" keeps its shape while its text changes at every visit.
"""

from __future__ import annotations

from typing import Any

import xxhash

from incrawl.core.changes.letters import Letters
from incrawl.core.changes.noise import is_token

_LONGEST = 120  # bytes; a longer text with a date in it is no clock
_LONGEST_WORD = 15  # longer ones may be tokens
_IN_NUMBERS = b"0123456789.,:/+-%"
_DATE_WORDS = frozenset(
    b"jan january feb february mar march apr april may jun june jul july aug august sep sept "
    b"september oct october nov november dec december mon monday tue tues tuesday wed wednesday thu "
    b"thur thurs thursday fri friday sat saturday sun sunday today yesterday tomorrow now just ago a "
    b"an am pm utc gmt est edt cst cdt mst mdt pst pdt cet cest bst ist st nd rd th second seconds sec "
    b"secs minute minutes min mins hour hours hr hrs day days week weeks month months year years k m s "
    b"h d t z".split()
)

NO_LETTERS = xxhash.xxh32_intdigest(b"")
"""The shape of a mere number or date."""


def shape_hashes(letters: Letters, texts: list[bytes], hashes: Any) -> Any:
    """32 bits for each paragraph's shape; for a text without digits, those of its own 64-bit hash."""
    shapes = hashes.astype("<u4")
    for index in letters.with_digits():
        shapes[index] = xxhash.xxh32_intdigest(shape(texts[index]))
    return shapes


def shape(text: bytes) -> bytes:
    """What remains of a text without digits, dates and tokens; only a text with digits has such.

    >>> shape(b"Updated 3 minutes ago") == shape(b"Updated 1 hour ago")
    True
    >>> shape(b"Mayor resigns") == shape(b"Mayor elected")
    False
    """
    if len(text) > _LONGEST:
        return text.translate(None, _IN_NUMBERS)
    if len(text) > _LONGEST_WORD and max(map(len, written := text.split())) > _LONGEST_WORD:
        text = b" ".join([word for word in written if not is_token(word.decode("utf-8", "replace"))])
    words = text.translate(None, _IN_NUMBERS).lower().split()
    return b" ".join([word for word in words if word.strip(b"();[]") not in _DATE_WORDS])

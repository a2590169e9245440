"""The filter language: from the words of a file to conditions that can be asked.

    line       = ("allow" | "deny") expression
    expression = all ("or" all)*
    all        = one ("and" one)*
    one        = "not" one | "(" expression ")" | word value
    word       = "domain" | "prefix" | "protocol" | "regex" | "class"

A value with spaces or parentheses stands in quotes. A line that starts with white space continues
the line before it; `#` starts a comment.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from incrawl.core.filters.conditions import (
    Both,
    Condition,
    Custom,
    Domain,
    Either,
    Not,
    Pattern,
    Prefix,
    Scheme,
)

READERS: dict[str, Callable[[str], Condition]] = {
    "domain": Domain.read,
    "prefix": Prefix.read,
    "protocol": Scheme.read,
    "regex": Pattern.read,
    "class": Custom.read,
}
MAX_NESTING = 50

# A bare word runs to the next space or parenthesis. There are no escapes: '…' may hold ", "…" may hold '.
_TOKEN = re.compile(r"""\s*(?:(#.*)|"([^"]*)"|'([^']*)'|([()])|([^\s()"'#][^\s()]*)|(\S))""")


class FilterSyntaxError(ValueError):
    """What is wrong, and on which line of the file."""

    def __init__(self, line: int, message: str):
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    line: int
    quoted: bool = False

    def is_word(self, word: str) -> bool:
        return not self.quoted and self.text.lower() == word


def tokens_of(text: str, line: int) -> Iterator[Token]:
    """The tokens of one line; a stray quote is the only thing that is no token."""
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        comment, double, single, parenthesis, bare, stray = match.groups()
        if stray:
            raise FilterSyntaxError(line, f"the quote {stray} is not closed")
        if comment is None:
            quoted = double if double is not None else single
            yield Token(parenthesis or bare if quoted is None else quoted, line, quoted is not None)


class Expression:
    """Reads one logical line, token by token."""

    def __init__(self, tokens: list[Token]):
        self.tokens = tokens
        self.position = 0
        self.nesting = 0

    def read(self) -> Condition:
        condition = self.read_either()
        if self.position < len(self.tokens):
            token = self.tokens[self.position]
            raise FilterSyntaxError(token.line, f"{token.text!r} is in the wrong place; and/or is missing")
        return condition

    def read_either(self) -> Condition:
        parts = [self.read_both()]
        while self.take_word("or"):
            parts.append(self.read_both())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def read_both(self) -> Condition:
        parts = [self.read_one()]
        while self.take_word("and"):
            parts.append(self.read_one())
        return parts[0] if len(parts) == 1 else Both(tuple(parts))

    def read_one(self) -> Condition:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise FilterSyntaxError(self.tokens[-1].line, f"more than {MAX_NESTING} levels of nesting")
        try:
            if self.take_word("not"):
                return Not(self.read_one())
            if self.take_word("("):
                inner = self.read_either()
                if not self.take_word(")"):
                    raise FilterSyntaxError(self.tokens[-1].line, "a closing parenthesis is missing")
                return inner
            return self.read_condition()
        finally:
            self.nesting -= 1

    def read_condition(self) -> Condition:
        word = self.next_token("a condition such as `domain example.com`")
        reader = None if word.quoted else READERS.get(word.text.lower())
        if reader is None:
            near = difflib.get_close_matches(word.text.lower(), READERS, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(READERS)}"
            raise FilterSyntaxError(word.line, f"{word.text!r} is not a condition; {hint}")
        value = self.next_token(f"a value after {word.text}")
        if not value.quoted and value.text in "()":
            raise FilterSyntaxError(value.line, f"a value is missing after {word.text}")
        try:
            return reader(value.text)
        except ValueError as error:
            raise FilterSyntaxError(value.line, f"{word.text} {value.text!r}: {error}") from None

    def take_word(self, word: str) -> bool:
        found = self.position < len(self.tokens) and self.tokens[self.position].is_word(word)
        self.position += found
        return found

    def next_token(self, expected: str) -> Token:
        if self.position == len(self.tokens):
            raise FilterSyntaxError(self.tokens[-1].line, f"{expected} is missing at the end")
        self.position += 1
        return self.tokens[self.position - 1]

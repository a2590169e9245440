"""Attributes in normal form, as digests by what a difference in them would mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from incrawl.core.changes.attributes import Attributes, Group
from incrawl.core.changes.digest import digest
from incrawl.core.changes.ignored import Ignored
from incrawl.core.changes.noise import plain_classes, plain_name, plain_resource, plain_value

_DIGITS = b"0123456789"
_SHORT, _SHORT_NAME = 10, 16  # no shorter value or id can be a token
_MOST_CLASSES = 20_000


@dataclass(frozen=True, slots=True)
class AttributeDigests:
    appearance: bytes
    handlers: bytes
    data: bytes


def attribute_digests(attributes: Attributes, ignored: Ignored) -> AttributeDigests:
    """Digests over all attributes but links; the order of an element's attributes does not matter."""
    looks = slice(attributes.edges[Group.LOOK], attributes.edges[Group.RESOURCE + 1])
    appearance = (
        *_tokens_out(attributes.values[attributes.span(Group.LOOK)], ignored),
        *_classes.plain(attributes.values[attributes.span(Group.CLASS)], ignored),
        _numbers_out(attributes.values[attributes.span(Group.NAME)], ignored),
        *_versions_out(attributes.values[attributes.span(Group.RESOURCE)], ignored),
    )
    data, dropped = attributes.span(Group.DATA), attributes.span(Group.DROPPED)
    ignored.count("attribute", dropped.stop - dropped.start)
    return AttributeDigests(
        digest(
            attributes.elements[looks].tobytes(), attributes.names[looks].tobytes(), b"\0".join(appearance)
        ),
        digest(b"\0".join(attributes.values[attributes.span(Group.HANDLER)])),
        digest(
            attributes.elements[data].tobytes(), b"\0".join(_tokens_out(attributes.values[data], ignored))
        ),
    )


def _tokens_out(values: list[bytes], ignored: Ignored) -> list[bytes]:
    return [
        value if len(value) < _SHORT or b" " in value else _clean(value, plain_value, "token", ignored)
        for value in values
    ]


def _numbers_out(values: list[bytes], ignored: Ignored) -> bytes:
    """All ids, without the numbers that programs give them."""
    names = [
        value
        if len(value) < _SHORT_NAME and b":" not in value
        else _clean(value, plain_name, "generated id", ignored)
        for value in values
    ]
    return b"\0".join(names).translate(None, _DIGITS)


def _versions_out(values: list[bytes], ignored: Ignored) -> list[bytes]:
    return [_clean(value, plain_resource, "version in address", ignored) for value in values]


def _clean(value: bytes, clean: Callable[[str], str], kind: str, ignored: Ignored) -> bytes:
    text = value.decode("utf-8", "replace")
    plain = clean(text)
    if plain == text:
        return value
    ignored.add(kind, text)
    return plain.encode()


class _Classes(dict[bytes, bytes]):
    """Class attributes that were put in normal form before: a site uses the same ones on all its pages."""

    def __init__(self) -> None:
        super().__init__()
        self.generated: set[bytes] = set()  # those that lost a name

    def plain(self, values: list[bytes], ignored: Ignored) -> list[bytes]:
        if len(self) > _MOST_CLASSES:
            self.clear()
            self.generated.clear()
        plain = list(map(self.__getitem__, values))
        if not self.generated.isdisjoint(values):
            for value in values:
                if value in self.generated:
                    ignored.add("generated class", value.decode("utf-8", "replace"))
        return plain

    def __missing__(self, value: bytes) -> bytes:
        names = value.decode("utf-8", "replace").split()
        plain = plain_classes(names)
        self[value] = " ".join(plain).encode()
        if len(plain) < len(set(names)):
            self.generated.add(value)
        return self[value]


_classes = _Classes()

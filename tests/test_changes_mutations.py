"""Pages that are changed in one way at a place chosen by chance: each change gets the kind that it is."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from incrawl.core.changes import Kind, analyse, compare

URL = "https://example.com/docs/page.html"
HEAD = b"<head><style>p { margin: 0 }</style><script>start()</script>"
PAGES = [
    path.read_bytes().replace(b"<head>", HEAD, 1)
    for path in sorted((Path(__file__).parent / "changes" / "look_alikes").glob("*.html"))
    if b"<p" in path.read_bytes()
]
S, C, P, B = ({kind} for kind in (Kind.STRUCTURAL, Kind.CONTENT, Kind.PRESENTATION, Kind.BEHAVIOURAL))
NOTHING: set[Kind] = set()

Chance = random.Random
Tree = Any


def elements(tree: Tree, *tags: str) -> list[Any]:
    found = tree.xpath("//body//*[not(ancestor-or-self::script or ancestor-or-self::style)]")
    return [element for element in found if not tags or element.tag in tags]


def one(found: list[Any], chance: Chance) -> Any:
    if not found:
        raise LookupError
    return chance.choice(found)


def text(tree: Tree, chance: Chance, change: Callable[[str, int], str]) -> None:
    """Rewrites the text of one element at one place between two different letters."""
    places = [
        (element, at)
        for element in elements(tree)
        for at in range(len(element.text or "") - 1)
        if element.text[at : at + 2].isalpha()
        and element.text[at].swapcase() != element.text[at]
        and element.text[at] != element.text[at + 1]
    ]
    element, at = one(places, chance)
    element.text = change(element.text, at)


def swap_letters(tree: Tree, chance: Chance) -> None:
    text(tree, chance, lambda words, at: words[:at] + words[at + 1] + words[at] + words[at + 2 :])


def change_case(tree: Tree, chance: Chance) -> None:
    text(tree, chance, lambda words, at: words[:at] + words[at].swapcase() + words[at + 1 :])


def part_word(tree: Tree, chance: Chance) -> None:
    text(tree, chance, lambda words, at: words[: at + 1] + " " + words[at + 1 :])


def add_word(tree: Tree, chance: Chance) -> None:
    text(tree, chance, lambda words, at: words + " zebra")


def swap_paragraphs(tree: Tree, chance: Chance) -> None:
    plain = [p for p in elements(tree, "p", "li", "td") if len(p) == 0 and p.text and not p.attrib]
    first = one(plain, chance)
    second = one([p for p in plain if p.tag == first.tag and p.text.split() != first.text.split()], chance)
    first.text, second.text = second.text, first.text


def link_elsewhere(tree: Tree, chance: Chance) -> None:
    one([a for a in elements(tree, "a") if a.get("href")], chance).set("href", "/somewhere/else.html")


def set_attribute(name: str, value: str) -> Callable[[Tree, Chance], None]:
    return lambda tree, chance: one(elements(tree), chance).set(name, value)


def add_leaf(tree: Tree, chance: Chance) -> None:
    etree.SubElement(one(elements(tree, "div", "p", "li", "main", "article"), chance), "img")


def add_subtree(tree: Tree, chance: Chance) -> None:
    box = etree.SubElement(one(elements(tree, "div", "li", "main", "article"), chance), "div")
    etree.SubElement(etree.SubElement(box, "div"), "img")


def add_paragraph(tree: Tree, chance: Chance) -> None:
    etree.SubElement(one(elements(tree, "div", "main", "article"), chance), "p").text = "A new paragraph."


def remove_paragraph(tree: Tree, chance: Chance) -> None:
    first = [p for p in elements(tree, "p", "li") if "".join(p.itertext()).strip()]
    gone = one(first, chance)
    gone.getparent().remove(gone)


def rename_tag(tree: Tree, chance: Chance) -> None:
    one(elements(tree, "h1", "h2", "h3", "b", "i", "strong", "em"), chance).tag = "u"


def add_script(tree: Tree, chance: Chance) -> None:
    one(tree.xpath("//script"), chance).text = "startTracking('page')"


def add_style(tree: Tree, chance: Chance) -> None:
    one(tree.xpath("//style"), chance).text = "p { margin: 3px }"


def add_comment(tree: Tree, chance: Chance) -> None:
    one(elements(tree), chance).addprevious(etree.Comment(f" made in {chance.random()} s "))


def new_session(tree: Tree, chance: Chance) -> None:
    for link in elements(tree, "a"):
        if link.get("href", "").startswith("/") and "?" not in link.get("href"):
            link.set("href", link.get("href") + f"?PHPSESSID={chance.getrandbits(128):032x}")


def new_nonce(tree: Tree, chance: Chance) -> None:
    for element in tree.iter("script", "style", "link"):
        element.set("nonce", f"{chance.getrandbits(128):032x}")


CHANGES: dict[Callable[[Tree, Chance], None], set[Kind]] = {
    swap_letters: C, change_case: C, part_word: C, add_word: C, swap_paragraphs: C,
    link_elsewhere: S, add_leaf: S, add_subtree: S, rename_tag: S,
    add_paragraph: C | S, remove_paragraph: C | S,
    set_attribute("class", "highlighted"): P, set_attribute("style", "color: red"): P,
    set_attribute("width", "77"): P, add_style: P,
    set_attribute("onclick", "go(1)"): B, set_attribute("data-mode", "fancy"): B, add_script: B,
    add_comment: NOTHING, new_session: NOTHING, new_nonce: NOTHING,
}  # fmt: skip


def written(tree: Tree) -> bytes:
    return bytes(etree.tostring(tree, encoding="utf-8", method="html"))


def parsed(page: bytes) -> Tree:
    return etree.fromstring(page, etree.HTMLParser(encoding="utf-8"))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_has_its_kind(change: Callable[[Tree, Chance], None]) -> None:
    chance, made, wrong = random.Random(7), 0, []
    for page in PAGES:
        before, tree = written(parsed(page)), parsed(page)
        try:
            change(tree, chance)
        except LookupError:
            continue
        old, new = (analyse(body, url=URL).signatures for body in (before, written(tree)))
        kinds = compare(old, new).kinds
        made += 1
        if kinds != CHANGES[change]:
            wrong.append((page[:80], sorted(kinds)))
    assert made
    assert wrong == []


REWRITINGS: dict[str, Callable[[bytes], bytes]] = {
    "capital tags": lambda page: re.sub(
        rb"<(/?)(p|div|li|a)(?=[\s>])", lambda m: b"<" + m[1] + m[2].upper(), page
    ),
    "single quotes": lambda page: re.sub(rb'="([^"\'<>]*)"', rb"='\1'", page),
    "entities": lambda page: re.sub(rb"(?<=<p>)[A-Z]", lambda m: b"&#x%X;" % m[0][0], page),
    "self-closing": lambda page: re.sub(rb"<(br|hr|img|input)\b([^<>]*[^/<>])?>", rb"<\1\2 />", page),
    "white space": lambda page: re.sub(rb"(</(?:p|div|li|h1)>)", rb"\1\n\n    ", page),
    "Windows lines": lambda page: page.replace(b"\n", b"\r\n"),
    "byte order mark": lambda page: b"\xef\xbb\xbf" + page,
    "UTF-16": lambda page: page.decode().encode("utf-16"),
}


@pytest.mark.parametrize("way", REWRITINGS)
def test_the_same_page_written_otherwise_is_unchanged(way: str) -> None:
    for page in PAGES:
        old, new = (analyse(body, url=URL).signatures for body in (page, REWRITINGS[way](page)))
        assert not compare(old, new).changed, page[:80]

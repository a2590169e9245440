"""Writes the HTML of the demo site: the same plan, seed and round always give the same page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from random import Random

from incrawl.demo.pages import Change, DemoPage

PARAGRAPHS = 5
_VOCABULARY = """
river market station council harbour winter library garden bridge letter window teacher evening morning
village doctor orchard railway kitchen painter island mountain summer copper silver ticket journey story
neighbour carpenter festival museum lantern meadow weather baker engine signal parcel ferry open quiet
narrow bright early patient distant careful common gentle slowly together again before always nearly
found carried opened answered repaired counted followed measured painted remembered promised returned
"""
_WORDS = _VOCABULARY.split()


def page_html(page: DemoPage, version: int, seed: int, links: Sequence[DemoPage], noise: str) -> str:
    """The page as served. `noise` differs at every request and shows in pages that are noisy only."""
    style, script = _style(page, version), _script(page, version)
    token = f'<!-- rendered {noise} --><input type="hidden" name="token" value="{noise}">'
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(page.title)}</title>\n'
        f"<style>{style}</style><script>{script}</script></head>\n"
        f"<body><header><h1>{escape(page.title)}</h1></header>\n"
        f"<main>\n{_body(page, version, seed)}\n</main>\n"
        f"<nav><ul>{''.join(map(_item, links))}</ul></nav>\n"
        f"{token if page.change is Change.NOISE else ''}"
        f'<footer><p>{_see_also(page, version)} <a href="/">Front page</a></p></footer></body></html>\n'
    )


def _body(page: DemoPage, version: int, seed: int) -> str:
    paragraphs = [_paragraph(page, number, version, seed) for number in range(PARAGRAPHS)]
    depth = version if page.change is Change.STRUCTURE else 0
    return "<section>" * depth + "\n".join(paragraphs) + "</section>" * depth


def _paragraph(page: DemoPage, number: int, version: int, seed: int) -> str:
    """A paragraph of nonsense. Which version it is of depends on what changes in this page."""
    shown = {
        Change.REWRITE: version,
        # One paragraph after the other is rewritten, the rest stays as it was.
        Change.TEXT: (version + PARAGRAPHS - 1 - number) // PARAGRAPHS,
    }.get(page.change, 0)
    words = Random(f"{seed} {page.site}{page.path} {number} {shown}").choices(_WORDS, k=36)
    sentences = (" ".join(words[start : start + 12]).capitalize() for start in range(0, 36, 12))
    return f"<p>{'. '.join(sentences)}.</p>"


def _item(page: DemoPage) -> str:
    return f'<li><a href="{escape(page.path)}">{escape(page.title)}</a></li>'


def _see_also(page: DemoPage, version: int) -> str:
    if page.change is not Change.LINKS:
        return ""
    return f'<a href="https://friend-{version}.example/">A friend</a>'


def _style(page: DemoPage, version: int) -> str:
    size = 100 + (version if page.change is Change.STYLE else 0)
    return f"body {{ max-width: 40em; margin: 2em auto; font: {size}% serif }}"


def _script(page: DemoPage, version: int) -> str:
    number = version if page.change is Change.SCRIPT else 0
    return f"function greet() {{ return 'hello ' + {number}; }}"

"""Impostors are told from pages; the mistakes in both directions are counted.

`changes/impostors/KIND` holds pages as they are met in place of others; `changes/look_alikes` real pages
that have a login form, a cookie banner, the word "404" and the like.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from incrawl.core.changes import analyse
from incrawl.core.changes.impostor import Disguise, recognise

URL = "https://example.com/news/bridge"
PAGES = Path(__file__).parent / "changes"
IMPOSTORS = sorted((PAGES / "impostors").glob("*/*"))
LOOK_ALIKES = sorted((PAGES / "look_alikes").iterdir())
REAL = (PAGES / "look_alikes" / "article.html").read_bytes()
LOGIN = (PAGES / "impostors" / "login" / "plain.html").read_bytes()


def seen(body: bytes, **known: Any) -> str | None:
    found = recognise(body, analyse(body, url=URL), **known)
    return found and str(found.disguise)


def kind_of(path: Path) -> str:
    return path.parent.name.replace("_", " ")


@pytest.mark.parametrize("path", IMPOSTORS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_impostor_in_place_of_a_page(path: Path) -> None:
    before = analyse(REAL, url=URL).signatures
    assert seen(path.read_bytes(), before=before, moved=kind_of(path) == "login") == kind_of(path)


@pytest.mark.parametrize("path", LOOK_ALIKES, ids=lambda path: path.stem)
def test_look_alike_is_a_page(path: Path) -> None:
    assert seen(path.read_bytes()) is None


def test_mistakes_are_counted() -> None:
    missed = [path.name for path in IMPOSTORS if seen(path.read_bytes(), moved=True) != kind_of(path)]
    false_positives = [path.name for path in LOOK_ALIKES if seen(path.read_bytes()) is not None]
    assert (len(IMPOSTORS), missed) == (93, [])
    assert (len(LOOK_ALIKES), false_positives) == (60, [])


def test_all_disguises_have_pages() -> None:
    assert {kind_of(path) for path in IMPOSTORS} == set(Disguise)


def test_login_page_that_was_asked_for_stays_a_page() -> None:
    assert seen(LOGIN, before=analyse(LOGIN, url=URL).signatures) is None


def test_banner_over_the_page_is_no_wall() -> None:
    banner = (
        b"<body><div id=sp_message_container><h2>We value your privacy</h2><button>Accept all</button></div>"
    )
    covered = REAL.replace(b"<body>", banner)
    assert seen(covered) is None
    assert seen(covered, before=analyse(REAL, url=URL).signatures) is None


def test_reason_is_given() -> None:
    body = (PAGES / "impostors" / "error" / "bare.html").read_bytes()
    found = recognise(body, analyse(body, url=URL))
    assert found is not None
    assert found.because == "404 not found"


@pytest.mark.parametrize("body", [b"", b"\0" * 100, b"<" * 1000, b"%PDF-1.4", "ü".encode("utf-16")])
def test_anything_can_be_looked_at(body: bytes) -> None:
    assert seen(body) is None

"""The labelled page pairs: every change of text is seen, structure is judged right, nothing is made up."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from lxml import etree

from incrawl.core.changes import Analysis, Kind, Verdict, analyse, compare

PAIRS = Path(__file__).parents[2] / "shared" / "page-pairs"
pytestmark = pytest.mark.skipif(not PAIRS.exists(), reason="the page pairs are not here")

Row = dict[str, str]


def rows() -> list[Row]:
    """Those that count: not disputed, and not about options of some other tool."""
    with (PAIRS / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        found = list(csv.DictReader(index, delimiter="\t"))
    return [row for row in found if row["disputed"] == "False" and "option" not in row["expected"]]


def judged(row: Row) -> tuple[Analysis, Analysis, Verdict]:
    old, new = (
        analyse((PAIRS / f"{row['id']}.{side}.html").read_bytes(), url="http://x.org/") for side in "ab"
    )
    return old, new, compare(old.signatures, new.signatures)


def test_every_change_of_text_is_seen_and_none_is_made_up() -> None:
    wrong = [
        row["id"]
        for row in rows()
        if (Kind.CONTENT in judged(row)[2].kinds) != (row["text_changed"] == "True")
    ]
    assert wrong == []


def test_structure_is_judged_right() -> None:
    """Links that lead elsewhere are structural here, which the labels do not know."""
    counted = rows()
    wrong = [
        row["id"]
        for row in counted
        if (Kind.STRUCTURAL in judged(row)[2].kinds) != (row["structure_changed"] == "True")
    ]
    assert wrong == ["edgi-contrived/change-href"]
    assert len(wrong) <= len(counted) / 100


def test_unchanged_is_never_called_changed_and_changed_never_unchanged() -> None:
    wrong = [row["id"] for row in rows() if judged(row)[2].changed == row["expected"].startswith("none")]
    assert wrong == []


def test_changes_of_appearance_alone_are_presentation() -> None:
    appearance = [row for row in rows() if row["expected"] in ("presentation", "attributes")]
    assert appearance
    assert all(judged(row)[2].kinds == {Kind.PRESENTATION} for row in appearance)


def test_places_lead_to_the_paragraphs() -> None:
    for row in rows():
        _, new, verdict = judged(row)
        tree = etree.fromstring(
            (PAIRS / f"{row['id']}.b.html").read_bytes(), etree.HTMLParser(encoding="utf-8")
        )
        for paragraph in verdict.paragraphs:
            if paragraph.new is not None:
                (element,) = tree.getroottree().xpath(paragraph.place)
                assert new.texts[paragraph.new] in " ".join(
                    "".join(element.itertext()).replace("\xa0", " ").split()
                )

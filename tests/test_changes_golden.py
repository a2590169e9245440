"""Figures of paper 003 that the detectors must give (EQUATIONS, section 4)."""

from __future__ import annotations

import pytest

from incrawl.core.changes import Size, analyse
from incrawl.core.changes.checksum import checksum
from incrawl.core.changes.fingerprint import fingerprints
from incrawl.core.changes.rms import distinct, rms
from incrawl.core.changes.tree import Tree
from incrawl.core.changes.tree_change import compare_trees

BEFORE = """html(2) | head(1) body(6)
    | title(0) center(1) center(2) center(0) center(1) p(3) h2(0)
    | h1 b br h3 br br center(1) | b"""
AFTER = """html(2) | head(1) body(7)
    | title(0) center(1) center(2) center(0) center(1) center(1) p(0) h2(0)
    | h1 b br b h3"""


def tree(written: str) -> Tree:
    rows = [[node.rstrip(")").partition("(")[::2] for node in row.split()] for row in written.split("|")]
    return Tree.from_levels([[(tag, int(children or 0)) for tag, children in row] for row in rows])


# The paragraphs of Fig. 18 and 19, letter by letter with how often each comes: both sums go over letters,
# wherever they stand, so a text made of the same letters has the figures of the paper.
HEADLINE = "'1 C1 F1 H1 M1 a5 e5 f1 i1 l2 n4 o2 p2 r5 s3 t3 u2 v1 w1 y2"  # "Centre plans to pave way …"
REST = """,2 -2 .1 41 91 A1 H3 I1 T1 a22 b2 c3 d8 e20 f3 g4 h6 i19 k1 l8 m8 n20 o13 p6 r9 s12 t19 u7 v2 w4 x1
    y4"""
SPORTS = """21 92 :2 A2 B1 D1 I3 J1 K1 L1 M1 O3 P2 R1 S2 T3 V1 a15 b1 c1 d7 e6 f2 g6 h7 i10 k1 l3 m4 n9 o4 p1
    r6 s8 t10 u2 w1 y3 z1"""


def spelt(letters: str) -> str:
    """A text with these letters, a word of each."""
    return " ".join(word[0] * int(word[1:]) for word in letters.split())


def test_levels_of_table_4() -> None:
    assert tree(BEFORE).level_counts == (1, 2, 7, 7, 1)
    assert tree(AFTER).level_counts == (1, 2, 8, 5)


def test_change_of_tables_4_and_5_is_major_on_levels_3_to_5() -> None:
    change = compare_trees(tree(BEFORE), tree(AFTER))
    assert change.size is Size.MAJOR
    assert change.levels == (3, 4, 5)
    assert tree(AFTER).tag(change.new_node) == "body"


def test_fingerprints_of_figure_14() -> None:
    tags = ["html", "head", "title", "body", "table", "tr", "td", "p", "img"]
    assert fingerprints(tags) == ("hhtbtttpi", "ldeyerdpg")


def test_fingerprints_of_a_page_are_its_tags_as_written() -> None:
    page = b"<html><head><title>t</title></head><body><table><tr><td><p>x<img></table></body></html>"
    assert analyse(page, url="http://x.org/").signatures.fingerprints == (
        "hhtbtttpi",
        "ldeyerdpg",
    )


@pytest.mark.parametrize(
    ("text", "value", "characters"),
    [
        ("The quick brown fox jumps over the lazy dog", 127.329, 26),
        ("The quick brown fox jumps over the lazy cog", 129.820, 25),
        ("", 0.0, 0),
    ],
)
def test_rms(text: str, value: float, characters: int) -> None:
    assert round(rms(text), 3) == value
    assert distinct(text) == characters


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The quick brown fox jumps over the lazy dog", 45.612),
        ("The quick brown fox jumps over the lazy cog", 45.600),
    ],
)
def test_weighted_checksum(text: str, value: float) -> None:
    assert round(checksum([(text, 12)]), 3) == value


def test_paragraph_of_figures_18_and_19() -> None:
    headline, rest = spelt(HEADLINE), spelt(REST)
    text = f"{headline} {rest}"
    assert (round(rms(text), 3), distinct(text)) == (318.778, 29)
    assert round(checksum([(headline, 13), (rest, 10)]), 3) == 284.380


def test_the_same_paragraph_as_a_page() -> None:
    headline, rest = spelt(HEADLINE), spelt(REST)
    body = f'<div style="font-size:10pt"><b style="font-size:13pt">{headline}</b> {rest}</div>'
    (paragraph,) = analyse(body.encode(), url="http://x.org/").paragraphs
    assert (round(paragraph.rms, 3), round(paragraph.checksum, 3)) == (318.778, 284.380)


def test_sports_paragraph_of_figure_18() -> None:
    assert (round(rms(spelt(SPORTS)), 3), distinct(spelt(SPORTS))) == (238.420, 27)


def test_page_checksum_is_a_tenth_of_its_paragraphs() -> None:
    analysis = analyse(b"<p>The quick brown fox jumps over the lazy dog<p>The quick", url="http://x.org/")
    assert analysis.signatures.checksum == pytest.approx(sum(p.checksum for p in analysis.paragraphs) / 10)


def test_text_beyond_ascii_counts_as_its_bytes() -> None:
    assert checksum([("é", 12)]) == pytest.approx(12 * (0xC3 + 0xA9) * 0.001)
    assert rms("É") == rms("é") > 0

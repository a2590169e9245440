"""Pvalue, the the three lists of paper 003."""

import pytest

from incrawl.core.ranking.pvalue import pvalue, pvalues, three_lists

# Table 1, forward links; no back links yet.
TABLE_1 = (20, 18, 11, 4, 3, 40, 79, 65, 155, 60, 21, 13, 52, 60, 15, 5, 16, 53)


def test_lists_of_table_2():
    values = {number: pvalue(forward, 0) for number, forward in enumerate(TABLE_1)}
    first, second, third = ([values[page] for page in pages] for pages in three_lists(values))
    assert first == [155, 79, 65, 60, 60, 53]
    assert second == [52, 40, 21, 20, 18, 16]
    assert third == [15, 13, 11, 5, 4, 3]


@pytest.mark.parametrize(("pages", "sizes"), [(0, (0, 0, 0)), (1, (1, 0, 0)), (2, (1, 1, 0)), (7, (3, 2, 2))])
def test_lists_are_nearly_equal(pages, sizes):
    assert tuple(map(len, three_lists(dict.fromkeys(range(pages), 0)))) == sizes


def test_forward_minus_back_links():
    links = [("a", ["b", "c", "d"]), ("b", ["c", "d", "d"]), ("c", [])]
    assert pvalues(links) == {"a": 3, "b": 2 - 1, "c": -2, "d": -2}


def test_a_broken_link_ends_up_at_the_bottom():
    values = pvalues([("a", ["gone", "b", "c"]), ("b", ["gone", "c"]), ("c", ["gone", "a"])])
    assert values["gone"] == -3
    assert three_lists(values)[2] == ["gone"]

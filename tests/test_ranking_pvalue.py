"""Pvalue, the three lists and the 4:2:1 wheel of paper 003."""

from collections import Counter
from itertools import islice

import pytest

from incrawl.core.ranking.pvalue import allocate, pvalue, pvalues, three_lists

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


def test_for_every_four_of_list_1_come_two_of_list_2_and_one_of_list_3():
    lists = [[f"{name}{number}" for number in range(100)] for name in "abc"]
    for rounds in (1, 5):
        names = Counter(page[0] for page in islice(allocate(lists), 7 * rounds))
        assert names == {"a": 4 * rounds, "b": 2 * rounds, "c": rounds}


def test_no_list_starves_and_an_empty_one_gives_its_turn_away():
    lists = [["a1"], [], ["c1", "c2", "c3"]]
    assert sorted(allocate(lists)) == ["a1", "c1", "c2", "c3"]
    assert list(allocate([[], [], []])) == []
    order = list(allocate([[f"a{n}" for n in range(1000)], [], ["c"]]))
    assert order.index("c") < 7

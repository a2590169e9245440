"""PageRank: against a graph worked by hand, the definition, and its invariants."""

import numpy as np
import pytest

from incrawl.core.ranking.pagerank import number_links, on_scale, pagerank, ranks_of


def test_a_graph_worked_by_hand():
    """Two pages that link to each other, and one that links to the first."""
    rank = pagerank(np.array([0, 1, 2]), np.array([1, 0, 0]), 3)
    # r2 = .15/3; r0 = .05 + .85 (r1 + r2); r1 = .05 + .85 r0
    expected = (0.05 + 0.85 * 0.05 + 0.85 * 0.05) / (1 - 0.85**2)
    assert rank == pytest.approx([expected, 0.05 + 0.85 * expected, 0.05])


def test_ranks_solve_the_equation_on_a_random_graph():
    random = np.random.default_rng(1)
    pages, sources, targets = 200, random.integers(0, 150, 2000), random.integers(0, 200, 2000)
    rank = pagerank(sources, targets, pages)
    matrix = np.zeros((pages, pages))
    np.add.at(matrix, (targets, sources), 1.0)
    out = matrix.sum(axis=0)
    matrix = np.where(out > 0, matrix / np.maximum(out, 1), 1 / pages)
    assert rank == pytest.approx(0.85 * matrix @ rank + 0.15 / pages, abs=1e-8)
    assert rank.sum() == pytest.approx(1.0)


def test_links_are_numbered_once_and_self_links_left_out():
    pages, sources, targets = number_links([("a", ["b", "b", "a"]), ("b", ["c"])])
    named = {(pages[s], pages[t]) for s, t in zip(sources, targets, strict=True)}
    assert len(sources) == 2
    assert named == {("a", "b"), ("b", "c")}


def test_the_scale_runs_from_0_to_10_in_equal_factors():
    assert on_scale(np.array([0.001, 0.01, 0.1])) == pytest.approx([0.0, 5.0, 10.0])
    assert on_scale(np.array([0.5, 0.5])) == pytest.approx([0.0, 0.0])
    assert on_scale(np.zeros(0)).size == 0


def test_the_spread_gives_the_ranks_back():
    ranks, spread = ranks_of([("a", ["b"]), ("b", ["a"]), ("c", ["a"])])
    assert ranks["c"] == 0.0
    assert ranks["a"] == 10.0
    assert spread ** (ranks["b"] / 10) == pytest.approx((0.05 + 0.85 * 0.0 + 0.85 * spread * 0.05) / 0.05)
    assert ranks_of([]) == ({}, 1.0)

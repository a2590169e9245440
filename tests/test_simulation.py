"""The simulator: what it measures is what the formulas say, and the policies come out in the right order."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from incrawl.config import Config
from incrawl.core.records import Observation, Outcome, UrlRecord, Visit
from incrawl.core.refresh.fixed import Fixed
from incrawl.core.refresh.policy import Collection, Limits
from incrawl.core.simulation.baselines import Nutch, StormCrawler, likeliest_rate
from incrawl.core.simulation.contenders import CONTENDERS, Task, contender, known_rates
from incrawl.core.simulation.contest import Contest, Setting, simulate
from incrawl.core.simulation.optimum import best_frequencies, freshness
from incrawl.core.simulation.pages import DAY, Pages, PoissonChanges, TracedChanges
from incrawl.core.simulation.run import Simulation
from incrawl.core.simulation.traces import read_trace
from incrawl.errors import ConfigError

CONFIG = Config.from_settings({})


def setting(count: int = 300, visits: float = 60, weights: str = "uniform", warmup: float = 0.0) -> Setting:
    return Setting(count, visits, weights, seed=1, warmup=warmup)


def one_page(*changes: float, known: float = 0.0, span: float = 100.0) -> Simulation:
    """A page that changes at these times, visited every 10 seconds."""
    pages = Pages(np.array([0.1]), np.array([1.0]), np.array([known]), span)
    return Simulation(pages, TracedChanges([list(changes)]), Fixed(Limits(10.0, 1.0, 1000.0)), budget=1.0)


def test_freshness_age_requests_and_hits_of_a_page_whose_changes_are_known() -> None:
    result = one_page(12.0, 15.0, 55.0).run()
    # Stale from 12 to 20 and from 55 to 60; a second change while stale adds nothing.
    assert result.freshness == pytest.approx(1 - (8 + 5) / 100)
    assert result.age == pytest.approx((8**2 / 2 + 5**2 / 2) / 100)
    assert (result.requests, result.hit_rate) == (9, pytest.approx(2 / 9))


def test_the_warm_up_counts_from_the_start_only() -> None:
    simulation = one_page(12.0, 55.0)
    simulation.warmup = 0.5
    result = simulation.run()
    assert result.freshness == pytest.approx(1 - 5 / 50)
    assert result.freshness_from_start == pytest.approx(1 - (8 + 5) / 100)


def test_no_policy_spends_more_than_the_budget() -> None:
    contest = setting(count=50).contest(0.25)
    for name in ("stormcrawler", "nutch", "self_adjusting"):
        assert contest.run(name, CONFIG).requests <= 50 * 60 * 1.001


def test_even_visits_keep_pages_as_fresh_as_the_formula_says() -> None:
    contest = setting(count=150).contest(0.25)
    pages, even = contest.task.pages, np.full(150, contest.task.budget)
    expected = freshness(pages.rates, pages.weights, even)
    assert contest.run("uniform", CONFIG).freshness == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("weights", ["uniform", "zipf"])
def test_known_rates_reach_the_optimum(weights: str) -> None:
    contest = setting(count=150, weights=weights).contest(0.25)
    result = simulate(contest.task, contest.changes(), known_rates(contest.task), warmup=0.5)
    assert result.freshness == pytest.approx(contest.optimum, rel=0.02)


def test_the_optimum_spends_the_budget_and_no_small_move_betters_it() -> None:
    pages = setting(weights="zipf").contest(1.0).task.pages
    best, _ = best_frequencies(pages.rates, pages.weights, 300 / DAY)
    assert best.sum() == pytest.approx(300 / DAY, rel=1e-3)
    top = freshness(pages.rates, pages.weights, best)
    chance = np.random.default_rng(1)
    for _ in range(50):
        moved = best * chance.uniform(0.9, 1.1, len(best))
        moved *= best.sum() / moved.sum()
        assert freshness(pages.rates, pages.weights, moved) <= top + 1e-9


@pytest.fixture(scope="module")
def learnt() -> dict[str, float]:
    """What is reached of the optimum, once pages are known."""
    contest = setting(count=150, visits=30, warmup=0.5).contest(0.25)
    names = ("budget", "uniform", "self_adjusting", "nutch", "maximum_likelihood", "proportional")
    return {name: contest.run(name, CONFIG).freshness / contest.optimum for name in names}


def test_the_budget_policy_comes_near_the_optimum_and_ahead_of_all_others(learnt: dict[str, float]) -> None:
    assert learnt["budget"] > 0.96
    assert learnt["budget"] == max(learnt.values())


def test_where_the_budget_binds_the_papers_rule_loses_to_even_visits(learnt: dict[str, float]) -> None:
    assert learnt["self_adjusting"] < learnt["uniform"]
    assert learnt["nutch"] < learnt["uniform"]
    assert learnt["proportional"] < learnt["nutch"]


def test_importance_is_followed() -> None:
    contest = setting(count=100, visits=20, weights="zipf", warmup=0.5).contest(0.1)
    ratio = {name: contest.run(name, CONFIG).freshness / contest.optimum for name in ("budget", "uniform")}
    assert ratio["budget"] > 0.9 > 0.8 > ratio["uniform"]


@pytest.mark.parametrize("name", CONTENDERS)
def test_every_contender_runs_and_does_the_same_again(name: str) -> None:
    contest = setting(count=30, visits=6).contest(1.0)
    first, second = contest.run(name, CONFIG), contest.run(name, CONFIG)
    assert first == second
    assert 0 < first.freshness < 1
    assert 0 <= first.hit_rate <= 1


def test_policies_by_dotted_path_run_too_and_others_are_told() -> None:
    task = setting(count=30).contest(1.0).task
    assert isinstance(contender("incrawl.core.refresh.fixed.Fixed", task, CONFIG), Fixed)
    with pytest.raises(ConfigError, match=r"--policies cannot have 'nutsch'.*nutch"):
        contender("nutsch", task, CONFIG)


def record(*history: Observation, refresh_time: float = DAY) -> UrlRecord:
    return UrlRecord("http://a/", refresh_time=refresh_time, history=history)


@pytest.mark.parametrize(
    ("policy", "outcome", "before", "after"),
    [
        (Nutch(), Outcome.UNCHANGED, 1000.0, 1400.0),
        (Nutch(), Outcome.CHANGED, 1000.0, 800.0),
        (Nutch(), Outcome.CHANGED, 61.0, 60.0),
        (Nutch(), Outcome.UNCHANGED, 364 * DAY, 365 * DAY),
        (StormCrawler(), Outcome.UNCHANGED, 7200.0, 10800.0),
        (StormCrawler(), Outcome.UNCHANGED, 13 * DAY, 14 * DAY),
        (StormCrawler(), Outcome.CHANGED, 10800.0, 7200.0),
    ],
)
def test_rules_of_other_crawlers(
    policy: Nutch | StormCrawler, outcome: Outcome, before: float, after: float
) -> None:
    known = record(Observation(1.0, False), refresh_time=before)
    assert policy.next_refresh(known, Visit(0.0, outcome), Collection()) == pytest.approx(after)


def test_the_likeliest_rate_is_that_of_many_visits() -> None:
    chance = np.random.default_rng(2)
    gaps = chance.uniform(0.5, 3.0, 400) * DAY
    history = tuple(Observation(gap, chance.random() < -math.expm1(-0.7 * gap / DAY)) for gap in gaps)
    assert likeliest_rate(record(*history), DAY) * DAY == pytest.approx(0.7, rel=0.15)


def traced(tmp_path: Path, text: str, *, packed: bool = False) -> Path:
    path = tmp_path / "trace.csv"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_a_trace_is_read_plain_or_packed_in_any_order(tmp_path: Path, packed: bool) -> None:
    trace = read_trace(traced(tmp_path, "page_id,t\na,300\nb,100\na,200\n\n", packed=packed))
    assert (trace.times, trace.span) == ([[100.0, 200.0], [0.0]], 200.0)
    pages = trace.pages("uniform", seed=1)
    assert pages.known.tolist() == [100.0, 0.0]
    assert trace.mean_rate() == pytest.approx(1 / (100 + 200))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("page_id,t\na,1\nb,soon\n", "Line 3"),
        ("a,1\nb,2,3\n", "Line 2"),
        ("a,1\n,2\n", "Line 2"),
        ("a,nan\n", "Line 1"),
        ("page_id,t\n", "holds no changes"),
        ("a,5\nb,5\n", "at the same time"),
    ],
)
def test_a_bad_trace_is_told_with_its_line(tmp_path: Path, text: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        read_trace(traced(tmp_path, text))


def test_a_trace_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_trace(tmp_path / "missing.csv")
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"a,1\n" * 1000)[:30])
    with pytest.raises(ConfigError, match="cannot be read"):
        read_trace(broken)


def bursts(pages: int = 120, days: int = 600) -> str:
    """Pages that sleep for months, change ten times in ten days, and sleep again; and some that never do."""
    chance, rows = np.random.default_rng(5), ["page_id,t"]
    for page in range(pages):
        rows.append(f"{page},0")
        starts = chance.uniform(0, days, 3) if page % 2 else []
        for start in starts:
            rows += [f"{page},{int((start + day) * DAY)}" for day in chance.uniform(0, 10, 10)]
    return "\n".join([*rows, f"{pages},{days * 86400}"])


def test_on_bursts_the_budget_policy_is_no_worse_than_the_better_of_two_simple_rules(tmp_path: Path) -> None:
    trace = read_trace(traced(tmp_path, bursts()))
    contest: Contest = setting(warmup=0.0).contest_on(trace, trace.mean_rate() * DAY)
    fresh = {
        name: contest.run(name, CONFIG).freshness for name in ("budget", "uniform", "maximum_likelihood")
    }
    assert fresh["budget"] >= max(fresh["uniform"], fresh["maximum_likelihood"])


def test_pages_that_change_without_memory_do_so_at_their_rates() -> None:
    changes, time, count = PoissonChanges(np.array([2.0]), seed=3), 0.0, 0
    while (time := changes.after(0, time)) < 2000:
        count += 1
    assert count == pytest.approx(4000, rel=0.05)


def test_tasks_know_whether_pages_differ_in_importance() -> None:
    assert not Task(setting(count=9).contest(1.0).task.pages, 1.0).is_weighed
    assert setting(count=9, weights="zipf").contest(1.0).task.is_weighed

"""The policies that can be set against each other: those of the crawl, as the settings make them, and
rules to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from incrawl.core.refresh import POLICIES, policy_from
from incrawl.core.refresh.policy import RefreshPolicy
from incrawl.core.simulation.baselines import Given, MaximumLikelihood, Nutch, StormCrawler
from incrawl.core.simulation.optimum import best_frequencies
from incrawl.core.simulation.pages import Pages, Vector
from incrawl.core.simulation.run import address
from incrawl.core.values import Rate
from incrawl.errors import ConfigError

PASSES = 2.0  # of `visit_frequency` per average wait: a page that always changes is visited twice as often
SHORTEST, LONGEST = 1e-3, 20.0  # average waits: bounds of refresh times, under every policy of the crawl


@dataclass(frozen=True, slots=True)
class Task:
    """Pages to keep fresh at `budget` requests per page and second."""

    pages: Pages
    budget: float

    @property
    def visits_per_second(self) -> float:
        return self.budget * len(self.pages)

    @property
    def is_weighed(self) -> bool:
        return bool(np.ptp(self.pages.weights) > 0)


def known_rates(task: Task) -> RefreshPolicy:
    frequencies, _ = best_frequencies(task.pages.rates, task.pages.weights, task.visits_per_second)
    return given(frequencies)


def proportional(task: Task) -> RefreshPolicy:
    return given(task.visits_per_second * task.pages.rates / task.pages.rates.sum())


def given(frequencies: Vector) -> Given:
    waits = np.divide(1.0, frequencies, out=np.full(len(frequencies), np.inf), where=frequencies > 0)
    return Given({address(page): float(wait) for page, wait in enumerate(waits)})


def maximum_likelihood(task: Task) -> RefreshPolicy:
    weights = task.pages.weights / task.pages.weights.mean()
    by_url = {address(page): float(weight) for page, weight in enumerate(weights)}
    return MaximumLikelihood(task.visits_per_second, by_url)


BASELINES: dict[str, Callable[[Task], RefreshPolicy]] = {
    "maximum_likelihood": maximum_likelihood,
    "proportional": proportional,
    "nutch": lambda task: Nutch(replace(Nutch().limits, default=1 / task.budget)),
    "stormcrawler": lambda task: StormCrawler(replace(StormCrawler().limits, default=1 / task.budget)),
}

CONTENDERS = (*POLICIES, *BASELINES)


def contender(name: str, task: Task, config: Any) -> RefreshPolicy:
    """The policy `name`; one of the crawl is made from `config`, with the task's budget, importance and,
    as the refresh time to begin with, its average wait."""
    if name in BASELINES:
        return BASELINES[name](task)
    average = 1 / task.budget
    # A count of a million keeps the rate exact enough; only the quotient of the two is used.
    adapted = replace(
        config,
        average_refresh_time=average,
        min_refresh_time=SHORTEST * average,
        max_refresh_time=LONGEST * average,
        pass_time=average / PASSES,
        budget=Rate(1_000_000, 1_000_000 / task.visits_per_second),
        importance="rank" if task.is_weighed else "uniform",
        host_interval=0.0,
        host_intervals={},
    )
    try:
        return policy_from(adapted, name)
    except ConfigError as error:
        if name in POLICIES:
            raise
        names = ", ".join(CONTENDERS)
        raise ConfigError(
            f"--policies cannot have {name!r}: choose from {names}, or write the dotted path of a class."
        ) from error

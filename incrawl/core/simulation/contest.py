"""Several policies at the same task, and the best that fixed waits could do there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from incrawl.core.simulation.contenders import Task, contender, known_rates
from incrawl.core.simulation.optimum import best_frequencies, freshness
from incrawl.core.simulation.pages import DAY, Changes, Pages, PoissonChanges, poisson_pages
from incrawl.core.simulation.run import Progress, Result, Simulation
from incrawl.core.simulation.traces import Trace
from incrawl.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Contest:
    """One task for all: the same pages, changes and budget. The first `warmup` of the run, in which the
    policies get to know the pages, counts only for what is said "from the start"."""

    task: Task
    changes: Callable[[], Changes]  # anew for each run, and the same each time
    warmup: float
    optimum: float
    """Freshness where every page's rate is known: as calculated for pages drawn at random, as it came out
    for a trace, whose pages do not change as any formula says."""

    @property
    def per_day(self) -> float:
        """Requests per page and day."""
        return self.task.budget * DAY

    def run(self, name: str, config: Any, progress: Progress = lambda share: None) -> Result:
        return simulate(self.task, self.changes(), contender(name, self.task, config), self.warmup, progress)


def simulate(
    task: Task, changes: Changes, policy: Any, warmup: float, progress: Progress = lambda share: None
) -> Result:
    return Simulation(task.pages, changes, policy, task.budget, warmup, progress).run()


@dataclass(frozen=True, slots=True)
class Setting:
    """What contests of several budgets have in common."""

    count: int | None  # pages; None: 2,000, or all of a trace
    visits: float  # on average, of each page drawn at random
    weights: str  # uniform or zipf
    seed: int
    warmup: float

    def contest(self, per_day: float) -> Contest:
        """Pages drawn at random; `per_day` visits to each on average."""
        pages = poisson_pages(self.count or 2000, per_day, self.visits, self.weights, self.seed)
        task = Task(pages, per_day / DAY)
        frequencies, _ = best_frequencies(pages.rates, pages.weights, task.visits_per_second)
        optimum = freshness(pages.rates, pages.weights, frequencies)
        return Contest(task, lambda: PoissonChanges(pages.rates, self.seed), self.warmup, optimum)

    def contest_on(self, trace: Trace, per_day: float) -> Contest:
        """The pages of a trace."""
        task = Task(trace.pages(self.weights, self.seed), per_day / DAY)
        optimum = simulate(task, trace.changes(), known_rates(task), self.warmup).freshness
        return Contest(task, trace.changes, self.warmup, optimum)


@dataclass(frozen=True, slots=True)
class BudgetWord:
    """A budget as it is written: `0.25` visits per page and day, or `4x` the mean rate of change."""

    amount: float
    of_rate: bool

    @classmethod
    def read(cls, text: str) -> BudgetWord:
        word = text.strip().lower()
        of_rate = word.endswith("x")
        try:
            amount = float(word.removesuffix("x"))
        except ValueError:
            amount = 0.0
        if not 0 < amount < float("inf"):
            raise ConfigError(
                f"--budget cannot be {text!r}: write visits per page and day, such as 0.25, "
                "or multiples of the mean rate of change, such as 4x."
            )
        return cls(amount, of_rate)

    def per_day(self, mean_rate: float) -> float:
        """`mean_rate`: changes per page and second."""
        return self.amount * mean_rate * DAY if self.of_rate else self.amount


def mean_rate(pages: Pages) -> float:
    return float(pages.rates.mean())


def read_budgets(text: str) -> Iterator[BudgetWord]:
    for word in text.split(","):
        yield BudgetWord.read(word)

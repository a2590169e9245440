"""A picture of a contest of policies: how fresh each keeps the pages, over what it may spend."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from incrawl.errors import ConfigError

FORMATS = (".svg", ".png")


def check_plot_path(path: Path) -> Path:
    """Before the work begins, whether a picture can be drawn there."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"--plot cannot be {str(path)!r}: name a file that ends with .svg or .png.")
    if not path.parent.is_dir():
        raise ConfigError(f"--plot cannot be {str(path)!r}: there is no directory {path.parent}.")
    try:
        import_module("matplotlib")
    except ImportError:
        raise ConfigError("--plot needs matplotlib: pip install 'incrawl[plot]'.") from None
    return path


def write_plot(report: dict[str, Any], path: Path) -> None:
    figures: Any = import_module("matplotlib.figure")
    figure = figures.Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.subplots()
    runs = sorted(report["runs"], key=lambda run: float(run["budget"]))
    budgets = [run["budget"] for run in runs]
    axes.plot(budgets, [run["optimum"] for run in runs], "k--", label="every rate known")
    last = runs[-1]["policies"]
    for number, name in enumerate(sorted(last, key=lambda name: -last[name]["freshness"])):
        fresh = [run["policies"][name]["freshness"] for run in runs]
        # Ten colours go round; after them, other marks tell the lines apart.
        axes.plot(budgets, fresh, marker="os"[number // 10 % 2], color=f"C{number % 10}", label=name)
    axes.set_xscale("log")
    axes.set_xticks(budgets, [f"{budget:.3g}" for budget in budgets])
    axes.minorticks_off()
    axes.set_xlabel("visits per page and day")
    axes.set_ylabel("share of the time that pages are fresh")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    try:
        figure.savefig(path)
    except OSError as error:
        raise ConfigError(f"The plot could not be written to {path}: {error}.") from None

"""Refresh policies, one per file, and the setting that chooses among them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from incrawl.core.refresh.policy import RefreshPolicy
from incrawl.errors import ConfigError

POLICIES = {
    "self_adjusting": "incrawl.core.refresh.self_adjusting.SelfAdjusting",
    "interest": "incrawl.core.refresh.interest.Interest",
    "visit_frequency": "incrawl.core.refresh.visit_frequency.VisitFrequency",
    "hybrid": "incrawl.core.refresh.hybrid.Hybrid",
    "budget": "incrawl.core.refresh.budget.Budget",
    "uniform": "incrawl.core.refresh.uniform.Uniform",
    "fixed": "incrawl.core.refresh.fixed.Fixed",
}
"""The short names of `INCRAWL_REFRESH_POLICY`; any other class goes by its dotted path."""


def policy_from(config: Any, name: str | None = None) -> RefreshPolicy:
    """The policy that `INCRAWL_REFRESH_POLICY` (or `name`) asks for, built from `config`.

    A policy class is built by its classmethod `from_config(config)` where it has one, else
    without arguments. Raises ConfigError where the class cannot be found or the settings that
    it reads contradict each other.
    """
    name = config.refresh_policy if name is None else name
    policy_class = load(POLICIES.get(name, name))
    try:
        build = getattr(policy_class, "from_config", None)
        policy = build(config) if build else policy_class()
    except (ValueError, TypeError) as error:
        raise ConfigError(f"INCRAWL_REFRESH_POLICY {name!r} cannot be set up: {error}.") from None
    if not callable(getattr(policy, "next_refresh", None)):
        raise ConfigError(f"INCRAWL_REFRESH_POLICY {name!r} has no method next_refresh.")
    return policy  # type: ignore[no-any-return]


def load(path: str) -> Any:
    """The class at a dotted path."""
    module, _, attribute = path.rpartition(".")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        names = ", ".join(POLICIES)
        reason = f" ({error})" if module else ""
        raise ConfigError(
            f"INCRAWL_REFRESH_POLICY cannot be {path!r}{reason}: choose one of {names}, "
            "or the dotted path of a class."
        ) from None

"""incrawl keeps a local copy of web sites fresh with few requests, and tells what changed."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["Addon"]


def __getattr__(name: str) -> Any:
    # Looked up late: `incrawl.core` must stay importable without Scrapy.
    if name == "Addon":
        from incrawl.addon import Addon

        return Addon
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

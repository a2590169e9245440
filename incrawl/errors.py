"""Mistakes of a user or operator: each is told in one sentence and ends the command with status 2.

IncrawlError
├── ConfigError      a setting, argument or seed file that cannot be used
└── ServerError      the Redis server cannot be reached, started or trusted
"""

from __future__ import annotations


class IncrawlError(Exception):
    """Says in one sentence what is wrong and what to do; shown without a traceback."""


class ConfigError(IncrawlError):
    """A setting, argument or file that cannot be used as it is."""


class ServerError(IncrawlError):
    """The Redis server cannot be reached, started or trusted."""

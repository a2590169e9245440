"""URL patterns that lead nowhere, as workers have found them: for others, later runs and operators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from incrawl.frontier import keys
from incrawl.frontier.frontier import Frontier
from incrawl.frontier.shared import home_prefix

MEMORY = 30 * 86400.0  # seconds after which a pattern gets another chance
MOST = 1000


@dataclass(frozen=True, slots=True)
class Trap:
    pattern: str
    example: str
    found: float


async def tell_traps(frontier: Frontier, patterns: Sequence[str], example: str) -> None:
    """Says that patterns were found to be traps. Beyond a bound only this worker knows."""
    if patterns and await frontier.command("HLEN", _key(frontier)) < MOST:
        value = json.dumps([frontier.now(), example])
        await frontier.command("HSET", _key(frontier), *(word for each in patterns for word in (each, value)))


async def traps(frontier: Frontier) -> list[Trap]:
    """What is known, the latest first; what is too old is forgotten on the way."""
    known = await frontier.command("HGETALL", _key(frontier))
    pairs = known.items() if isinstance(known, dict) else zip(known[::2], known[1::2], strict=True)
    found = [_read(pattern, value) for pattern, value in pairs]
    old = [trap.pattern for trap in found if trap.found < frontier.now() - MEMORY]
    if old:
        await frontier.command("HDEL", _key(frontier), *old)
    return sorted((trap for trap in found if trap.pattern not in old), key=lambda trap: -trap.found)


async def known_traps(frontier: Frontier) -> dict[str, str]:
    """Patterns with an example each."""
    return {trap.pattern: trap.example for trap in await traps(frontier)}


def _read(pattern: bytes, value: bytes) -> Trap:
    try:
        found, example = json.loads(value)
        return Trap(pattern.decode(errors="replace"), str(example), float(found))
    except (ValueError, TypeError):
        return Trap(pattern.decode(errors="replace"), "", 0.0)  # unreadable: as old as can be


def _key(frontier: Frontier) -> bytes:
    return keys.traps(home_prefix(frontier))

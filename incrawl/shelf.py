"""The repository as visits use it: without blocking, and together with the other visits of this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from incrawl.repository import Repository, Sidecar, Staged
from incrawl.together import Together

Result = TypeVar("Result")


class Shelf:
    """One per worker."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._staging: Together[tuple[Sidecar, bytes], Staged] = Together(repository.stage_all)
        self._promoting: Together[Staged, None] = Together(repository.promote_all)
        self._others: Together[Callable[[], Any], Any] = Together(_each)

    async def stage(self, sidecar: Sidecar, body: bytes) -> Staged:
        return await self._staging.do((sidecar, body))

    async def promote(self, staged: Staged) -> None:
        await self._promoting.do(staged)

    async def do(self, step: Callable[..., Result], *arguments: Any) -> Result:
        """Anything else that takes the disk, in a thread."""
        return cast(Result, await self._others.do(partial(step, *arguments)))


def _each(steps: Sequence[Callable[[], Any]]) -> list[Any]:
    return [_outcome(step) for step in steps]


def _outcome(step: Callable[[], Any]) -> Any:
    try:
        return step()
    except Exception as error:
        return error

"""`scrapy backup DIRECTORY`: frontier and repository, taken while crawls may be running."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from incrawl.cli.command import FrontierCommand, Report, repository_of
from incrawl.cli.text import clean
from incrawl.config import Config
from incrawl.errors import ConfigError
from incrawl.frontier.frontier import Frontier
from incrawl.recovery.alone import alone_in
from incrawl.recovery.copying import copy_repository
from incrawl.recovery.frontier_file import FrontierFile, Head, entries_of
from incrawl.recovery.places import frontier_file, repository_copy


class Command(FrontierCommand):
    arguments = (1, 1)

    def syntax(self) -> str:
        return "[options] DIRECTORY"

    def short_desc(self) -> str:
        return "Back up frontier and repository, also while crawling"

    def long_desc(self) -> str:
        return (
            "Writes the frontier into a file in DIRECTORY and copies the documents beside it. Given the same "
            "directory again, only what is new is copied. `scrapy restore DIRECTORY` puts both back."
        )

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        target = Path(args[0])
        check_elsewhere(target, config.repository_dir)
        repository = repository_of(config, frontier)
        with told(target):
            async with alone_in(target):
                # The frontier comes first: every document that it names is then found in the repository.
                entries = await write_frontier(frontier, repository.identity, target)
                copied = await asyncio.to_thread(
                    copy_repository, config.repository_dir, repository_copy(target)
                )
        return {
            "directory": str(target),
            "namespace": frontier.namespace,
            "records": entries,
            "files": copied,
        }

    def show(self, report: Report, console: Console) -> None:
        console.print(
            f"{clean(report['directory'])}: {report['records']} records of {report['namespace']}, "
            f"{report['files']} files copied."
        )


def check_elsewhere(target: Path, repository: Path) -> None:
    """A back-up beside or inside of what it saves would be none."""
    ours = repository.resolve()
    if repository_copy(target).resolve() == ours or target.resolve().is_relative_to(ours):
        raise ConfigError(f"{target} is where the crawl itself keeps its documents: name another directory.")


@contextmanager
def told(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigError(
            f"The back-up cannot be written to {target}: {error.strerror}. Name another directory."
        ) from None


async def write_frontier(frontier: Frontier, identity: str, target: Path) -> int:
    head = Head(frontier.namespace, identity, frontier.now())
    file = FrontierFile(frontier_file(target, frontier.namespace), head)
    async for entry in entries_of(frontier):
        file.add(entry)
    return file.finish()

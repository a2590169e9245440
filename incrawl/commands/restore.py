"""`scrapy restore DIRECTORY`: puts a back-up back, into an empty place or onto another server."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from rich.console import Console

from incrawl.cli.command import FrontierCommand, Report
from incrawl.cli.text import clean
from incrawl.config import Config
from incrawl.errors import ConfigError
from incrawl.frontier.adoption import Adopted, adopt
from incrawl.frontier.frontier import Frontier
from incrawl.recovery.alone import alone_in
from incrawl.recovery.copying import copy_repository
from incrawl.recovery.frontier_file import Entry, Hold, read_entries, read_head
from incrawl.recovery.places import frontier_file, repository_copy
from incrawl.repository.folders import told
from incrawl.repository.identity import IDENTITY

BATCH = 2000


class Command(FrontierCommand):
    arguments = (1, 1)

    def syntax(self) -> str:
        return "[options] DIRECTORY"

    def short_desc(self) -> str:
        return "Restore frontier and repository from a back-up"

    def long_desc(self) -> str:
        return (
            "Puts back what `scrapy backup DIRECTORY` has saved: the documents where the repository lacks "
            "them, and the records that the frontier does not know. Nothing that is there is overwritten. "
            "The server may be another one than before, and have another number of partitions."
        )

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        source = Path(args[0])
        path = frontier_file(source, frontier.namespace)
        head = await asyncio.to_thread(read_head, path)
        await asyncio.to_thread(check_empty, config.repository_dir, head.repository)
        await frontier.bind_repository(head.repository)  # or nothing is copied
        with told(config.repository_dir):
            async with alone_in(config.repository_dir):
                copied = await asyncio.to_thread(
                    copy_repository, repository_copy(source), config.repository_dir
                )
        records = await restore_entries(frontier, path)
        return {
            "directory": str(source),
            "namespace": frontier.namespace,
            "records": records,
            "files": copied,
        }

    def show(self, report: Report, console: Console) -> None:
        console.print(
            f"{clean(report['directory'])}: {report['records']} records of {report['namespace']} and "
            f"{report['files']} files put back."
        )


def check_empty(repository: Path, identity: str) -> None:
    """Two repositories must not be mixed: there is none yet, or it is the one that was saved."""
    if (repository / IDENTITY).exists() and identity not in (repository / IDENTITY).read_text():
        raise ConfigError(
            f"{repository} holds another repository than the back-up: name an empty directory in "
            "INCRAWL_REPOSITORY_DIR."
        )


async def restore_entries(frontier: Frontier, path: Path) -> int:
    """How many records were put back. Holds that are over are left out."""
    entries, restored = read_entries(path), 0
    while batch := await asyncio.to_thread(_some, entries):
        restored += await adopt(frontier, (entry for entry in batch if isinstance(entry, Adopted)))
        for entry in batch:
            if isinstance(entry, Hold) and entry.until > frontier.now():
                await frontier.block_host(entry.host, entry.until - frontier.now(), entry.reason)
    return restored


def _some(entries: Iterator[Entry]) -> list[Entry]:
    return list(islice(entries, BATCH))

"""The base of all operators' commands: options, one event loop, errors as sentences, exit codes.

Exit codes: 0 done, 1 what was asked for is not known, 2 it cannot be asked like that.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from redis.exceptions import RedisError
from rich.console import Console
from scrapy.commands import ScrapyCommand
from scrapy.settings import BaseSettings

from incrawl.cli.namespaces import choose_namespace
from incrawl.cli.text import clean, make_console
from incrawl.config import Config
from incrawl.errors import ConfigError, IncrawlError
from incrawl.frontier import keys
from incrawl.frontier.connection import connect
from incrawl.frontier.frontier import Frontier
from incrawl.repository import Repository

NOT_KNOWN, MISTAKE = 1, 2

Report = Mapping[str, Any]


class NotKnown(IncrawlError):  # noqa: N818 - an answer, not a mistake
    """What was asked for does not exist; the command ends with status 1."""


class OperatorCommand(ScrapyCommand):
    """A command that asks for something and prints the answer, as tables or as JSON."""

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy declares it
    arguments = (0, 0)  # fewest and most

    def syntax(self) -> str:
        return "[options]"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--spider", metavar="NAME", help="whose pages (default: incremental)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            self.check_arguments(args)
            self.answer(args, opts)
            sys.stdout.flush()
        except BrokenPipeError:  # the reader, such as head, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except (IncrawlError, RedisError) as error:
            print(f"incrawl: {clean(str(error))}", file=sys.stderr)
            self.exitcode = NOT_KNOWN if isinstance(error, NotKnown) else MISTAKE

    def check_arguments(self, args: list[str]) -> None:
        """Scrapy hands over options that it does not know as arguments."""
        for arg in args:
            if arg.startswith("-"):
                raise ConfigError(f"There is no option {arg}; see --help.")
        fewest, most = self.arguments
        if not fewest <= len(args) <= most:
            raise ConfigError(f"The arguments are {self.syntax()}; see --help.")

    @abstractmethod
    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        """Does what was asked for and prints the outcome."""

    @property
    def project_settings(self) -> BaseSettings:
        assert self.settings is not None
        return self.settings

    def config(self) -> Config:
        return Config.from_settings(self.project_settings)

    def namespace(self, known: Collection[str], config: Config, spider: str | None) -> str:
        return config.namespace or choose_namespace(known, self.project_settings["BOT_NAME"], spider)

    def stored(self, spider: str | None) -> Repository:
        """The repository as it is on the disk; no server is asked."""
        config = self.config()
        known = Repository(config.repository_dir).namespaces()
        return Repository(config.repository_dir, self.namespace(known, config, spider) if known else "")


class FrontierCommand(OperatorCommand):
    """A command that needs the frontier."""

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        report = asyncio.run(self._with_frontier(args, opts))
        if opts.json:
            print(json.dumps(report))
        else:
            self.show(report, make_console())

    async def _with_frontier(self, args: list[str], opts: argparse.Namespace) -> Report:
        config = self.config()
        frontier = await self._open(config, opts.spider)
        try:
            return await self.ask(frontier, config, args, opts)
        finally:
            await frontier.close()

    async def _open(self, config: Config, spider: str | None) -> Frontier:
        client: Any = await connect(self.project_settings, config)
        try:
            known = {name.decode() for name in await client.hkeys(keys.NAMESPACES)}
            return await Frontier.open(
                client,
                self.namespace(known, config, spider),
                partitions=config.partitions,
                lease_time=config.lease_time,
                gap=config.host_interval,
            )
        except BaseException:
            await client.aclose()
            raise

    @abstractmethod
    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        """The answer, as it is printed with --json."""

    @abstractmethod
    def show(self, report: Report, console: Console) -> None:
        """Prints the answer for people."""


def repository_of(config: Config, frontier: Frontier) -> Repository:
    return Repository(config.repository_dir, frontier.namespace)

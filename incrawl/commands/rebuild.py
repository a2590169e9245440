"""`scrapy rebuild`: a frontier that was lost, from the repository alone."""

from __future__ import annotations

import argparse

from rich.console import Console

from incrawl.cli.command import FrontierCommand, Report, repository_of
from incrawl.config import Config
from incrawl.core.refresh import policy_from
from incrawl.core.refresh.policy import Limits
from incrawl.frontier.frontier import Frontier
from incrawl.recovery.rebuild import rebuild
from incrawl.recovery.replay import Replay


class Command(FrontierCommand):
    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "Rebuild the frontier from the repository"

    def long_desc(self) -> str:
        return (
            "Makes all pages known that have documents in the repository, with their histories and due "
            "times, and the pages they link to. What the frontier knows is left alone. Seeds that never "
            "brought a document come back with the next crawl of the seed file."
        )

    async def ask(
        self, frontier: Frontier, config: Config, args: list[str], opts: argparse.Namespace
    ) -> Report:
        repository = repository_of(config, frontier)
        await frontier.bind_repository(repository.identity)
        replay = Replay(repository, policy_from(config), Limits.from_config(config))
        found = await rebuild(frontier, repository, replay)
        return {"namespace": frontier.namespace, "pages": found.pages, "links": found.links}

    def show(self, report: Report, console: Console) -> None:
        console.print(
            f"{report['namespace']}: {report['pages']} pages put back with their histories, "
            f"{report['links']} more found by their links."
        )

"""`scrapy crawl`, with mistakes told in a sentence, exit codes and one line about the run.

Exit codes: 0 the run came to its end or was stopped, 1 something failed in it, 2 it could not start.
Projects that do not enable the add-on get Scrapy's own command; outside any project, the spider
`incremental` is at hand.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Mapping
from typing import Any

from redis.exceptions import RedisError
from scrapy import signals
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.http import Response
from scrapy.utils.misc import load_object
from scrapy.utils.project import inside_project
from twisted.python.failure import Failure

from incrawl.cli.text import clean
from incrawl.errors import IncrawlError
from incrawl.preflight import check
from incrawl.start_errors import told
from incrawl.summary import summary_line

MISTAKE, FAILURE = 2, 1
# Counted where a run went on although something was wrong with it.
FAILURES = tuple(
    f"incrawl/{what}" for what in ("documents/failed", "lease/failed", "visit/lost", "visit/not_kept")
)

logger = logging.getLogger(__name__)


class Command(ScrapyCrawl):
    _start_error: BaseException | None = None

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        if not inside_project():  # where Scrapy itself has no crawl: incrawl's own spider is meant
            assert self.settings is not None
            self.settings.setmodule("incrawl.settings")
        super().process_options(args, opts)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.crawler_process is not None
        if len(args) == 1 and args[0] not in self.crawler_process.spider_loader.list():
            raise UsageError(f"there is no spider {args[0]!r} here; `scrapy list` names those of a project")
        crawler = self._create_crawler(args[0]) if len(args) == 1 else None
        if crawler is None or not uses_incrawl(crawler):
            super().run(args, opts)
            return
        try:
            check(crawler.settings, crawler.spidercls, opts.spargs)
            self._crawl(crawler, opts.spargs)
        except (IncrawlError, RedisError) as error:
            self._tell(str(error), MISTAKE)

    def _crawl(self, crawler: Crawler, arguments: Mapping[str, Any]) -> None:
        assert self.crawler_process is not None
        crawler.signals.connect(self._note_start_error, signals.spider_error)
        run = self.crawler_process.crawl(crawler, **arguments)
        self.crawler_process.start()
        if isinstance(run, asyncio.Task) and not run.done():
            self._tell("stopped at once; pages that were under way come back one lease later", FAILURE)
            return
        error = run.exception() if isinstance(run, asyncio.Task) and not run.cancelled() else None
        if isinstance(error, IncrawlError):
            raise error
        if error is not None:
            logger.debug("The run could not start", exc_info=error)
            self._tell(told(error, "The run could not start"), FAILURE)
            return
        self._conclude(crawler, started=not self.crawler_process.bootstrap_failed)

    def _note_start_error(self, failure: Failure, response: Response | None) -> None:
        if response is None:  # no callback's error, but one of start()
            self._start_error = failure.value

    def _conclude(self, crawler: Crawler, *, started: bool) -> None:
        stats = crawler.stats.get_stats() if started else {}
        if self._start_error is not None:
            code = MISTAKE if isinstance(self._start_error, IncrawlError) else FAILURE
            self._tell(told(self._start_error), code)
            return
        if stats.get("finish_reason") is None:
            self._tell("the run has failed; its log says why", FAILURE)
            return
        if any(stats.get(name) for name in FAILURES):
            self._tell("not all that was found could be kept; the log says why", FAILURE)
        print(summary_line(stats), file=sys.stderr if writes_to_stdout(crawler) else sys.stdout)

    def _tell(self, sentence: str, exitcode: int) -> None:
        print(f"incrawl: {clean(sentence)}", file=sys.stderr)
        self.exitcode = exitcode


def uses_incrawl(crawler: Crawler) -> bool:
    """Whether the crawler's project has the add-on enabled."""
    from incrawl.addon import Addon

    return any(load_object(addon) is Addon for addon in crawler.settings.getdict("ADDONS"))


def writes_to_stdout(crawler: Crawler) -> bool:
    """Whether a feed goes to standard output, where a line about the run would be taken for an item."""
    return any(str(uri).startswith("stdout:") for uri in crawler.settings.getdict("FEEDS"))

"""Extension: what strangers put into log messages cannot be taken for log lines, nor reach a terminal."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals

from incrawl.core.log_text import safe_line
from incrawl.start_errors import OneSentence

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class SafeText(logging.Filter):
    """Sits on a handler, so that it sees the messages of all loggers."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        safe = safe_line(message)
        if safe != message:
            record.msg, record.args = safe, None
        return True


class LogGuard:
    """Puts the filters on the handlers that the log goes to."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LogGuard:
        guard = cls()
        guard.stand()
        # Scrapy puts a new handler in place when the spider's own settings are known.
        crawler.signals.connect(guard.stand, signals.engine_started)
        return guard

    def stand(self) -> None:
        for handler in logging.getLogger().handlers:
            if not any(isinstance(each, SafeText) for each in handler.filters):
                handler.addFilter(OneSentence(handler.level))
                handler.addFilter(SafeText())

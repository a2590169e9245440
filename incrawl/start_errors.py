"""Errors before the first request, those of a spider's `start()` among them: a sentence, not a traceback.

Scrapy itself logs two tracebacks for an error in `start()`, and exits with 0.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from incrawl.errors import IncrawlError

_LOGGER, _MESSAGE = "scrapy.core.engine", "Error while reading start items and requests"


def told(error: BaseException, what: str = "The spider's start() failed") -> str:
    """What went wrong and where, in one sentence; a user's mistake is one already."""
    if isinstance(error, IncrawlError):
        return str(error)
    reason = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split()))))
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{what}: {reason}{place}."


class OneSentence(logging.Filter):
    """Sits on a handler. A log for debugging keeps the traceback, unless the error is a user's mistake."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self._debugging = level <= logging.DEBUG

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if record.name == _LOGGER and error is not None and record.getMessage().startswith(_MESSAGE):
            record.msg, record.args = told(error), None
            if not self._debugging or isinstance(error, IncrawlError):
                record.exc_info = record.exc_text = None
        return True

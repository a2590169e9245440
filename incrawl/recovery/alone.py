"""One back-up or restore at a time in a directory: two would write the same files under the same names."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

logger = logging.getLogger(__name__)


@asynccontextmanager
async def alone_in(directory: Path) -> AsyncIterator[None]:
    """Makes the directory if need be, and waits for whoever is at work there."""
    descriptor = await asyncio.to_thread(_open, directory)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.warning("Another back-up or restore is at work in %s: waiting for its end", directory)
            await asyncio.to_thread(fcntl.flock, descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _open(directory: Path) -> int:
    directory.mkdir(parents=True, exist_ok=True)
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

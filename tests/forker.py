"""Starts crawls fast: a process that has imported everything once and forks for each crawl.

Each line on its input is a JSON object: `words` of the command line, `environment`, `log`, `clock`
(seconds by which the new process's clock is off), and where needed `out` (a file for standard output, else
the log), `code` (a file for the exit code), `folder` to work in, `largest_file` (bytes that a file may
have), `module` (whose `main` is run instead of a command). Each line on its output is the pid of a crawl.
The crawls are real `scrapy crawl` processes; only the second that importing takes is saved.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, NoReturn

PACKAGES = (
    "incrawl",
    "scrapy.commands",
    "scrapy.core",
    "scrapy.downloadermiddlewares",
    "scrapy.extensions",
    "scrapy.spidermiddlewares",
)


def preload() -> None:
    """Imports all that a crawl may need, except the reactor, which belongs to each process alone."""
    for name in PACKAGES:
        package = import_module(name)
        for module in walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                with suppress(ImportError):  # parts of Scrapy that need more than is installed
                    import_module(module.name)


def set_clock_off(seconds: float) -> None:
    """From now on this process lives `seconds` ahead of the others."""
    true_time = time.time
    time.time = lambda: true_time() + seconds


def become_crawl(order: dict[str, Any]) -> None:
    """The child's life."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    nothing = os.open(os.devnull, os.O_RDWR)
    out = os.open(order["out"], os.O_WRONLY | os.O_CREAT, 0o600) if "out" in order else log
    for target, source in ((0, nothing), (1, out), (2, log)):
        os.dup2(source, target)
    os.environ.update(order["environment"])
    os.chdir(order.get("folder", "."))
    if order.get("largest_file"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest_file"],) * 2)
    if order["clock"]:
        set_clock_off(order["clock"])
    if "module" in order:
        import_module(order["module"]).main()
        return
    from scrapy.cmdline import execute

    execute(["scrapy", *order["words"]])


def main() -> None:
    preload()
    assert "twisted.internet.reactor" not in sys.modules
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead are not kept
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            live(json.loads(line))
        print(pid, flush=True)


def live(order: dict[str, Any]) -> NoReturn:
    code: Any = 70
    try:
        become_crawl(order)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    if "code" in order:
        Path(order["code"]).write_text(str(code))
    os._exit(code)


if __name__ == "__main__":
    main()

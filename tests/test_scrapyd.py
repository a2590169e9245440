"""A real scrapyd: the project is deployed as an egg, and a scheduled run does the same crawl."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crawls import ROOT, Crawl, Site, many_pages, until

TOOLS = Path(sys.executable).parent
AGENT = "incrawl-from-an-egg/0.1"  # tells at the site whose code has asked


def ask(url: str, command: str, **query: str) -> dict[str, Any]:
    return call(f"{url}/{command}.json?{urllib.parse.urlencode(query)}")


def call(url: str, **fields: str | list[str]) -> dict[str, Any]:
    data = urllib.parse.urlencode(fields, doseq=True).encode() if fields else None
    with urllib.request.urlopen(url, data, timeout=30) as answer:
        told: dict[str, Any] = json.load(answer)
    assert told["status"] == "ok", told
    return told


@contextmanager
def scrapyd(folder: Path) -> Iterator[str]:
    """A scrapyd on a free port of loopback, with all that is its own in `folder`; gives its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir()
    places = "".join(f"{name}_dir = {folder / name}\n" for name in ("eggs", "logs", "dbs"))
    options = f"bind_address = 127.0.0.1\nhttp_port = {port}\npoll_interval = 0.2\nmax_proc = 1\n"
    (folder / "scrapyd.conf").write_text(f"[scrapyd]\n{places}{options}")
    log = (folder / "log").open("wb")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [TOOLS / "scrapyd", "--pidfile="]
    with log, subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log) as server:
        url = f"http://127.0.0.1:{port}"
        try:
            until(lambda: answers(url) or server.poll() is not None)
            yield url
        finally:
            server.terminate()
            server.wait(30)


def answers(url: str) -> bool:
    try:
        return bool(ask(url, "daemonstatus"))
    except urllib.error.URLError:
        return False


def deploy(copy: Path, url: str) -> None:
    """Builds the egg in a copy of the project: the tools leave their rests where they work."""
    copy.mkdir()
    shutil.copytree(ROOT / "incrawl", copy / "incrawl", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "scrapy.cfg", "README.md"):
        shutil.copy(ROOT / name, copy / name)
    with (copy / "incrawl" / "settings.py").open("a") as settings:
        settings.write(f'USER_AGENT = "{AGENT}"\n')
    config = (copy / "scrapy.cfg").read_text()
    (copy / "scrapy.cfg").write_text(config.replace("http://localhost:6800/", f"{url}/"))
    done = subprocess.run(
        [TOOLS / "scrapyd-deploy", "--version", "1"], cwd=copy, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and '"status": "ok"' in done.stdout, done.stdout + done.stderr


def commands_in(egg: Path) -> set[str]:
    """The commands that an installed incrawl brings."""
    with zipfile.ZipFile(egg) as files:
        written = files.read("EGG-INFO/entry_points.txt").decode()
    points = configparser.ConfigParser()
    points.read_string(written)
    return set(points["scrapy.commands"])


def test_a_scheduled_run_does_the_same_crawl(state_dir: Path) -> None:
    with Site(many_pages(5)) as site, scrapyd(state_dir / "scrapyd") as url:
        deploy(state_dir / "copy", url)
        [egg] = (state_dir / "scrapyd" / "eggs").glob("**/*.egg")
        assert commands_in(egg) == {file.stem for file in (ROOT / "incrawl" / "commands").glob("[a-z]*.py")}
        assert ask(url, "listspiders", project="incrawl")["spiders"] == ["incremental"]
        crawl = Crawl(state_dir)
        del crawl.settings["EXTENSIONS"]
        settings = [f"{name}={value}" for name, value in crawl.settings.items()]
        fields = {"project": "incrawl", "spider": "incremental", "urls": site.url("/"), "setting": settings}
        job = call(f"{url}/schedule.json", **fields)["jobid"]
        until(lambda: [each["id"] for each in ask(url, "listjobs", project="incrawl")["finished"]] == [job])

        log = (state_dir / "scrapyd" / "logs" / "incrawl" / "incremental" / f"{job}.log").read_text()
        assert "Traceback" not in log, log
        assert "'incrawl/visit/new': 6" in log, log
        agents = {hit.headers["User-Agent"] for hit in site.hits}
        assert len(agents) == 1 and agents.pop().startswith(AGENT)
        assert sorted(site.paths()) == sorted(site.pages)

        # A run from the command line finds the same frontier, in which nothing is due.
        again = Crawl(state_dir).run(urls=site.url("/"))
        assert again.out.startswith("incrawl: nothing was due"), again.out
        assert again.stats["incrawl/seeds/new"] == 0
        assert len(site.paths()) == len(site.pages)

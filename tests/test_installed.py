"""incrawl as it is installed: its commands outside any project and inside somebody else's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from crawls import ROOT, Site, html
from crawls import Reply as Page

COMMANDS = {file.stem for file in (ROOT / "incrawl" / "commands").glob("[a-z]*.py")}
OTHER_PROJECT = Path(__file__).parent / "example_project"


def scrapy(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "default", "-m", "scrapy", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("folder", [Path("/"), OTHER_PROJECT, ROOT], ids=["outside", "other", "own"])
def test_every_command_is_listed_once(folder: Path) -> None:
    done = scrapy(folder, "--help")
    listed = [
        line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line[2:3].islower()
    ]
    assert set(listed) >= COMMANDS
    assert len(listed) == len(set(listed))
    assert done.stderr == ""


def test_commands_of_others_do_not_wait_for_incrawl_to_be_imported() -> None:
    script = """
import atexit, sys
from scrapy.cmdline import execute
atexit.register(lambda: print(*sorted({"redis", "numpy", "incrawl.config"} & {*sys.modules})))
execute(["scrapy", "version"])
"""
    done = subprocess.run([sys.executable, "-c", script], cwd="/", capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[1:] == [""]


def test_a_terminal_that_lacks_a_sign_gets_another(tmp_path: Path) -> None:
    for name, text in (("old", "one"), ("new", "two")):
        (tmp_path / name).write_text(f"<p>{text} \N{SNOWMAN}")
    command = [sys.executable, "-m", "scrapy", "diff", "old", "new"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=tmp_path, env=ascii_only, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "+ two ?" in done.stdout


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs" / "commands.md").read_text()
    assert {name for name in COMMANDS if f"`scrapy {name}" not in page} == set()


def test_a_crawl_and_its_commands_need_no_project(state_dir: Path, tmp_path: Path) -> None:
    with Site({"/": Page(html("/a")), "/a": Page(html())}) as site:
        (tmp_path / "mine.txt").write_text(f"{site.url('/')} 1\n")
        options = ["-s", f"INCRAWL_STATE_DIR={state_dir}", "-s", "INCRAWL_ALLOW_NETWORKS=loopback"]
        words = ["-a", "seeds=mine.txt", "-s", "INCRAWL_HOST_INTERVAL=0", "-L", "ERROR"]
        done = scrapy(tmp_path, "crawl", "incremental", *words, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "incrawl: 2 visited: 2 new; links found: 1; requests: 3\n"
    assert (
        '"namespace": "incrawl/incremental", "known": 2'
        in scrapy(tmp_path, "status", "--json", *options).stdout
    )

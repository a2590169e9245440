"""`scrapy server`: as an operator types it, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from incrawl.frontier.embedded import server_info

RUN = """
import sys
from scrapy.cmdline import execute
from scrapy.settings import Settings
execute(["scrapy", *sys.argv[1:]], Settings({"COMMANDS_MODULE": "incrawl.commands"}))
"""


def scrapy_server(state_dir: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RUN, "server", *args, "-s", f"INCRAWL_STATE_DIR={state_dir}"]
    return subprocess.run(command, capture_output=True, text=True, cwd=state_dir, timeout=60)


def test_start_status_stop(state_dir: Path) -> None:
    assert json.loads(scrapy_server(state_dir, "--json").stdout)["running"] is False
    started = json.loads(scrapy_server(state_dir, "start", "--json").stdout)
    info = server_info(state_dir)
    assert info is not None
    assert started["pid"] == info.pid
    assert started["url"] == info.url
    assert str(info.pid) in scrapy_server(state_dir, "status").stdout
    stopped = json.loads(scrapy_server(state_dir, "stop", "--json").stdout)
    assert (stopped["stopped"], stopped["running"]) == (True, False)
    assert server_info(state_dir) is None


def test_an_outside_server_is_shown_but_not_stopped(redis_url: str, state_dir: Path) -> None:
    outside = ["-s", f"REDIS_URL={redis_url}"]
    shown = json.loads(scrapy_server(state_dir, "--json", *outside).stdout)
    assert (shown["server"], shown["url"], shown["cluster"]) == ("outside", redis_url, False)
    refused = scrapy_server(state_dir, "stop", *outside)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "REDIS_URL" in refused.stderr
    assert server_info(state_dir) is not None


def test_mistakes_are_one_sentence_and_status_2(state_dir: Path) -> None:
    for args in (["restart"], ["-s", "REDIS_URL=redis://127.0.0.1:1"], ["-s", "INCRAWL_PL=2"]):
        result = scrapy_server(state_dir, *args)
        assert result.returncode == 2
        assert result.stderr.count("\n") == 1
        assert "Traceback" not in result.stderr

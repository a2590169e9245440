"""The demo from end to end: what the crawler reports is what the site really did."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from incrawl.frontier.embedded import server_info


def run_demo(state_dir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "incrawl.demo", "--state-dir", str(state_dir), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=state_dir.parent)


def test_the_report_agrees_with_the_site(state_dir: Path) -> None:
    result = run_demo(state_dir, "--rounds", "4")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "The site's own account agrees" in result.stdout
    assert "What to type next" in result.stdout
    assert server_info(state_dir) is None


def test_a_directory_in_use_is_left_alone(state_dir: Path) -> None:
    mine = state_dir / "mine.txt"
    mine.write_text("precious")
    result = run_demo(state_dir)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert mine.read_text() == "precious"

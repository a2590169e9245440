"""`scrapy server`, as an operator types it."""

from __future__ import annotations

from pathlib import Path

from typed import Typed, typed

from incrawl.frontier.embedded import server_info


def scrapy_server(state_dir: Path, *args: str) -> Typed:
    return typed("server", *args, INCRAWL_STATE_DIR=state_dir)


def test_start_status_stop(state_dir: Path) -> None:
    assert scrapy_server(state_dir, "--json").json()["running"] is False
    started = scrapy_server(state_dir, "start", "--json").json()
    info = server_info(state_dir)
    assert info is not None
    assert started["pid"] == info.pid
    assert started["url"] == info.url
    assert str(info.pid) in scrapy_server(state_dir, "status").out
    stopped = scrapy_server(state_dir, "stop", "--json").json()
    assert (stopped["stopped"], stopped["running"]) == (True, False)
    assert server_info(state_dir) is None


def test_an_outside_server_is_shown_but_not_stopped(redis_url: str, state_dir: Path) -> None:
    outside = ["-s", f"REDIS_URL={redis_url}"]
    shown = scrapy_server(state_dir, "--json", *outside).json()
    assert (shown["server"], shown["url"], shown["cluster"]) == ("outside", redis_url, False)
    refused = scrapy_server(state_dir, "stop", *outside)
    assert (refused.code, refused.out) == (2, "")
    assert "REDIS_URL" in refused.err
    assert server_info(state_dir) is not None


def test_mistakes_are_one_sentence_and_status_2(state_dir: Path) -> None:
    for args in (["restart"], ["-s", "REDIS_URL=redis://127.0.0.1:1"], ["-s", "INCRAWL_PL=2"]):
        result = scrapy_server(state_dir, *args)
        assert result.code == 2
        assert result.err.count("\n") == 1
        assert "Traceback" not in result.err

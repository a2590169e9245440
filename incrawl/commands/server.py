"""`scrapy server [status|start|stop]`: the server that the frontier lives on."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from typing import Any

from rich.filesize import decimal

from incrawl.cli.command import OperatorCommand
from incrawl.cli.text import facts_table, make_console
from incrawl.config import Config, Settings
from incrawl.core.values import format_span
from incrawl.errors import ConfigError, ServerError
from incrawl.frontier.connection import connect
from incrawl.frontier.embedded import ensure_server, server_info, stop_server
from incrawl.frontier.outside import OutsideServer
from incrawl.frontier.server_dir import ServerDir

ACTIONS = ("status", "start", "stop")


class Command(OperatorCommand):
    arguments = (0, 1)

    def syntax(self) -> str:
        return "[options] [status|start|stop]"

    def short_desc(self) -> str:
        return "Show, start or stop the server that keeps the URLs"

    def long_desc(self) -> str:
        return (
            "Shows, starts or stops the embedded server of INCRAWL_STATE_DIR. Stopping loses nothing; a "
            "crawl that still runs starts the server again. A server that REDIS_URL names is only shown."
        )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        report = act(args[0] if args else "status", self.project_settings, self.config())
        if opts.json:
            print(json.dumps(report))
        else:
            make_console().print(facts_table({name: readable(name, report[name]) for name in report}))


def act(action: str, settings: Settings, config: Config) -> dict[str, Any]:
    """Does what was asked and describes the server afterwards."""
    if action not in ACTIONS:
        raise ConfigError(f"scrapy server takes one of {', '.join(ACTIONS)}, not {action!r}.")
    outside = OutsideServer.from_settings(settings)
    if outside is None:
        return act_embedded(action, config)
    if action != "status":
        raise ServerError(f"{outside.name} is not incrawl's to {action}: unset it for the embedded server.")
    return asyncio.run(describe_outside(outside, settings, config))


def act_embedded(action: str, config: Config) -> dict[str, Any]:
    if action == "start":
        ensure_server(config.state_dir)
    stopped = action == "stop" and stop_server(config.state_dir)
    info = server_info(config.state_dir)
    place = ServerDir(config.state_dir)
    report = {"server": "embedded", "running": info is not None, "state_dir": str(config.state_dir)}
    if action == "stop":
        report["stopped"] = stopped
    return report | (asdict(info) if info else {}) | {"log": str(place.log_file)}


async def describe_outside(outside: OutsideServer, settings: Settings, config: Config) -> dict[str, Any]:
    """What an outside server says of itself; of a cluster, what its default node says."""
    client = await connect(settings, config)
    try:
        info: Any = await client.info()
    finally:
        await client.aclose()
    facts = next(iter(info.values())) if info and "uptime_in_seconds" not in info else info
    product = facts.get("server_name", "redis")
    return {
        "server": "outside",
        "running": True,
        "url": outside.name.removeprefix("REDIS_URL "),
        "version": f"{product} {facts.get(f'{product}_version', '?')}",
        "cluster": bool(facts.get("cluster_enabled")),
        "uptime": facts["uptime_in_seconds"],
        "memory": facts["used_memory"],
        "clients": facts["connected_clients"] - 1,
    }


def readable(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in ("memory", "file_size"):
        return decimal(value)
    return format_span(value) if name == "uptime" else str(value)

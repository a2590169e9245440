"""Counts the connections that this process makes to servers.

A new one may be the first to a server that was away, and has come back without its last moments: what
this process remembers of the server's answers is then worth nothing.
"""

from __future__ import annotations

from redis.asyncio.connection import AbstractConnection


class Connections:
    """Asked for `made` by whoever remembers; `greet` is what a client does first on a new connection."""

    def __init__(self) -> None:
        self.made = 0

    async def greet(self, connection: AbstractConnection) -> None:
        self.made += 1
        await connection.on_connect()


CONNECTIONS = Connections()

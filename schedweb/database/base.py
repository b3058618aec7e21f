"""PostgreSQL as Django has it, on connections that are given up when nothing is heard on them any more."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg
from django.db.backends.postgresql import base
from psycopg import IsolationLevel

from schedweb.database.silence import SILENCE

T = TypeVar("T")
Talk = Generator[Any, Any, T]
"""What psycopg does on a connection: yields what it waits for, is sent what is ready (0 from time to time)."""


class Silent(psycopg.OperationalError):
    """Nothing was heard for too long."""


def bounded(talk: Talk[T], seconds: float) -> Talk[T]:
    """Raises Silent when nothing is ready for so long."""
    until = time.monotonic() + seconds
    try:
        wanted = next(talk)
        while True:
            ready = yield wanted
            if ready:
                until = time.monotonic() + seconds
            elif time.monotonic() > until:
                raise Silent(f"nothing is heard of the database for {seconds:g} seconds")
            wanted = talk.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result


class Connection(psycopg.Connection[Any]):
    def wait(self, gen: Talk[T], *arguments: Any, **more: Any) -> T:
        """As psycopg's, within SILENCE. A connection that was silent for longer is closed."""
        try:
            return super().wait(bounded(gen, SILENCE.get()), *arguments, **more)
        except Silent:
            self.close()
            raise


class DatabaseWrapper(base.DatabaseWrapper):
    isolation_level: IsolationLevel

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        # As Django's, for settings without a pool or an isolation level.
        self.isolation_level = IsolationLevel.READ_COMMITTED
        return Connection.connect(**conn_params)

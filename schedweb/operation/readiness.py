"""Whether this process can do its work: what it needs, one by one, each within a few seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection
from kombu import Connection
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from schedweb.api.room import WATCH
from schedweb.celery import app
from schedweb.database_version import NewerDatabase, missing, refuse_newer_database
from schedweb.sentences import say

SECONDS: Final = 3
UNREACHABLE: Final = (DatabaseError, OSError, OperationalError, RedisError)
ANSWER: Final = "operation.worker_answers"
KEPT_SECONDS: Final = 2.0
"""Probes come from several places at once, and each question goes to every worker."""


@dataclass
class Broker:
    """Ways to it that are given up soon, while the product's own wait for a Redis that stands still. Who asks within
    KEPT_SECONDS of one that failed is told so at once: a scrape asks three times, and Prometheus waits ten seconds."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    failed_at: float = float("-inf")

    @contextmanager
    def reached(self, url: str | None = None) -> Iterator[Connection]:
        """``url``: of another one than the product's. Raises one of UNREACHABLE."""
        with self.lock:
            if time.monotonic() - self.failed_at < KEPT_SECONDS:
                raise OperationalError("It did not answer a moment ago.")
        options = {"socket_timeout": SECONDS, "socket_connect_timeout": SECONDS}
        with app.connection_for_read(url, connect_timeout=SECONDS, transport_options=options) as connection:
            try:
                connection.ensure_connection(max_retries=1, timeout=SECONDS)
            except UNREACHABLE:
                with self.lock:
                    self.failed_at = time.monotonic()
                raise
            yield connection


BROKER: Final = Broker()


def database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def migrations() -> str:
    if count := missing():
        return say("{count} migrations of the database {alias} are missing.", count=count, alias=DEFAULT_DB_ALIAS)
    try:
        refuse_newer_database()
    except NewerDatabase as error:
        return str(error)
    return ""


def storage() -> str:
    """Whether commands can be stored."""
    found = WATCH.trouble()
    return "" if found is None else found.sentence()


def redis() -> str:
    """The broker; in the embedded mode it is in the process and always there."""
    with BROKER.reached():
        return ""


def workers() -> str:
    found = cache.get(ANSWER)
    if found is None:
        with BROKER.reached():
            pass  # asking workers takes the product's own connections
        # The first answer suffices: of several workers one may be busy or on its way out.
        found = bool(app.control.broadcast("ping", reply=True, timeout=SECONDS, limit=1))
        cache.set(ANSWER, found, KEPT_SECONDS)
    return "" if found else say("No worker answers.")


CHECKS: Final[dict[str, Callable[[], str]]] = {
    "database": database,
    "migrations": migrations,
    "storage": storage,
    "redis": redis,
    "workers": workers,
}
DISTRIBUTED_ONLY: Final = frozenset({"redis"})


def problems(excluded: frozenset[str]) -> dict[str, str]:
    """By name of the check: why it failed, "" where it did not. Checks that are excluded are left out."""
    return {
        name: problem_of(check)
        for name, check in CHECKS.items()
        if name not in excluded and not (name in DISTRIBUTED_ONLY and settings.MODE == "embedded")
    }


def problem_of(check: Callable[[], str]) -> str:
    try:
        return check()
    except UNREACHABLE as error:
        # Its own text may name hosts, and anybody may ask.
        return say("It does not answer ({kind}).", kind=type(error).__name__)

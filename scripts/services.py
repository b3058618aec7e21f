"""The real Redis and PostgreSQL that tests of the distributed mode run against.

`TEST_REDIS_URL` and `TEST_DATABASE_URL` name them; without these, the ones that listen on this machine's usual ports
are taken. Every test gets a database and a Redis database of its own, so tests of several workers do not meet.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis
from psycopg import sql

REDIS_URL = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379")
DATABASE_URL = os.environ.get("TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
CLAIM_SECONDS = 900


@dataclass(frozen=True)
class Services:
    database_url: str
    redis_url: str
    login: str = ""
    """Where the database has an owner already: the path of a login link that nobody has used."""


def missing_services() -> str | None:
    """A sentence naming what is not there, for the reason of a skip; None when both answer."""
    missing = []
    try:
        redis.Redis.from_url(REDIS_URL, socket_connect_timeout=2).ping()
    except redis.RedisError as error:
        missing.append(f"no Redis at {REDIS_URL} ({error})")
    try:
        psycopg.connect(DATABASE_URL, connect_timeout=2).close()
    except psycopg.OperationalError as error:
        missing.append(f"no PostgreSQL at {DATABASE_URL} ({' '.join(str(error).split())})")
    return "; ".join(missing) or None


def with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{path}"))


@contextlib.contextmanager
def scratch_database(copied: str | None = None) -> Iterator[str]:
    """The URL of an empty PostgreSQL database that is dropped afterwards, or of a copy of ``copied``, a URL again: of a
    database to which nobody is connected.
    """
    name = f"playground_test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(DATABASE_URL, autocommit=True) as connection:
        template = "template1" if copied is None else urlsplit(copied).path.removeprefix("/")
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        try:
            yield with_path(DATABASE_URL, name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextlib.contextmanager
def scratch_redis() -> Iterator[str]:
    """The URL of an empty Redis database, claimed in database 0 and emptied afterwards."""
    with redis.Redis.from_url(with_path(REDIS_URL, "0")) as claims:
        for index in range(15, 0, -1):
            url, claim = with_path(REDIS_URL, str(index)), f"playground-test-claim:{index}"
            if not claims.set(claim, os.getpid(), nx=True, ex=CLAIM_SECONDS):
                continue
            with redis.Redis.from_url(url) as database:
                if database.dbsize():
                    claims.delete(claim)
                    continue
                try:
                    yield url
                finally:
                    database.flushdb()
                    claims.delete(claim)
            return
    raise RuntimeError(f"all numbered databases of {REDIS_URL} are in use")

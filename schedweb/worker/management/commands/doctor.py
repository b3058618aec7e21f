"""`manage.py doctor [PACKAGE …]`: what is there and what is wrong, one line each; exit 1 when something is."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import redis
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor

from framework.cli.doctor import lines, survey
from schedweb.celery import app
from schedweb.serving import running_origin

SECONDS: Final = 3.0


class Fact(NamedTuple):
    is_well: bool
    text: str

    def __str__(self) -> str:
        return f"{'ok    ' if self.is_well else 'WRONG '} {self.text}"


class Command(BaseCommand):
    help = (
        "Says which plugins were found and why one was not, and whether data folder, database, Redis and UI are well."
    )
    # What is wrong is to be told here, not to stop it.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="an installed package that offers plugins")

    def handle(self, *args: Any, **options: Any) -> None:
        well = True
        for fact in facts():
            self.stdout.write(str(fact))
            well &= fact.is_well
        found = survey(options["packages"])
        for line in lines(found):
            self.stdout.write(line)
        if not (well and found.is_well):
            raise SystemExit(1)


def facts() -> Iterator[Fact]:
    yield Fact(True, f"Python {platform.python_version()}, {sys.executable}")
    if settings.ENVIRONMENT.problem is not None:
        yield Fact(False, settings.ENVIRONMENT.problem)
    else:
        yield Fact(True, f"{settings.MODE} mode")
    yield data_folder()
    yield from database()
    if settings.ENVIRONMENT.redis_url:
        yield from broker()
    yield ui()
    origin = running_origin()
    yield Fact(True, "no server of this data folder runs here" if origin is None else f"a server answers at {origin}")


def data_folder() -> Fact:
    folder = Path(settings.DATA_DIR)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"well")
    except OSError as error:
        return Fact(False, f"data folder {folder}: it cannot be written: {error.strerror or error} (PLAYGROUND_DATA)")
    return Fact(True, f"data folder {folder}")


def database() -> Iterator[Fact]:
    connection = connections[DEFAULT_DB_ALIAS]
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite" and not Path(name).exists():
        yield Fact(True, f"database {name}: not there yet, the first start makes it")
        return
    try:
        connection.ensure_connection()
        executor = MigrationExecutor(connection)
        plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        yield Fact(False, f"database {name}: {str(error).strip()} (DATABASE_URL)")
        return
    yield Fact(True, f"database {name} ({connection.vendor})")
    if plan:
        first = plan[0][0]
        yield Fact(False, f"{len(plan)} migrations are to be applied, the first is {first}: run manage.py migrate")
    else:
        yield Fact(True, "all migrations are applied")


def broker() -> Iterator[Fact]:
    url = settings.ENVIRONMENT.redis_url
    client = redis.Redis.from_url(url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
    try:
        client.ping()
    except (redis.RedisError, OSError) as error:
        yield Fact(False, f"Redis: {error} (REDIS_URL)")
        return
    finally:
        client.close()
    yield Fact(True, "Redis answers")
    if settings.MODE != "distributed":
        return
    try:
        answers = app.control.ping(timeout=SECONDS)
    except OSError as error:
        yield Fact(False, f"workers: {error}")
        return
    if answers:
        names = ", ".join(sorted(name for answer in answers for name in answer))
        yield Fact(True, f"workers answer: {names}")
    else:
        yield Fact(False, "no worker answers, so no run is played: start celery -A schedweb worker")


def ui() -> Fact:
    page = settings.FRONTEND_DIST / "index.html"
    if page.is_file():
        return Fact(True, f"UI built in {settings.FRONTEND_DIST}")
    return Fact(False, f"the UI is not built ({page} is missing): run make setup")

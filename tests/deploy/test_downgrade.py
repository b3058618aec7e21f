"""A database that a newer version has used is refused by every process of this one, and stays as it was."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Final

import psycopg
import pytest
from django.core.management import get_commands, load_command_class

from schedweb.stored_command import StoredCommand
from scripts.processes import ROOT, bare_environment, free_port
from scripts.release_fixture import RELEASES
from scripts.services import Services
from tests.deploy.test_upgrades import unpacked

FROM_THE_FUTURE: Final = (
    "INSERT INTO django_migrations (app, name, applied) VALUES ('runs', '9999_from_the_future', CURRENT_TIMESTAMP)"
)
SENTENCE: Final = "has no migration runs.9999_from_the_future. Nothing was changed."
MANAGE: Final = (sys.executable, "manage.py")
WORKER: Final = (sys.executable, "-m", "celery", "-A", "schedweb", "worker")


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=90, check=False)


def test_the_playground_refuses_it(tmp_path: Path) -> None:
    path = unpacked(next(RELEASES.glob("*.zst")), tmp_path)
    with sqlite3.connect(path) as database:
        database.execute(FROM_THE_FUTURE)
    before = path.read_bytes()
    environment = bare_environment() | {"PLAYGROUND_DATA": str(tmp_path), "PORT": str(free_port())}
    for command in ("playground", "web", "migrate", "prune --dry-run"):
        ended = run(environment, *MANAGE, *command.split())
        assert (ended.returncode, SENTENCE in ended.stderr) == (1, True), ended
        assert "Traceback" not in ended.stderr
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    assert path.read_bytes()[100:] == before[100:], "but for the header's counters nothing was written"


def test_commands_say_that_migrations_are_missing(tmp_path: Path) -> None:
    environment = bare_environment() | {"PLAYGROUND_DATA": str(tmp_path)}
    for command in ("prune --dry-run", "create_account mira --role viewer"):
        ended = run(environment, *MANAGE, *command.split())
        assert (ended.returncode, "Run `manage.py migrate` first." in ended.stderr) == (1, True), ended
        assert "Traceback" not in ended.stderr


def test_every_command_that_needs_the_database_looks_at_it_first() -> None:
    """A new one fails here until it is a StoredCommand, or says why not."""
    otherwise = {
        "backup": "an older database is backed up before its upgrade",
        "restore": "it makes the database",
        "doctor": "it says what is wrong",
        "health": "so does it",
        "playground": "it migrates",
        "web": "it looks by itself",
    }
    ours = {name: app for name, app in get_commands().items() if app.startswith("schedweb.")}
    loose = {name for name, app in ours.items() if not isinstance(load_command_class(app, name), StoredCommand)}
    assert loose == set(otherwise)


@pytest.mark.services
def test_web_and_worker_refuse_it(services: Services, tmp_path: Path) -> None:
    environment = bare_environment() | {
        "PLAYGROUND_DATA": str(tmp_path),
        "PORT": str(free_port()),
        "DATABASE_URL": services.database_url,
        "REDIS_URL": services.redis_url,
    }
    with psycopg.connect(services.database_url) as database:
        database.execute(FROM_THE_FUTURE)
    for command in ((*MANAGE, "web"), (*MANAGE, "migrate"), (*MANAGE, "playground"), WORKER):
        ended = run(environment, *command)
        assert (ended.returncode, SENTENCE in ended.stderr) == (1, True), ended
        assert "Traceback" not in ended.stderr

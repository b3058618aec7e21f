"""Entries of the audit log are only ever added: PostgreSQL refuses the rest, to the owner of the tables, too."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from scripts.processes import ROOT
from scripts.services import Services

pytestmark = pytest.mark.services
TABLE = "accounts_auditentry"
ADD = f"""INSERT INTO {TABLE} (at, username, via, address, action, result, target, target_id, details)
          VALUES (%s, '', 'server', '', 'run.delete', 'done', 'r-0001', '', '{{}}')"""


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


def manage(services: Services, *words: str, database_url: str = "") -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "DATABASE_URL": database_url or services.database_url,
        "REDIS_URL": services.redis_url,
        "SECRET_KEY": "of this test",
        "DJANGO_SETTINGS_MODULE": "schedweb.settings",
    }
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_entries_are_only_added(services: Services) -> None:
    role = f"playground_app_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(services.database_url, autocommit=True) as owner:
        owner.execute(ADD, ["2020-01-01"])
        owner.execute(ADD, ["2026-11-24"])
        # An application that is not the owner of its tables, as docs/operating.md has it.
        owner.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'secret'").format(sql.Identifier(role)))
        grants = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {0}"
        owner.execute(sql.SQL(grants).format(sql.Identifier(role)))
        owner.execute(sql.SQL("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}").format(sql.Identifier(role)))
        try:
            url = as_role(services.database_url, role)
            with psycopg.connect(url, autocommit=True) as application:
                application.execute(ADD, ["2026-11-24"])
                for connection in (application, owner):
                    assert_unchangeable(connection)
            old = ["prune_audit", "--before", "2021-01-01"]
            refused = manage(services, *old, database_url=url)
            assert (refused.returncode, "Only the owner" in refused.stderr) == (1, True), refused.stderr
            done = manage(services, *old)
            assert (done.returncode, done.stdout) == (0, "1 entries from before 2021-01-01 are gone.\n"), done.stderr
            # It closed the door behind it, and wrote down that it was there.
            assert_unchangeable(owner)
            newest = owner.execute(f"SELECT action, via FROM {TABLE} ORDER BY id DESC LIMIT 1").fetchone()
            assert newest == ("audit.prune", "server")
        finally:
            owner.execute(sql.SQL("DROP OWNED BY {0}").format(sql.Identifier(role)))
            owner.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


def assert_unchangeable(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    before = connection.execute(f"SELECT * FROM {TABLE} ORDER BY id").fetchall()
    for statement in (f"UPDATE {TABLE} SET username = 'somebody else'", f"DELETE FROM {TABLE}", f"TRUNCATE {TABLE}"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(statement)
    assert connection.execute(f"SELECT * FROM {TABLE} ORDER BY id").fetchall() == before


def as_role(url: str, role: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{role}:secret@{host}"))

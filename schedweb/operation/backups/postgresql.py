"""PostgreSQL's own tools: pg_dump sees one moment of the database, and psql restores in one transaction."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.db import connection

from schedweb.operation.backups.archive import BackupError
from schedweb.operation.backups.fence import fence


def dump(into: Path) -> None:
    """Raises BackupError."""
    run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={into}")


def load(dumped: Path) -> None:
    """Who works with the database meanwhile waits, and finds what was restored. Raises BackupError."""
    script, before, after = (dumped.with_name(name) for name in ("script.sql", "before.sql", "after.sql"))
    run("pg_restore", "--clean", "--if-exists", "--no-owner", "--no-privileges", f"--file={script}", str(dumped))
    # Also tables that only a newer version has.
    tables = ", ".join(connection.ops.quote_name(table) for table in connection.introspection.table_names())
    before.write_text(f"DROP TABLE IF EXISTS {tables} CASCADE;\n" if tables else "", encoding="utf-8")
    # The script leaves no search path behind.
    after.write_text(f"RESET search_path;\n{fence()};\n", encoding="utf-8")
    connection.close()
    files = [f"--file={each}" for each in (before, script, after)]
    run("psql", "--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", *files)


def run(program: str, *arguments: str) -> None:
    """Raises BackupError with what the program said."""
    if shutil.which(program) is None:
        raise BackupError(
            f"{program} is not installed: it comes with PostgreSQL's client (Debian: postgresql-client), which must "
            "not be older than the server."
        )
    ended = subprocess.run(
        [program, *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise BackupError(f"{program} failed, and nothing was changed: {last_lines(ended.stdout.splitlines())}")


def last_lines(lines: Sequence[str]) -> str:
    return "\n".join(lines[-5:]) or "it said nothing"


def environment() -> dict[str, str]:
    """How libpq reaches the database; the password is on no command line."""
    database = settings.DATABASES["default"]
    named = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    given = {variable: str(database[key]) for variable, key in named.items() if database[key]}
    return {**os.environ, "PGCONNECT_TIMEOUT": "10", **given}

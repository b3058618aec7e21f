"""Whether the database was used by a newer version: what that one stored, this one may not be able to read.

It is known by its migrations; a stored format that changes brings one along (CONTRIBUTING.md).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from schedweb.sentences import say

log = logging.getLogger(__name__)
PAUSE_SECONDS: Final = 1.0


class NewerDatabase(Exception):
    """Says what to do."""


class MissingMigrations(Exception):
    """Says what to do."""


def applied() -> list[str]:
    """The migrations of this database, as app.name; none of an empty one."""
    return sorted(".".join(each) for each in MigrationLoader(connection).applied_migrations)


def unknown(migrations: Iterable[str]) -> list[str]:
    """Those that this version does not have."""
    known = MigrationLoader(None).disk_migrations
    return [each for each in migrations if tuple(each.split(".", 1)) not in known]


def refuse_newer(migrations: Iterable[str]) -> None:
    """Raises NewerDatabase."""
    if newer := unknown(migrations):
        raise NewerDatabase(
            say(
                "The database was used by a newer version: {version} has no migration {migration}. Nothing was "
                "changed. Start that version again, or restore a backup that was made before the upgrade.",
                version=settings.VERSION,
                migration=newer[-1],
            )
        )


def refuse_newer_database() -> None:
    """Before anything is done with it. Raises NewerDatabase."""
    refuse_newer(applied())


def missing() -> int:
    """How many migrations of this version the database does not have."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def refuse_other_database() -> None:
    """One of a newer version, or one that was not brought up to date. Raises NewerDatabase or MissingMigrations."""
    refuse_newer_database()
    if count := missing():
        raise MissingMigrations(
            say(
                "The database is not up to date: {count} migrations are missing. Nothing was changed. Run "
                "`manage.py migrate` first.",
                count=count,
            )
        )


def refuse_to_work(**kwargs: Any) -> None:
    """For workers, which are started beside their database and wait for it. Raises SystemExit."""
    while True:
        try:
            refuse_newer_database()
        except NewerDatabase as error:
            raise SystemExit(str(error)) from None
        except OperationalError as error:
            log.warning("the database does not answer, tried again: %s", str(error).strip())
            time.sleep(PAUSE_SECONDS)
        else:
            return
        finally:
            connection.close()

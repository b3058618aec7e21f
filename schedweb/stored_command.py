"""The base of commands that read or write what is stored."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import InterfaceError, OperationalError

from schedweb.api.failures import storage_failure
from schedweb.database_version import MissingMigrations, NewerDatabase, refuse_other_database
from schedweb.sentences import say


class StoredCommand(BaseCommand):
    """Begins only with a database of this version; what the database or its disk does not allow is a sentence."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            refuse_other_database()
            return super().execute(*args, **options)
        except (NewerDatabase, MissingMigrations) as error:
            raise CommandError(str(error)) from None
        except (OperationalError, InterfaceError, OSError) as error:
            failure = storage_failure(error)
            if failure is None:
                raise
            raise CommandError(f"{say(failure[1])} ({str(error).strip()})") from None

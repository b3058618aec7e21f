"""`manage.py restore FILE [--replace]`: what `backup` wrote becomes the database; runs go on from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from schedweb.operation.backups.archive import BackupError
from schedweb.operation.backups.services import restore


class Command(BaseCommand):
    help = "Restores a backup into an empty database. A backup of an older version is brought up to date."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="what manage.py backup wrote")
        parser.add_argument(
            "--replace", action="store_true", help="also where the database is not empty: all in it goes"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            made = restore(options["file"].absolute(), replace=options["replace"])
        except (BackupError, DatabaseError) as error:
            raise CommandError(str(error).strip()) from None
        self.stdout.write(
            f"Restored what {made.version} had stored at {made.made_at}: {made.runs} runs and {made.snapshots} "
            "snapshots. Runs that played go on as soon as a worker is there."
        )

"""`manage.py backup FILE`: all that is stored, in one file, while runs are playing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from schedweb.operation.backups.archive import BackupError
from schedweb.operation.backups.services import backup


class Command(BaseCommand):
    help = "Writes all that is stored into one file, as it is at one moment; runs may be playing."
    requires_system_checks = "__all__"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="must not be there yet; readable by its owner only")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            made = backup(path.absolute())
        except (BackupError, DatabaseError) as error:
            raise CommandError(str(error).strip()) from None
        size = path.stat().st_size / 1e6
        self.stdout.write(f"{path}: {made.runs} runs and {made.snapshots} snapshots, {size:,.1f} MB.")

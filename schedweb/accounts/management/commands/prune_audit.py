"""`manage.py prune_audit --before 2026-01-01`: the only way in which entries of the audit log go."""

from __future__ import annotations

import datetime
from typing import Any, Final

from django.core.management.base import CommandError, CommandParser
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from schedweb.accounts.audit.recording import record
from schedweb.accounts.models import AuditEntry
from schedweb.stored_command import StoredCommand

KEPT_DAYS: Final = 30
"""What is younger is not deleted by mistake, and not to hide something."""
NOT_OWNER: Final = (
    "Only the owner of the table accounts_auditentry may do this. Run it with DATABASE_URL of that role "
    "(docs/operating.md)."
)


class Command(StoredCommand):
    help = f"Deletes entries of the audit log from before a day, which lies at least {KEPT_DAYS} days back."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--before", required=True, type=datetime.date.fromisoformat, help="a day, as 2026-01-31")
        parser.add_argument("--dry-run", action="store_true", help="only counts them")

    def handle(self, *args: Any, **options: Any) -> None:
        before = datetime.datetime.combine(options["before"], datetime.time(), datetime.UTC)
        if before > timezone.now() - datetime.timedelta(days=KEPT_DAYS):
            raise CommandError(f"Entries of the last {KEPT_DAYS} days stay. Name an earlier day.")
        old = AuditEntry.objects.filter(at__lt=before)
        if options["dry_run"]:
            self.stdout.write(f"{old.count()} entries are from before {options['before']}.")
            return
        try:
            with transaction.atomic():
                append_only(False)
                count, _ = old.delete()
                append_only(True)
                record("audit.prune", count=count, before=str(options["before"]))
        except ProgrammingError as error:
            raise CommandError(f"{NOT_OWNER} ({error})") from None
        self.stdout.write(f"{count} entries from before {options['before']} are gone.")


def append_only(holds: bool) -> None:
    """PostgreSQL lets only the table's owner do this, and nobody else writes until the transaction ends."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            state = "ENABLE ALWAYS" if holds else "DISABLE"
            cursor.execute(f"ALTER TABLE {AuditEntry._meta.db_table} {state} TRIGGER append_only")

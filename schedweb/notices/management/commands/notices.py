"""`manage.py notices [--test]`: who is told of pods that wait for a person, and a trial of it."""

from __future__ import annotations

import uuid
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Count

from schedweb.notices.messages import trial
from schedweb.notices.models import Notice
from schedweb.notices.targets import NotSent, targets
from schedweb.stored_command import StoredCommand


class Command(StoredCommand):
    help = (
        "Lists who is told of pods that wait for a person, as PLAYGROUND_NOTICE_URLS and PLAYGROUND_NOTICE_WEBHOOK say "
        "(docs/operating.md), and how many notices there were; addresses are not shown. Fails where nobody is told."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--test", action="store_true", help="sends each of them a trial notice")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = targets()
        except ValueError as error:
            raise CommandError(str(error)) from None
        if not found:
            raise CommandError("Nobody is told: neither PLAYGROUND_NOTICE_URLS nor PLAYGROUND_NOTICE_WEBHOOK is set.")
        failed = 0
        for target in found:
            if not options["test"]:
                rows = (
                    Notice.objects.filter(target=target.key)
                    .order_by("state")
                    .values_list("state")
                    .annotate(Count("pk"))
                )
                counted = ", ".join(f"{count:,} {state}" for state, count in rows)
                self.stdout.write(f"{target.kind}: {counted or 'none yet'}")
                continue
            try:
                target.send(trial(), f"msg_{uuid.uuid4().hex[:24]}")
                self.stdout.write(f"{target.kind}: sent")
            except NotSent as why:
                failed += 1
                self.stderr.write(f"{target.kind}: {why}")
        if failed:
            raise CommandError(f"{failed} of {len(found)} could not be told.")

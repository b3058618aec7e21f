"""`manage.py prune [--dry-run] [--json] [--compact]`: what goes to make room, as a worker does it every hour."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError, connection

from schedweb.engine.times import wall
from schedweb.keeping.deleted import remove_overdue
from schedweb.keeping.housekeeping import one_at_a_time
from schedweb.keeping.retention import Plan, Step, measure_others, planned, pruned
from schedweb.keeping.storage import database_bytes
from schedweb.sentences import amount
from schedweb.stored_command import StoredCommand


class Command(StoredCommand):
    help = (
        "Makes room now: removes what was deleted and whose time is up, takes what the plugins said from old runs, and "
        "moves old runs to Recently deleted, by the limits KEEP_… of the environment (docs/operating.md)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only says what would go")
        parser.add_argument("--json", action="store_true", help="as JSON")
        parser.add_argument(
            "--compact", action="store_true", help="also gives the free space back to the disk (embedded mode only)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["compact"] and (options["dry_run"] or connection.vendor != "sqlite"):
            raise CommandError(
                "--compact is for the embedded mode, and does something. PostgreSQL uses free space again by itself; "
                "VACUUM FULL gives it back to the disk."
            )
        with one_at_a_time() as mine:
            if not mine:
                raise CommandError("A worker is making room right now. Try again in a minute.")
            measure_others()
            before, removed = database_bytes()[0], {}
            if not options["dry_run"]:
                removed = remove_overdue()
            plan = planned() if options["dry_run"] else pruned()
            if options["compact"]:
                compact()
        body = {
            "dry_run": options["dry_run"],
            "removed": removed,
            "steps": [step_body(step) for step in plan.steps],
            "bytes": plan.bytes,
            "over_bytes": plan.over_bytes,
            "database_bytes_before": before,
            "database_bytes": database_bytes()[0],
        }
        self.stdout.write(json.dumps(body, indent=2) if options["json"] else "\n".join(lines(plan, body)))


def compact() -> None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except OperationalError as error:
        raise CommandError(f"The free space could not be given back: {error}. Stop the playground first.") from None


def step_body(step: Step) -> dict[str, Any]:
    return {
        "run": str(step.run),
        "id": str(step.run.pk),
        "started_by": step.run.started_by_name,
        "used_at": wall(step.run.used_at),
        "what": step.what,
        "why": step.why,
        "bytes": step.bytes,
    }


def lines(plan: Plan, body: dict[str, Any]) -> list[str]:
    would = "would go" if body["dry_run"] else "went"
    said = [f"{count} {kind}s that were deleted are gone for good." for kind, count in body["removed"].items()]
    if not plan.steps:
        said.append(f"Nothing {would}: all {amount(plan.kept_bytes)} of runs are within the limits, or needed.")
    else:
        rows = [("run", "last played", "started by", "what", "why", "frees")]
        for step in plan.steps:
            used = f"{step.run.used_at:%Y-%m-%d}"
            rows.append((str(step.run), used, step.run.started_by_name, step.what, step.why, amount(step.bytes)))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        said += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        said.append(f"Together {amount(plan.bytes)} {would}, of {amount(plan.kept_bytes)} that runs used.")
    if plan.over_bytes:
        said.append(f"The limit is still passed by {amount(plan.over_bytes)}: what is left is needed.")
    size, before = body["database_bytes"], body["database_bytes_before"]
    if size != before:
        said.append(f"The database was {amount(before)} large and is {amount(size)}.")
    return said

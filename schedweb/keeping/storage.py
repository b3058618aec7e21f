"""What uses the space: by kind of what is stored, by snapshot, by person, by run; and what goes when."""

from __future__ import annotations

import datetime
from collections import Counter
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import Count, F, IntegerField, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, Length

from schedweb.api.errors import ApiError
from schedweb.api.windows import Window, window_body
from schedweb.configurations.models import ConfigurationVersion
from schedweb.engine.times import wall
from schedweb.keeping.retention import FACTS, Plan, made_again, may_lose_breakdowns, needed, planned, runs_looked_at
from schedweb.runs.models import Dictionary, Run
from schedweb.runs.storing.sizes import KINDS, bytes_in
from schedweb.sentences import say
from schedweb.snapshots.models import Snapshot

MOST: Final = 50
"""Snapshots and people that are listed, the largest."""
ALL_KINDS: Final = (*KINDS, "run", "snapshots", "configurations", "other")
SORTS: Final = {
    "bytes": "stored_bytes",
    "used_at": "used_at",
    "number": "number",
    "breakdowns": "stored__breakdowns",
}


def database_bytes() -> tuple[int, int | None]:
    """(as large as it is, how much of that is free and used again first; None where only PostgreSQL knows)."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0]), None
        found = []
        for pragma in ("page_size", "page_count", "freelist_count"):
            cursor.execute(f"PRAGMA {pragma}")
            found.append(int(cursor.fetchone()[0]))
    size, pages, free = found
    log = Path(f"{connection.settings_dict['NAME']}-wal")
    return size * pages + (log.stat().st_size if log.exists() else 0), size * free


def snapshot_rows() -> QuerySet[Any, Any]:
    """Deleted or not, with the bytes of each and of its events."""
    events = Coalesce(Length("events__payload"), Value(0), output_field=IntegerField())
    return Snapshot.every.annotate(bytes=Length("payload") + events)


def kinds_body(free: int | None, whole: int) -> list[dict[str, Any]]:
    """The largest first. `snapshots`: with what the rows of their runs have in common.
    `other`: accounts, sessions, the audit log, and what nobody counts."""
    sizes: Counter[str] = Counter()
    for stored in Run.every.values_list("stored", flat=True).iterator():
        sizes.update(stored)
    shared = bytes_in(Dictionary.objects.all())
    sizes["snapshots"] = shared + (snapshot_rows().aggregate(all=Sum("bytes"))["all"] or 0)
    sizes["configurations"] = bytes_in(ConfigurationVersion.objects.all())
    sizes["other"] = max(whole - (free or 0) - sum(sizes.values()), 0)
    return [{"kind": kind, "bytes": sizes[kind]} for kind in sorted(ALL_KINDS, key=lambda kind: -sizes[kind])]


def snapshots_body() -> list[dict[str, Any]]:
    """The largest with their runs first."""
    runs = {
        row["snapshot"]: row
        for row in Run.every.order_by().values("snapshot").annotate(count=Count("pk"), bytes=Sum("stored_bytes"))
    }
    none = {"count": 0, "bytes": 0}
    rows = [
        {
            "id": str(pk),
            "name": name,
            "bytes": size,
            "runs": runs.get(pk, none)["count"],
            "runs_bytes": runs.get(pk, none)["bytes"],
            "deleted": deleted_at is not None,
        }
        for pk, name, size, deleted_at in snapshot_rows().values_list("pk", "name", "bytes", "deleted_at")
    ]
    return sorted(rows, key=lambda row: -(row["bytes"] + row["runs_bytes"]))[:MOST]


def people_body() -> list[dict[str, Any]]:
    """Who started runs, the largest first."""
    rows = Run.every.order_by().values("started_by", "started_by_name")
    found = rows.annotate(
        runs=Count("pk"), bytes=Sum("stored_bytes"), deleted=Sum("stored_bytes", filter=Q(deleted_at__isnull=False))
    )
    limit = settings.KEEP_PER_PERSON_BYTES or None
    return [
        {
            "name": row["started_by_name"],
            "runs": row["runs"],
            "bytes": row["bytes"],
            "deleted_bytes": row["deleted"] or 0,
            "limit_bytes": limit,
        }
        for row in found.order_by("-bytes", "started_by_name")[:MOST]
    ]


def limits_body() -> dict[str, Any]:
    """None: no limit."""
    return {
        "breakdowns_days": settings.KEEP_BREAKDOWNS_DAYS or None,
        "runs_days": settings.KEEP_RUNS_DAYS or None,
        "total_bytes": settings.KEEP_TOTAL_BYTES or None,
        "per_person_bytes": settings.KEEP_PER_PERSON_BYTES or None,
        "deleted_days": settings.KEEP_DELETED_DAYS,
        "pruned_days": settings.KEEP_PRUNED_DAYS,
    }


def next_body(plan: Plan) -> dict[str, Any]:
    """What would go now; a worker does it every hour."""
    return {
        "breakdowns": sum(step.what == "breakdowns" for step in plan.steps),
        "runs": sum(step.what == "run" for step in plan.steps),
        "bytes": plan.bytes,
        "over_bytes": plan.over_bytes,
        "every_seconds": round(settings.HOUSEKEEPING_SECONDS),
    }


def storage_body() -> dict[str, Any]:
    whole, free = database_bytes()
    deleted = Run.every.filter(deleted_at__isnull=False).aggregate(count=Count("pk"), bytes=Sum("stored_bytes"))
    plan = planned()
    return {
        "database_bytes": whole,
        "free_bytes": free,
        "kinds": kinds_body(free, whole),
        "runs": {
            "count": Run.objects.count(),
            "bytes": plan.kept_bytes,
            "deleted_count": deleted["count"],
            "deleted_bytes": deleted["bytes"] or 0,
        },
        "snapshots": snapshots_body(),
        "people": people_body(),
        "limits": limits_body(),
        "next": next_body(plan),
    }


# Runs -----------------------------------------------------------------------------------------------------------------


def after(run: Any, days: int) -> str | None:
    """When so many days are over since it was played last; past: with the next turn."""
    return wall(run.used_at + datetime.timedelta(days=days)) if days else None


def goes_body(run: Any) -> dict[str, str | None]:
    """When what goes of it by its age; None: not by its age."""
    keeps = needed(run)
    return {
        "breakdowns_at": after(run, settings.KEEP_BREAKDOWNS_DAYS) if may_lose_breakdowns(run) else None,
        "run_at": after(run, settings.KEEP_RUNS_DAYS) if not keeps else None,
    }


def stored_run_body(run: Any) -> dict[str, Any]:
    deleted = run.deleted_at is not None
    return {
        "id": str(run.pk),
        "number": str(run),
        "snapshot": run.snapshot.name,
        "state": run.state,
        "started_by": run.started_by_name,
        "used_at": wall(run.used_at),
        "bytes": run.stored_bytes,
        "parts": [{"kind": kind, "bytes": run.stored[kind]} for kind in (*KINDS, "run") if run.stored.get(kind)],
        "made_again_bytes": made_again(run),
        "measured_at": None if run.measured_at is None else wall(run.measured_at),
        "needed": needed(run) if not deleted else "",
        "breakdowns_gone_at": None if run.breakdowns_gone_at is None else wall(run.breakdowns_gone_at),
        "deleted_at": wall(run.deleted_at) if deleted else None,
        "goes": {"breakdowns_at": None, "run_at": wall(run.goes_at)} if deleted else goes_body(run),
    }


def runs_asked(*, person: str, snapshot: str, deleted: bool | None, sort: str) -> QuerySet[Any]:
    """Raises an ApiError for a sort that does not exist."""
    field = SORTS.get(sort.removeprefix("-"))
    if field is None:
        raise ApiError(
            say("sort must be one of {sorts}, not {sort!r}.", sorts=", ".join(SORTS), sort=sort),
            code="invalid",
            path="sort",
        )
    rows = runs_looked_at(Run.every.all())
    if person:
        rows = rows.filter(started_by_name=person)
    if snapshot:
        rows = rows.filter(snapshot=snapshot)
    if deleted is not None:
        rows = rows.filter(deleted_at__isnull=not deleted)
    order = F(field).desc(nulls_last=True) if sort.startswith("-") else F(field).asc(nulls_last=True)
    return rows.order_by(order, "-number")


def storage_runs_window(window: Window, rows: QuerySet[Any]) -> dict[str, Any]:
    shown = ("snapshot__name", "measured_at", "deleted_at", "goes_at")
    named = rows.select_related("snapshot").only(*FACTS, *shown)
    return window_body(window, rows.count(), [stored_run_body(row) for row in window.cut(named)])

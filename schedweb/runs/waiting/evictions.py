"""Evictions that a person is asked about, over all runs or in one."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from schedweb.api.windows import Window, window_answer
from schedweb.engine.times import iso
from schedweb.runs.models import EvictionProposal, Run


def proposal_rows() -> QuerySet[EvictionProposal]:
    rows = EvictionProposal.objects.filter(is_open=True, run__deleted_at=None)
    return rows.exclude(run__state=Run.State.STOPPED)


def eviction_count() -> int:
    return proposal_rows().count()


def eviction_row(row: EvictionProposal) -> dict[str, Any]:
    run = row.run
    return {
        **row.body,
        "run": str(run.pk),
        "run_number": str(run),
        "run_name": run.snapshot.name,
        "fork_of": run.parent_name or None,
        "run_state": run.state,
        "now": iso(run.clock),
        "follows": run.follows or None,
        "dry_run": bool(run.follows) and (run.scheduling or {}).get("dry_run", False),
    }


def eviction_window(window: Window, rows: QuerySet[EvictionProposal]) -> dict[str, Any]:
    ordered = rows.order_by("-run__number", "number").select_related("run__snapshot")
    return window_answer(window, ordered.defer("run__columns", "run__snapshot__payload"), eviction_row)

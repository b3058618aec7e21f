"""Pods that wait on Permit, over all runs or in one, and the decisions about them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When

from schedweb.api.errors import ApiError
from schedweb.api.windows import Window, window_answer
from schedweb.engine.times import iso, wall
from schedweb.runs.models import Decision, PodRecord, Run
from schedweb.runs.records.pod_query import filter_pods
from schedweb.runs.waiting.evictions import eviction_count
from schedweb.sentences import say, translated


def waiting_rows(run: str) -> QuerySet[PodRecord]:
    rows = PodRecord.objects.filter(column=PodRecord.Column.WAITING, run__deleted_at=None)
    return rows.filter(run=run_id(run)) if run else rows


def run_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ApiError(say("{text!r} is not a run's id.", text=text), code="invalid", path="run") from None


def at_zero(card: dict[str, Any], gang: dict[str, Any] | None) -> str:
    waits = card.get("waiting", [])
    if gang is not None and any(wait["plugin"] == "Coscheduling" for wait in waits):
        return say("The whole group is rejected and tried again")
    return say("Rejected, back to Unschedulable")


def is_held(run: Run, pod: PodRecord) -> bool:
    return (
        pod.asks_person
        and run.approvals == Run.Approvals.HOLD
        and run.clock_mode == Run.ClockMode.VIRTUAL
        and run.state == Run.State.WAITING_FOR_PERSON
    )


def waiting_row(pod: PodRecord) -> dict[str, Any]:
    card, run = pod.card, pod.run
    gang = card.get("gang")
    waits = card.get("waiting", [])
    binds_in = run.follows if run.scheduling is not None else ""
    return {
        "run": str(run.pk),
        "run_number": str(run),
        "run_name": run.snapshot.name,
        "fork_of": run.parent_name or None,
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
        "workload": card["workload"],
        "tail": card["tail"],
        "node": pod.node,
        "score": card.get("score"),
        "margin": card.get("margin"),
        "ties": card.get("ties"),
        "requests": card.get("requests", {}),
        "why": next((wait["note"] for wait in waits if wait.get("note")), ""),
        "since": card["since"],
        "waiting_on": waits,
        "at_zero": at_zero(card, gang),
        "gang": gang,
        "asked_again": translated(pod.detail.get("asked_again") or "") or None,
        "decidable": pod.asks_person,
        "held": is_held(run, pod),
        "run_state": run.state,
        "binds_in": binds_in,
        "dry_run": bool(binds_in) and (run.scheduling or {}).get("dry_run", False),
        "now": iso(run.clock),
    }


def waiting_counts(rows: QuerySet[PodRecord]) -> dict[str, int]:
    return rows.aggregate(
        count=Count("pk"), person=Count("pk", filter=Q(asks_person=True)), gang=Count("pk", filter=~Q(gang=""))
    )


def waiting_count() -> dict[str, int]:
    counts = waiting_counts(waiting_rows(""))
    return {"count": counts["count"], "person": counts["person"], "evictions": eviction_count()}


def waiting_window(window: Window, *, run: str = "", query: str = "", kind: str = "") -> dict[str, Any]:
    everything = waiting_rows(run)
    rows = filter_pods(everything, query) if query else everything
    if kind == "person":
        rows = rows.filter(asks_person=True)
    elif kind == "gang":
        rows = rows.exclude(gang="")
    elif kind:
        raise ApiError(say("kind must be person or gang, not {kind!r}.", kind=kind), code="invalid", path="kind")
    alone = Case(When(gang="", then=Value(1)), default=Value(0), output_field=IntegerField())
    ordered = rows.alias(alone=alone).order_by("-run__number", "alone", "gang", "place", "pk")
    shown = window.cut(
        ordered.select_related("run__snapshot").defer("run__columns", "run__snapshot__payload", "manifest")
    )
    bodies = [waiting_row(pod) for pod in shown]
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for body in bodies:
        if body["gang"] is not None:
            key = (body["run"], body["gang"]["name"])
            group = groups.setdefault(key, {"gang": body["gang"], "run": body["run"], "count": 0})
            group["count"] += 1
    counts = waiting_counts(everything)
    return {
        "count": rows.count(),
        "person": counts["person"],
        "gang": counts["gang"],
        "offset": window.offset,
        "limit": window.limit,
        "groups": list(groups.values()),
        "rows": bodies,
    }


def decision_body(decision: Decision) -> dict[str, Any]:
    return {
        "run": str(decision.run_id),
        "run_number": str(decision.run),
        "number": decision.number,
        "decision": decision.decision,
        "namespace": decision.namespace,
        "name": decision.name,
        "uid": decision.pod_uid,
        "workload": decision.workload,
        "tail": decision.tail,
        "node": decision.node,
        "reason": decision.reason,
        "by": translated(decision.by),
        "at": iso(decision.at),
        "decided_at": wall(decision.created_at),
        "plugin": decision.plugin,
        "outcome": translated(decision.outcome),
    }


def decision_window(window: Window, *, run: str = "") -> dict[str, Any]:
    rows = Decision.objects.filter(run__deleted_at=None).select_related("run").defer("run__columns")
    if run:
        rows = rows.filter(run=run_id(run))
    return window_answer(window, rows, decision_body)

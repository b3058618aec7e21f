"""The Events of a run as ``kubectl get events`` prints them, made from its attempts and preemptions.

Rules: docs/semantics/log.md#events.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from framework.reports.events import EventSeries, duration, note_of, series_of
from framework.scheduler import ClusterEventRecord
from schedweb.api.windows import Window, window_body
from schedweb.engine.times import iso
from schedweb.runs.models import Attempt, Preemption, Run

NEWEST: Final = 20_000
"""Attempts whose Events are told; an API server keeps Events for an hour."""
_BOUND: Final = "bound"
_FAILED: Final = ("unschedulable", "error")


def event_series(run: Run) -> tuple[list[EventSeries], int]:
    """(in the order in which they came first, how many older attempts are left out)."""
    ended = Attempt.objects.filter(run=run.pk, ended__isnull=False, result__in=(_BOUND, *_FAILED))
    newest = list(ended.order_by("-number")[:NEWEST])
    left_out = ended.count() - len(newest) if len(newest) == NEWEST else 0
    first = newest[-1].number if left_out else 0
    records = [(row.ended or 0, row.number, 1, _of_attempt(row)) for row in newest]
    profiles = {row.number: row.profile for row in newest}
    for victim in Preemption.objects.filter(run=run.pk, number__gte=first).order_by("number", "place"):
        record = _of_victim(victim, profiles.get(victim.number, ""))
        records.append((victim.at, victim.number, 0, record))
    records.sort(key=lambda each: each[:3])
    return series_of(record for *_, record in records), left_out


def _of_attempt(row: Attempt) -> ClusterEventRecord:
    pod, at = f"{row.namespace}/{row.name}", row.ended or 0
    if row.result == _BOUND:
        note = f"Successfully assigned {pod} to {row.node}"
        return ClusterEventRecord(at, "Normal", "Scheduled", pod, note, row.pod_uid, row.profile)
    return ClusterEventRecord(at, "Warning", "FailedScheduling", pod, row.message, row.pod_uid, row.profile)


def _of_victim(row: Preemption, profile: str) -> ClusterEventRecord:
    note = f"Preempted by pod {row.uid} on node {row.node}"
    pod = f"{row.victim_namespace}/{row.victim_name}"
    return ClusterEventRecord(row.at, "Normal", "Preempted", pod, note, row.victim_uid, profile)


def event_window(run: Run, window: Window, *, query: str = "", reason: str = "") -> dict[str, Any]:
    """Newest last seen first."""
    found, left_out = event_series(run)
    rows = sorted(matching(found, query, reason), key=lambda each: each.last, reverse=True)
    return {
        **window_body(window, len(rows), [_row(each, run.clock) for each in window.cut(rows)]),
        "left_out": left_out,
    }


def matching(found: list[EventSeries], query: str, reason: str) -> Iterator[EventSeries]:
    for each in found:
        record = each.record
        if reason and record.reason != reason:
            continue
        if query.lower() in record.pod.lower() or query.lower() in record.note.lower():
            yield each


def _row(each: EventSeries, now: int) -> dict[str, Any]:
    record = each.record
    namespace, _, name = record.pod.partition("/")
    return {
        "namespace": namespace,
        "name": name,
        "type": record.type,
        "reason": record.reason,
        "message": note_of(record),
        "count": each.count,
        "ago": duration(now - each.last),
        "first": iso(record.at),
        "last": iso(each.last),
    }

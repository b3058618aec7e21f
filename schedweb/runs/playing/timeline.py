"""The timeline of a run: from where to where it goes, and marks where something happened that people look for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from schedweb.engine.steps import step_in
from schedweb.engine.times import iso
from schedweb.runs.models import Attempt, JournalEntry, Preemption, Run, StepChunk
from schedweb.runs.playing.serializers import MARKS

PARTS: Final = 200
"""Marks of one kind are counted in this many parts of the run, so that a long run is no longer to send."""
COMMANDS: Final = (
    "clock",
    "extender_answers",
    "cluster_changes",
    "arrivals",
    "play",
    "pause",
    "step",
    "set_speed",
    "decide",
    "decide_eviction",
)
"""Entries of the journal that are no change of the cluster."""


def timeline_body(run: Run) -> dict[str, Any]:
    first, last = run.base_position, run.position
    preempting = Preemption.objects.filter(run=run).values("number")
    attempts = Attempt.objects.filter(run=run, position__gte=first).order_by("position")
    applied = JournalEntry.objects.filter(run=run, position__gte=first, status="applied").order_by("position")
    found: dict[str, Iterable[tuple[int, str]]] = {
        "preemption": named(attempts.filter(number__in=preempting)),
        "failure": named(attempts.filter(result__in=("unschedulable", "error"))),
        "decision": (
            (row.position or 0, row.author_name) for row in applied.filter(type__in=("decide", "decide_eviction"))
        ),
        "command": ((row.position or 0, row.type) for row in applied.exclude(type__in=COMMANDS)),
    }
    marks = [mark for kind in MARKS for mark in parted(kind, found[kind], first, last)]
    return {"first": first, "last": last, "attempts": run.attempts, "marks": marks}


def named(rows: Any) -> Iterable[tuple[int, str]]:
    return (
        (position, f"{namespace}/{name}")
        for position, namespace, name in rows.values_list("position", "namespace", "name")
    )


def parted(kind: str, found: Iterable[tuple[int, str]], first: int, last: int) -> list[dict[str, Any]]:
    """One mark per part that has any: where its first one is, what that is, and how many there are."""
    marks: dict[int, dict[str, Any]] = {}
    for position, text in found:
        part = (position - first) * PARTS // (last - first + 1)
        mark = marks.setdefault(part, {"kind": kind, "position": position, "text": text, "count": 0})
        mark["count"] += 1
    return list(marks.values())


def step_body(run: Run, position: int) -> dict[str, Any] | None:
    """The last step that was noted at or before `position`. None where none was: the run is older than notes are."""
    chunk = StepChunk.objects.filter(run=run, first__lte=position).order_by("-first").first()
    if chunk is None:
        return None
    noted, clock, counts = step_in(bytes(chunk.steps), position)
    return {"position": noted, "clock": iso(clock), "counts": counts}

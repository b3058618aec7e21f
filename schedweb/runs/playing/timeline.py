"""The timeline of a run: from where to where it goes, and marks where something happened that people look for."""

from __future__ import annotations

import datetime
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final

from django.utils import timezone

from schedweb.api.errors import ApiError
from schedweb.engine.steps import first_clock_in, position_at, step_in
from schedweb.engine.times import iso, nanoseconds
from schedweb.runs.models import Attempt, JournalEntry, Preemption, Run, StepChunk
from schedweb.runs.playing.serializers import MARKS
from schedweb.runs.records.thinned import base_moment, refuse_before_base
from schedweb.sentences import say

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


def step_at(run: Run, at: datetime.datetime) -> int:
    """The last step that was noted at or before a moment of the run's clock. Raises ApiError (422) of a moment before
    the run began, before what is kept of it, or still to come."""
    clock = nanoseconds(at)
    shown = f"{at.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"
    if at > timezone.now() and clock > run.clock:
        raise _no_step(say("{time} is still to come in {run}.", time=shown, run=run), "still_to_come")
    if run.base_position and clock < (run.base_clock or 0):
        refuse_before_base(run, run.base_position - 1)
    chunks = StepChunk.objects.filter(run=run).order_by("first")
    firsts = list(chunks.values_list("first", flat=True))
    place = bisect_right(firsts, clock, key=lambda first: first_clock_in(_steps(run, first)))
    position = -1 if place == 0 else position_at(_steps(run, firsts[place - 1]), clock)
    if position < run.base_position:
        if not firsts:
            raise _no_step(say("When {run} was at which step was not noted.", run=run), "not_noted")
        began = f"{base_moment(first_clock_in(_steps(run, firsts[0]))):%Y-%m-%d %H:%M:%S} UTC"
        raise _no_step(
            say("{run} began at {began}: it has no step at {time}.", run=run, began=began, time=shown),
            "before_it_began",
        )
    return min(position, run.position)


def _steps(run: Run, first: int) -> bytes:
    return bytes(StepChunk.objects.values_list("steps", flat=True).get(run=run, first=first))


def _no_step(words: str, code: str) -> ApiError:
    return ApiError(words, code=code, status_code=422, path="at")

"""Runs and their journals as the API shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from schedweb.api.errors import ApiError, not_found
from schedweb.api.windows import Window, check_choice, window_answer
from schedweb.engine.shapes import Speed
from schedweb.engine.times import iso, iso_or_none, wall
from schedweb.runs.models import JournalEntry, Run
from schedweb.runs.records.fields import STATE_KEYS
from schedweb.runs.records.gone import gone_body
from schedweb.runs.records.runs import runs_with_names
from schedweb.runs.records.thinned import thinned_body
from schedweb.sentences import say, translated
from schedweb.snapshots.redaction import shown

NOT_COMMANDS: Final = ("clock", "extender_answers", "cluster_changes", "write_outcomes", "arrivals")
"""Entries of the journal that nobody gave."""
EMPTY_COUNTS = dict.fromkeys(STATE_KEYS, 0)
#: Large, and only shown by the board.
BOARD_FIELDS = ("columns", "cycle")


SPEEDS: Final[dict[str, Speed]] = {"one": "one", "10": 10, "100": 100, "max": "max"}
"""As they are stored, and as they are shown."""


def worker_body(run: Run) -> dict[str, Any]:
    """live: a lease is held; idle: nobody has to; lost: somebody should and does not; taking_over: replaying."""
    held = run.lease_owner != "" and run.lease_expires is not None and run.lease_expires > timezone.now()
    if held:
        state = "taking_over" if run.taking_over else "live"
    else:
        # A holder that ended in order left no name behind; who is asked for next is only on the way.
        state = "lost" if run.wanted and run.lease_owner else "idle"
    since = run.lease_expires if state == "lost" else run.worker_since
    return {"state": state, "since": None if since is None else wall(since)}


def clock_body(run: Run) -> dict[str, Any]:
    return {
        "mode": run.clock_mode,
        "now": iso(run.clock),
        "start": iso(run.clock_start),
        "speed": SPEEDS[run.speed],
    }


def parent_body(run: Any) -> dict[str, Any] | None:
    """Of a fork (a row of ``runs_with_names``): the run it came from, which may have been deleted since, and where the
    two part."""
    if run.parent_position is None:
        return None
    parent = None if run.parent_id is None or run.parent_deleted_at is not None else str(run.parent_id)
    return {"id": parent, "number": run.parent_name, "position": run.parent_position}


def fork_changes_body(run: Run) -> list[dict[str, str]]:
    """What was changed on a fork before it went on, as its reader has it."""
    return [{"workload": each["workload"], "text": translated(each["text"])} for each in run.fork_changes]


def later_arrivals_body(run: Run) -> dict[str, Any] | None:
    """Of a fork that takes what came to the cluster after it left: what that is, and from when to when it came."""
    known = run.later_arrivals
    if known is None:
        return None
    return {**known, "first": iso(known["first"]), "last": iso(known["last"])}


def moment_body(run: Run) -> dict[str, Any] | None:
    """Of a run as it was: which run, where, and how far the run is now."""
    if run.moment is None:
        return None
    return {"run": str(run.pk), "position": run.position, "last": run.last_position}


def parked_body(run: Run) -> dict[str, Any] | None:
    """What was seen of its engine, and how many commands wait for somebody who tries again."""
    if run.state != Run.State.PARKED:
        return None
    seen = run.parked or {}
    return {
        "at": seen.get("at"),
        "ended": translated(seen.get("ended", "")),
        "lines": seen.get("lines", ""),
        "kept": JournalEntry.objects.filter(run=run, status=JournalEntry.Status.PENDING).count(),
    }


def starred_body(run: Run) -> dict[str, str] | None:
    return None if run.starred_at is None else {"at": wall(run.starred_at), "by": run.starred_by_name}


def run_body(run: Any) -> dict[str, Any]:
    version = run.configuration_version
    arrivals = None
    if run.arrivals_total:
        arrivals = {"left": run.arrivals_left, "total": run.arrivals_total, "next_at": iso_or_none(run.next_arrival)}
    return {
        "id": str(run.pk) if run.moment is None else f"{run.pk}@{run.position}",
        "number": str(run),
        "moment": moment_body(run),
        "snapshot": {"id": str(run.snapshot_id), "name": run.snapshot.name, "events": run.snapshot.event_count},
        "configuration": {
            "id": str(version.configuration_id),
            "name": version.configuration.name,
            "version_id": str(version.pk),
            "version": version.number,
            "builtin": version.configuration.builtin,
        },
        "state": run.state,
        "error": translated(run.error) or None,
        "parked": parked_body(run),
        "seed": run.seed,
        "ties": run.ties,
        "approvals": run.approvals,
        "clock": clock_body(run),
        "attempts": run.attempts,
        "position": run.position,
        "follows": run.follows,
        "schedules": bool(run.follows) and run.scheduling is not None,
        "own_world": bool(run.follows) and run.own_world,
        "shadow": bool(run.follows) and run.is_shadow,
        "dry_run": bool(run.follows) and run.scheduling is not None and bool(run.scheduling.get("dry_run")),
        "parent": parent_body(run),
        "fork_changes": fork_changes_body(run),
        "later_arrivals": later_arrivals_body(run),
        "points": run.points,
        "breakpoints": run.breakpoints,
        "hit": hit_body(run.hit),
        "counts": {**EMPTY_COUNTS, **run.counts},
        "nodes": run.node_count,
        "pods": run.pod_count,
        "unwritten": run.unwritten if run.moment is None else 0,
        "started_at": wall(run.created_at),
        "started_by": run.started_by_name,
        "worker": worker_body(run),
        "seq": run.seq,
        "arrivals": arrivals,
        "size_bytes": run.stored_bytes,
        "starred": starred_body(run),
        "breakdowns_gone": gone_body(run),
        "thinned": thinned_body(run),
        "engine_version": run.engine_version,
        "digest": run.digest,
    }


@dataclass(frozen=True)
class RunFilter:
    """What the list of runs is asked for; "" and None ask for nothing."""

    snapshot: str = ""
    configuration: str = ""
    state: str = ""
    fork: bool | None = None
    starred: bool | None = None
    beside: bool | None = None
    q: str = ""


def id_asked(name: str, text: str, refusal: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ApiError(refusal, code="invalid", path=name) from None


def has_word(word: str) -> Q:
    """Its number, cluster, configuration or who started it; r-42, r-0042 and 42 are the same number."""
    found = (
        Q(snapshot__name__icontains=word)
        | Q(configuration_version__configuration__name__icontains=word)
        | Q(started_by_name__icontains=word)
    )
    digits = word.lower().removeprefix("r-")
    # A number that no database column holds is nobody's.
    return found | Q(number=int(digits)) if digits.isdecimal() and len(digits) <= 9 else found


def runs_matching(asked: RunFilter) -> QuerySet[Run]:
    rows = runs_with_names().defer("snapshot__payload", "configuration_version__text", *BOARD_FIELDS)
    if asked.snapshot:
        refusal = say("{snapshot!r} is not a snapshot's id.", snapshot=asked.snapshot)
        rows = rows.filter(snapshot=id_asked("snapshot", asked.snapshot, refusal))
    if asked.configuration:
        refusal = say("{configuration!r} is not a configuration's id.", configuration=asked.configuration)
        wanted = id_asked("configuration", asked.configuration, refusal)
        rows = rows.filter(configuration_version__configuration=wanted)
    if asked.state:
        check_choice("state", asked.state, Run.State.values)
        rows = rows.filter(state=asked.state)
    if asked.fork is not None:
        rows = rows.filter(parent_position__isnull=not asked.fork)
    if asked.starred is not None:
        rows = rows.filter(starred_at__isnull=not asked.starred)
    if asked.beside is not None:
        is_beside = ~Q(follows="") & ~Q(state__in=(Run.State.STOPPED, Run.State.PARKED))
        rows = rows.filter(is_beside if asked.beside else ~is_beside)
    for word in asked.q.split():
        rows = rows.filter(has_word(word))
    return rows


def run_window(window: Window, asked: RunFilter) -> dict[str, Any]:
    return window_answer(window, runs_matching(asked), run_body)


def hit_body(hit: dict[str, Any] | None) -> dict[str, Any] | None:
    """The breakpoint that a run stands at."""
    return None if hit is None else {**hit, "text": translated(hit["text"])}


def cycle_shown(cycle: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if cycle is None else {**cycle, "note": translated(cycle["note"])}


def result_body(result: dict[str, Any] | None) -> dict[str, Any] | None:
    """What a command did: in words, or pod by pod (schedweb/engine/obey.py)."""
    if result is None:
        return None
    if "pods" in result:
        return {"pods": [{**each, "outcome": translated(each["outcome"])} for each in result["pods"]]}
    return {**result, "text": translated(result["text"])} if "text" in result else result


def entry_body(entry: JournalEntry) -> dict[str, Any]:
    command = {key: value for key, value in entry.command.items() if key != "text"}
    if isinstance(command.get("manifest"), dict):
        # An older version may have stored more than is kept now.
        command["manifest"] = shown(command["manifest"])
    return {
        "id": str(entry.pk),
        "number": entry.number,
        "client_id": str(entry.client_id),
        "status": entry.status,
        "text": translated(entry.text),
        "author": entry.author_name,
        "reason": entry.reason,
        "at": wall(entry.created_at),
        "position": entry.position,
        "run_time": iso_or_none(entry.clock),
        "command": command,
        "result": result_body(entry.result),
    }


def journal_window(run: Run, window: Window) -> dict[str, Any]:
    """Newest first; the clock's and the extenders' own entries are left out, nobody gave them."""
    rows = JournalEntry.objects.filter(run=run).exclude(type__in=NOT_COMMANDS).order_by("-number")
    return window_answer(window, rows, entry_body)


def journal_entry(run: UUID, entry: UUID) -> dict[str, Any]:
    kept = JournalEntry.objects.filter(run=run, run__deleted_at=None)
    found = kept.filter(pk=entry).exclude(type__in=NOT_COMMANDS).first()
    if found is None:
        raise not_found(say("This run has no such journal entry."))
    return entry_body(found)

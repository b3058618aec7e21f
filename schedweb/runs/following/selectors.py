"""What is known of the reading for a run that follows a real cluster."""

from __future__ import annotations

import datetime
from typing import Any, Final

import msgspec
from django.conf import settings
from django.utils import timezone

from schedweb.api.errors import not_found
from schedweb.clusters.reading.following import ClusterState
from schedweb.clusters.selectors import behind_of, kinds_overall, moment, worst_problem
from schedweb.engine.live import Scheduling
from schedweb.runs.following.scheduling import SchedulingState
from schedweb.runs.models import Followed, Run
from schedweb.runs.storing.lease import OWNER
from schedweb.sentences import say, translated

SILENT: Final = datetime.timedelta(seconds=15)
SCHEDULING_STATES: Final = (
    *("waiting", "catching_up", "scheduling", "standing_by", "lease_lost", "not_allowed", "stale", "failed", "stopped"),
)
STATES: Final = ("waiting", "catching_up", "live", "partly", "stale", "failed", "ended")


def followed_body(run: Run) -> dict[str, Any]:
    row = Followed.objects.filter(run=run).first()
    if row is None:
        raise not_found(say("{run} follows no cluster.", run=run))
    state = state_of(row)
    overall, since = overall_of(run, row, state)
    kinds = state.kinds if state else []
    return {
        "context": run.follows,
        "state": overall,
        "since": since,
        "problem": problem_of(run, row, state, overall),
        "again_at": moment(state.again_at if state else None),
        "behind": behind_of(state) if overall in ("live", "partly") else None,
        "kinds_done": sum(each.state != "catching_up" for each in kinds),
        "kinds_of": len(kinds),
        "refused": [each.plural for each in kinds if each.state == "refused"],
        "shadow": row.shadow,
        "changes": row.changes,
        "changed_at": row.changed_at,
        "journal_bytes": row.journal_bytes,
        "most_bytes": row.most_bytes,
    }


def scheduled_body(run: Run) -> dict[str, Any]:
    """Raises ApiError (404) for a run that schedules no cluster."""
    row = Followed.objects.filter(run=run).first()
    if row is None or run.scheduling is None:
        raise not_found(say("{run} schedules no cluster.", run=run))
    terms = msgspec.convert(run.scheduling, Scheduling)
    reading = state_of(row)
    overall, since = overall_of(run, row, reading)
    own = msgspec.json.decode(row.scheduling, type=SchedulingState) if row.scheduling else None
    state, problem, holder = overall, problem_of(run, row, reading, overall), ""
    if overall == "ended":
        state = "stopped"
    elif overall in ("live", "partly"):
        state = "catching_up" if own is None else own.state
        if own is not None:
            since, problem, holder = moment(own.since), translated(own.problem), own.holder
    return {
        "context": run.follows,
        "state": state,
        "since": since,
        "problem": problem,
        "holder": holder,
        "schedulers": terms.schedulers,
        "namespaces": terms.namespaces,
        "bindings_per_minute": terms.bindings_per_minute,
        "dry_run": terms.dry_run,
        "written": row.writes_done,
        "refused": row.writes_refused,
    }


def state_of(row: Followed) -> ClusterState | None:
    """None where nothing is known, or another version wrote it."""
    try:
        return msgspec.json.decode(row.state, type=ClusterState) if row.state else None
    except msgspec.DecodeError:
        return None


def overall_of(run: Run, row: Followed, state: ClusterState | None) -> tuple[str, datetime.datetime | None]:
    """(of the whole, since when)."""
    if run.state == Run.State.STOPPED:
        return "ended", run.worker_since
    if run.state == Run.State.PARKED:
        return "ended", parked_at(run)
    if state is None or row.state_at is None:
        return "waiting", run.created_at
    if row.state_at < timezone.now() - SILENT:
        return "stale", row.state_at
    if is_of_another_process(run):
        return "catching_up", row.state_at
    return kinds_overall(state)


def parked_at(run: Run) -> datetime.datetime | None:
    at = (run.parked or {}).get("at")
    return None if at is None else datetime.datetime.fromisoformat(at)


def is_of_another_process(run: Run) -> bool:
    """What is stored of the reading is from before this server was started again: where it is the only worker, nobody
    else can be reading."""
    return settings.MODE == "embedded" and run.lease_owner not in ("", OWNER)


def problem_of(run: Run, row: Followed, state: ClusterState | None, overall: str) -> str:
    if row.ended:
        return translated(row.ended)
    if run.state == Run.State.PARKED:
        return say("It is followed no more until somebody tries again: {why}", why=translated(run.error))
    if overall == "ended" or state is None or row.state_at is None:
        return ""
    if row.state_at < timezone.now() - SILENT:
        return say("No worker reads this cluster at the moment.")
    return translated(worst_problem(state))

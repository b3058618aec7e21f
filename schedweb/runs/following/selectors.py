"""What is known of the reading for a run that follows a real cluster."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, get_args

import msgspec
from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from schedweb.api.errors import not_found
from schedweb.api.windows import Window, window_answer
from schedweb.clusters.reading.following import ClusterState
from schedweb.clusters.reading.rights import Answered, lacking_yaml
from schedweb.clusters.selectors import behind_of, kinds_overall, moment, rule_body, worst_problem
from schedweb.engine.live import Scheduling
from schedweb.runs.following.ends import stops_of
from schedweb.runs.following.scheduling import HeldState, SchedulingState
from schedweb.runs.models import ClusterWrite, Followed, JournalEntry, Run
from schedweb.runs.storing.lease import OWNER
from schedweb.runs.storing.writes import COUNTED_ONLY
from schedweb.sentences import say, translated
from schedweb.writes.writes import Outcome, Purpose, Result, Write

SILENT: Final = datetime.timedelta(seconds=15)
SCHEDULING_STATES: Final = (
    *("waiting", "catching_up", "scheduling", "standing_by", "lease_lost", "lacks_rights", "not_allowed", "stale"),
    *("refused", "failed", "stopped"),
)
STATES: Final = ("waiting", "catching_up", "live", "partly", "stale", "refused", "failed", "ended")
RECENT: Final = 20
"""Writes whose answers tell whether a right is missing now."""
EVERY: Final = "all"
STEP_BY_STEP: Final = "step_by_step"
ON_ITS_OWN: Final = "on_its_own"
PURPOSES: Final = get_args(Purpose)
RESULTS: Final = get_args(Result)
OUTCOMES: Final = ("written", "refused", "on_their_way")


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
        "way": way_of(run) if row.shadow else None,
        "changes": row.changes,
        "changed_at": row.changed_at,
        "kept_bytes": run.stored_bytes,
        "measured_at": run.measured_at,
        "most_bytes": row.most_bytes,
        "until": row.ends_at,
    }


def way_of(run: Run) -> str:
    return ON_ITS_OWN if run.own_world else STEP_BY_STEP


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
    stop = JournalEntry.objects.filter(run=run, type="stop").order_by("number").first()
    if overall == "ended" or stop is not None:
        # Nothing is sent from the moment it was said, whenever the engine hears of it.
        state = "stopped"
        since = since if stop is None else stop.created_at
    elif overall in ("live", "partly"):
        state = "catching_up" if own is None else own.state
        if own is not None:
            since, holder = moment(own.since), own.holder
            problem = translated(own.problem) or problem or denied(run, own.rights_back)
    return {
        "context": run.follows,
        "state": state,
        "since": since,
        "problem": problem,
        "holder": holder,
        "schedulers": terms.schedulers,
        "namespaces": terms.namespaces,
        "bindings_per_minute": terms.bindings_per_minute,
        "node_selector": terms.node_selector,
        "dry_run": terms.dry_run,
        "bound_last_minute": bound_last_minute(run),
        "lease": None if own is None or own.lease is None or state == "stopped" else lease_body(own.lease),
        "written": row.writes_done,
        "refused": row.writes_refused,
        "on_their_way": counted_writes(run).filter(outcome__isnull=True).count(),
        "rejected": rejected_since(run, reading, terms.schedulers),
        "other_schedulers": other_schedulers_of(row),
        "stopped_by": stop.author_name if stop is not None and stop.author_id is not None else "",
        "lacks": None if own is None or state == "stopped" else lacks_body(run, own),
    }


def other_schedulers_of(row: Followed) -> list[dict[str, Any]]:
    """Who binds most comes first."""
    rows = sorted(row.other_schedulers, key=lambda each: (-each["count"], each["scheduler"]))
    return [{**each, "last_at": moment(each["last_at"] / 10**9)} for each in rows]


def lacks_body(run: Run, own: SchedulingState) -> dict[str, Any] | None:
    """Which rights are missing, each since when, and the roles to apply."""
    if not own.lacks:
        return None
    answers = [Answered(each.rule, each.missing) for each in own.lacks]
    return {
        "rules": [{**rule_body(each.rule, each.missing), "since": moment(each.since)} for each in own.lacks],
        "yaml": lacking_yaml(answers, own.who, run.follows),
    }


def rejected_since(run: Run, state: ClusterState | None, schedulers: Collection[str]) -> list[dict[str, Any]]:
    """Pods that were bound since the run began, by whomever, and that their kubelets rejected for want of room."""
    began = f"{run.created_at:%Y-%m-%dT%H:%M:%SZ}"
    return [
        {**msgspec.structs.asdict(each), "is_ours": each.scheduler in schedulers}
        for each in ([] if state is None else state.rejected)
        if each.at >= began
    ]


def lease_body(seen: HeldState) -> dict[str, Any]:
    return {
        "name": seen.name,
        "holder": seen.holder,
        "is_ours": seen.is_ours,
        "since": at_or_none(seen.acquired),
        "renewed_at": at_or_none(seen.renewed),
        "transitions": seen.transitions,
        "seconds": seen.seconds,
    }


def at_or_none(text: str) -> datetime.datetime | None:
    """Of what another server wrote."""
    try:
        return parse_datetime(text)
    except ValueError:
        return None


def bound_last_minute(run: Run) -> int:
    """Bindings that were carried out within it; in a dry run those that were accepted."""
    since = timezone.now() - datetime.timedelta(minutes=1)
    return ClusterWrite.objects.filter(run=run, purpose="bind", answered_at__gt=since, outcome__result="done").count()


def denied(run: Run, rights_back: float) -> str:
    """That what was written last, of any purpose, was not allowed; "" where all was. ``rights_back``: seconds since
    1970; what was refused before is no fault any more."""
    since = datetime.datetime.fromtimestamp(rights_back, tz=datetime.UTC)
    newest: dict[str, ClusterWrite] = {}
    for row in counted_writes(run).filter(outcome__isnull=False, answered_at__gt=since).order_by("-number")[:RECENT]:
        newest.setdefault(row.purpose, row)
    for row in newest.values():
        outcome = msgspec.convert(row.outcome, Outcome)
        if outcome.result == "forbidden":
            return say("The credentials may not do what was tried last: {why}", why=translated(outcome.message))
    return ""


def counted_writes(run: Run) -> QuerySet[ClusterWrite]:
    """Those that the figures of a run are about: Events aside."""
    return ClusterWrite.objects.filter(run=run).exclude(purpose__in=COUNTED_ONLY)


@dataclass(frozen=True)
class AskedWrites:
    purpose: str = ""
    """"" for all but Events, ``all`` for all."""
    outcome: str = ""
    """One of ``OUTCOMES``; "" for all."""
    query: str = ""


def writes_window(run: Run, window: Window, asked: AskedWrites) -> dict[str, Any]:
    """Newest first. Raises ApiError (404) for a run that schedules no cluster."""
    if run.scheduling is None:
        raise not_found(say("{run} schedules no cluster.", run=run))
    rows = counted_writes(run) if asked.purpose == "" else ClusterWrite.objects.filter(run=run)
    if asked.purpose not in ("", EVERY):
        rows = rows.filter(purpose=asked.purpose)
    if asked.outcome == "on_their_way":
        rows = rows.filter(outcome__isnull=True)
    elif asked.outcome == "written":
        rows = rows.filter(outcome__result="done")
    elif asked.outcome == "refused":
        rows = rows.filter(outcome__isnull=False).exclude(outcome__result="done")
    if asked.query:
        rows = rows.filter(Q(name__icontains=asked.query) | Q(namespace__icontains=asked.query))
    return window_answer(window, rows.order_by("-number"), write_body)


def write_body(row: ClusterWrite) -> dict[str, Any]:
    write = msgspec.convert(row.write, Write)
    outcome = None if row.outcome is None else msgspec.convert(row.outcome, Outcome)
    target = write.body.get("target") if row.purpose == "bind" else None
    return {
        "number": row.number,
        "purpose": row.purpose,
        "method": write.method,
        "path": write.path,
        "namespace": row.namespace,
        "name": row.name,
        "node": target["name"] if target else "",
        "body": write.body,
        "stored_at": row.stored_at,
        "answered_at": row.answered_at,
        "result": None if outcome is None else outcome.result,
        "status": outcome.status if outcome else 0,
        "message": translated(outcome.message) if outcome else "",
        "bound_to": outcome.node_name if outcome else "",
        "tries": outcome.tries if outcome else 0,
        "looked": outcome.looked if outcome else False,
        "dry_run": outcome.dry_run if outcome else False,
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
        return "ended", stopped_at(run) or run.worker_since
    if run.state == Run.State.PARKED:
        return "ended", parked_at(run)
    if state is None or row.state_at is None:
        return "waiting", run.created_at
    if row.state_at < timezone.now() - SILENT:
        return "stale", row.state_at
    if is_of_another_process(run):
        return "catching_up", row.state_at
    return kinds_overall(state)


def stopped_at(run: Run) -> datetime.datetime | None:
    """When somebody said so, or its time was over."""
    return stops_of(run).values_list("created_at", flat=True).first()


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

"""What is known of connections, as the API shows it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from django.conf import settings
from django.utils import timezone

from framework.sentences import Words
from schedweb.api.errors import not_found
from schedweb.clusters.models import Connection
from schedweb.clusters.offered import Offered, offered
from schedweb.clusters.reading.following import ClusterState
from schedweb.clusters.reading.kinds import NEEDED
from schedweb.clusters.reading.reflector import KindState
from schedweb.clusters.reading.rights import Mode, Rights, Rule, missing_yaml
from schedweb.sentences import say, translated
from schedweb.snapshots.models import Snapshot

STATES: Final = ("off", "waiting", "catching_up", "live", "partly", "stale", "refused", "failed")
MODES: Final[tuple[Mode, ...]] = ("look", "schedule", "default_scheduler")
RECENT_SECONDS: Final = 60.0
"""A lag that is older tells nothing of now."""
SNAPSHOTS: Final = 5


def clusters() -> tuple[list[dict[str, Any]], Offered]:
    """Those that are offered, in their order, then those that are connected and no longer offered."""
    found = offered()
    rows = {row.context: row for row in Connection.objects.all()}
    servers = {each.name: each.server for each in found.contexts}
    kept = [name for name, row in rows.items() if row.wanted and name not in servers]
    return [
        cluster_body(name, servers.get(name, ""), rows.get(name), name in servers) for name in [*servers, *kept]
    ], found


def connection_get(name: str) -> Connection:
    row = Connection.objects.filter(context=name).first()
    if row is None:
        raise not_found(say("There is no connection to {context}.", context=name))
    return row


def cluster_details(name: str) -> dict[str, Any]:
    found = offered()
    context = found.named(name)
    row = Connection.objects.filter(context=name).first()
    if context is None and (row is None or not row.wanted):
        raise not_found(say("There is no context {context} here.", context=name))
    state = state_of(row)
    return {
        **cluster_body(name, context.server if context else "", row, context is not None),
        "kinds": [kind_body(each) for each in state.kinds] if state else [],
        "rights": rights_body(name, state.rights) if state and state.rights else None,
        "rate": state.rate if state else 0.0,
        "clock_ahead": state.clock_ahead if state else None,
        "bytes_read": state.bytes_read if state else 0,
        "snapshots": [
            {"id": each.pk, "name": each.name, "created_at": each.created_at, "counts": each.counts}
            for each in Snapshot.objects.defer("payload").filter(context=name)[:SNAPSHOTS]
        ],
    }


def state_of(row: Connection | None) -> ClusterState | None:
    """What its reader said last; None where nothing is known, or another version wrote it."""
    if row is None or not row.wanted or not row.state:
        return None
    try:
        return msgspec.json.decode(row.state, type=ClusterState)
    except msgspec.DecodeError:
        return None


def cluster_body(name: str, server: str, row: Connection | None, is_offered: bool) -> dict[str, Any]:
    state = state_of(row)
    overall, since = overall_of(row, state)
    kinds = state.kinds if state else []
    return {
        "name": name,
        "server": server or (row.server if row else ""),
        "version": row.version if row else "",
        "is_offered": is_offered,
        "is_connected": row is not None and row.wanted,
        "connected_at": row.connected_at if row else None,
        "connected_by": row.connected_by.get_username() if row and row.connected_by else "",
        "state": overall,
        "since": since,
        "problem": problem_of(row, state),
        "code": (state.code if state else None) or "",
        "tries": state.tries if state else 0,
        "again_at": moment(state.again_at if state else None),
        "is_insecure": bool(state and state.is_insecure),
        "nodes": state.nodes if state else 0,
        "pods": state.pods if state else 0,
        "pending": state.pending if state else 0,
        "kinds_done": sum(each.state != "catching_up" for each in kinds),
        "kinds_of": len(kinds),
        "behind": behind_of(state),
        "follow_megabytes": settings.FOLLOW_MEGABYTES,
        "can_be_read": all(
            next((each.state for each in kinds if each.plural == plural), "") == "live" for plural in NEEDED
        ),
    }


def overall_of(row: Connection | None, state: ClusterState | None) -> tuple[str, datetime.datetime | None]:
    """(of the whole connection, since when)."""
    if row is None or not row.wanted:
        return "off", None
    if state is None:
        return "waiting", row.connected_at
    if row.lease_expires is None or row.lease_expires < timezone.now():
        return "stale", row.state_at
    return kinds_overall(state)


def kinds_overall(state: ClusterState) -> tuple[str, datetime.datetime | None]:
    """(of all kinds together, since when), as whoever reads them said last."""
    if state.since is not None:
        return "stale" if state.kinds else "failed", moment(state.since)
    by_state: dict[str, list[KindState]] = {}
    for each in state.kinds:
        by_state.setdefault(each.state, []).append(each)
    since = {name: moment(min(each.since for each in found)) for name, found in by_state.items()}
    if "catching_up" in by_state or not state.kinds:
        return "catching_up", since.get("catching_up")
    if "live" not in by_state:
        # Whether anything was read before is not the point: what is missing is a right, not the API server.
        return ("stale", since["stale"]) if "stale" in by_state else ("refused", since.get("refused"))
    if "stale" in by_state:
        return "stale" if any(each.plural in NEEDED for each in by_state["stale"]) else "partly", since["stale"]
    return ("partly", since["refused"]) if "refused" in by_state else ("live", since["live"])


def problem_of(row: Connection | None, state: ClusterState | None) -> str:
    """The worst that is to be said: of everything, then of a kind."""
    if row is None or not row.wanted or state is None:
        return ""
    if row.lease_expires is None or row.lease_expires < timezone.now():
        return say("No worker reads this cluster at the moment.")
    return translated(worst_problem(state))


def worst_problem(state: ClusterState) -> Words:
    worst = [each for each in state.kinds if each.problem and each.state in ("stale", "refused", "catching_up")]
    worst.sort(key=lambda each: (each.plural not in NEEDED, each.state != "stale"))
    return state.problem or (worst[0].problem if worst else "")


def behind_of(state: ClusterState | None) -> float | None:
    """Seconds, of the slowest kind in which something happened within the last minute."""
    if state is None:
        return None
    recent = (each for each in state.kinds if each.changed_at and each.changed_at > state.at - RECENT_SECONDS)
    return max((each.lag for each in recent if each.lag is not None and each.state == "live"), default=None)


def moment(seconds: float | None) -> datetime.datetime | None:
    """People are told whole seconds."""
    return None if seconds is None else datetime.datetime.fromtimestamp(int(seconds), tz=datetime.UTC)


def kind_body(kind: KindState) -> dict[str, Any]:
    times = {name: moment(getattr(kind, name)) for name in ("since", "changed_at", "heard_at", "again_at")}
    names = ("kind", "plural", "group", "state", "objects", "read", "changes", "lag", "tries", "streams", "unreadable")
    return {**{name: getattr(kind, name) for name in names}, **times, "problem": translated(kind.problem)}


def rights_body(context: str, rights: Rights) -> dict[str, Any]:
    return {
        "asked_at": moment(rights.asked_at),
        "who": rights.who,
        "modes": [mode_body(context, rights, mode) for mode in MODES],
    }


def mode_body(context: str, rights: Rights, mode: Mode) -> dict[str, Any]:
    answers = [each for each in rights.answers if each.rule.mode == mode]
    return {
        "mode": mode,
        "granted": sum(not each.missing for each in answers),
        "of": len(answers),
        "rules": [rule_body(each.rule, each.missing) for each in answers],
        "yaml": missing_yaml(rights, mode, context),
    }


def rule_body(rule: Rule, missing: Sequence[str]) -> dict[str, Any]:
    return {
        "group": rule.group,
        "resource": rule.resource,
        "name": rule.name,
        "namespace": rule.namespace,
        "verbs": list(rule.verbs),
        "missing": list(missing),
        "why": translated(rule.why),
    }

"""Our world beside the real cluster: what both came to, in Compare's figures, and the pods that went another way.

Only pods about which somebody decided since the run began can differ, and there is a ``RealPodRecord`` of each: all
others are in both worlds what they are in ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.db.models import Count

from framework.trace.attempt import AttemptTrace
from schedweb.api.errors import not_found
from schedweb.api.windows import Window, check_choice
from schedweb.engine.times import iso
from schedweb.engine.usage_log import padded
from schedweb.runs.attempts.selectors import pod_ref, stored_traces
from schedweb.runs.comparing import measures
from schedweb.runs.comparing.selectors import (
    BATCH,
    NO_NODES,
    PLACED,
    Nodes,
    PodPlace,
    attempts_body,
    figures,
    is_gated,
    kind_of,
    last_attempts,
    nodes_of,
    staying,
    waiting_body,
)
from schedweb.runs.models import Followed, NodeRecord, PodRecord, Preemption, RealPodRecord, Run
from schedweb.runs.real_cluster.selectors import cause, choice, last_messages, nodes_beside, reasons_beside
from schedweb.sentences import say

Column = PodRecord.Column
#: The first five differ. x_here, x_there: in that world alone; neither, gated: placed in none.
NAMES: Final = {
    "elsewhere": "elsewhere",
    "only_a": "pending_here",
    "only_b": "pending_there",
    "missing_b": "evicted_here",
    "missing_a": "evicted_there",
    "neither": "neither",
    "gated": "gated",
    "same": "same",
}
"""Compare's kinds, with the real cluster as a and our world as b → what they are called here."""
KINDS: Final = tuple(NAMES.values())
DIFFERENT: Final = KINDS[:5]
CHOSEN: Final = ("elsewhere", "pending_here")
"""Ours did not take the real node."""
MOST_NAMES: Final = 200
"""Namespaces, profiles and workloads that can be chosen."""


@dataclass(frozen=True)
class Asked:
    """ "" is all."""

    namespace: str = ""
    profile: str = ""
    workload: str = ""
    kind: str = ""
    query: str = ""

    def has(self, row: RealPodRecord) -> bool:
        named = all(
            getattr(row, name) == wanted
            for name in ("namespace", "profile", "workload")
            if (wanted := getattr(self, name))
        )
        return named and self.query.lower() in f"{row.namespace}/{row.name}".lower()


@dataclass(frozen=True, slots=True)
class Beside:
    there: RealPodRecord
    here: PodPlace | None
    kind: str


def own_world_of(run: Run) -> Followed:
    row = Followed.objects.filter(run=run, shadow=True, run__own_world=True).first()
    if row is None:
        raise not_found(say("{run} has no shadow on its own.", run=run))
    return row


def place_there(row: RealPodRecord) -> PodPlace:
    """As Compare has a pod's place in a run."""
    if not row.present:
        column = Column.DELETED
    elif row.node:
        column = Column.BOUND
    elif row.gated:
        column = Column.GATED
    else:
        column = Column.UNSCHEDULABLE if row.message else Column.ACTIVE
    return PodPlace(row.uid, column, row.node if row.present else "", 0)


def laid(run: Run) -> list[Beside]:
    """By kind, then by name."""
    rows = list(RealPodRecord.objects.filter(run=run))
    known = RealPodRecord.objects.filter(run=run).values("uid")
    found = PodRecord.objects.filter(run=run, uid__in=known).values_list("uid", "column", "node", "attempts")
    here = {
        uid: PodPlace(uid, column, node if column in PLACED else "", attempts)
        for uid, column, node, attempts in found.iterator()
    }
    order = {kind: place for place, kind in enumerate(KINDS)}
    beside = [Beside(row, here.get(row.uid), NAMES[kind_of(place_there(row), here.get(row.uid))]) for row in rows]
    return sorted(beside, key=lambda each: (order[each.kind], each.there.namespace, each.there.name))


# Both sides -----------------------------------------------------------------------------------------------------------


def counted(places: Sequence[PodPlace]) -> dict[str, int]:
    present = [place for place in places if staying(place)]
    return {
        "pods": len(present),
        "placed": sum(bool(place.node) for place in present),
        "unscheduled": sum(not place.node and not is_gated(place) for place in present),
        "gated": sum(map(is_gated, present)),
    }


def pods_here(run: Run) -> dict[str, int]:
    rows = PodRecord.objects.filter(run=run).exclude(column__in=PodRecord.GONE)
    columns = dict(rows.values_list("column").annotate(count=Count("pk")).order_by())
    pods, gated = sum(columns.values()), columns.get(Column.GATED, 0)
    placed = sum(columns.get(column, 0) for column in PLACED)
    return {"pods": pods, "placed": placed, "unscheduled": pods - placed - gated, "gated": gated}


def used_there(nodes: Nodes, rows: Sequence[Beside]) -> measures.Amounts:
    """Our bound pods without those that may differ, and these as they are there."""
    used = nodes.requested.copy()
    where = {name: place for place, name in enumerate(nodes.names)}
    size = len(nodes.resources)
    for each in rows:
        amounts = np.array(padded(each.there.amounts, size), dtype=np.int64)
        here = each.here
        if here is not None and here.column == Column.BOUND and here.node in where:
            used[where[here.node]] -= amounts
        if each.there.present and each.there.node in where:
            used[where[each.there.node]] += amounts
    return used


def sides(run: Run, rows: Sequence[Beside]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the real cluster, our world)."""
    nodes = nodes_of(run)
    here = pods_here(run)
    mine = counted([each.here for each in rows if each.here is not None])
    theirs = counted([place_there(each.there) for each in rows])
    there = {name: here[name] - mine[name] + theirs[name] for name in here}
    waited = [
        each.there.since - each.there.came
        for each in rows
        if each.there.decided and each.there.present and each.there.node
    ]
    victims = sum(each.there.preempted for each in rows)
    nobody_counts: dict[str, Any] = {"total": None, "results": [], "pods": None, "mean": None, "most": None}
    return (
        {
            **there,
            **(NO_NODES if nodes is None else figures(nodes, used_there(nodes, rows))),
            "attempts": {**nobody_counts, "victims": victims},
            "waiting": measures.waiting_times(waited),
        },
        {
            **here,
            **(NO_NODES if nodes is None else figures(nodes, nodes.requested + nodes.reserved)),
            "attempts": attempts_body(run),
            "waiting": waiting_body(run),
        },
    )


def summary_body(run: Run, asked: Asked) -> dict[str, Any]:
    """Figures are of the whole cluster; counts of the pods that were asked for."""
    own_world_of(run)
    rows = laid(run)
    there, here = sides(run, rows)
    counts = dict.fromkeys(KINDS, 0)
    for each in rows:
        if asked.has(each.there):
            counts[each.kind] += 1
    return {
        "since": iso(run.clock_start),
        "until": iso(run.clock),
        "decided": sum(each.there.decided for each in rows),
        "a": there,
        "b": here,
        "counts": counts,
        "differ": sum(counts[kind] for kind in DIFFERENT),
        **{
            f"{name}s": sorted({getattr(each.there, name) for each in rows})[:MOST_NAMES]
            for name in ("namespace", "profile", "workload")
        },
    }


# Pods -----------------------------------------------------------------------------------------------------------------


def chosen(run: Run, asked: Asked) -> list[Beside]:
    """Without a kind those that differ."""
    check_choice("kind", asked.kind, KINDS)
    own_world_of(run)
    wanted = (asked.kind,) if asked.kind else DIFFERENT
    return [each for each in laid(run) if each.kind in wanted and asked.has(each.there)]


def explained(run: Run, rows: Sequence[Beside]) -> list[dict[str, Any]]:
    uids = [each.there.uid for each in rows]
    numbers = last_attempts(run, uids)
    wanted = [numbers[each.there.uid] for each in rows if each.kind in CHOSEN and each.there.uid in numbers]
    traces = dict(stored_traces(run.pk, wanted))
    messages = last_messages(run, uids)
    nodes = set(NodeRecord.objects.filter(run=run, present=True).values_list("name", flat=True))
    evicted = Preemption.objects.filter(run=run, victim_uid__in=uids)
    evicted_for = {
        uid: f"{namespace}/{name}" for uid, namespace, name in evicted.values_list("victim_uid", "namespace", "name")
    }
    return [
        row_body(each, numbers.get(each.there.uid), traces, messages, nodes, evicted_for.get(each.there.uid, ""))
        for each in rows
    ]


def row_body(
    row: Beside,
    number: int | None,
    traces: dict[int, AttemptTrace],
    messages: dict[str, str],
    nodes: set[str],
    evicted_for: str,
) -> dict[str, Any]:
    there, here = row.there, row.here
    message = messages.get(there.uid, "")
    body: dict[str, Any] = {
        "pod": pod_ref(there.namespace, there.name),
        "kind": row.kind,
        "workload": there.workload,
        "profile": there.profile,
        "there": {
            "node": there.node if there.present and there.node else None,
            "present": there.present,
            "preempted": there.preempted,
            "message": there.message,
            "since": iso(there.since),
        },
        "here": None if here is None else {**here.body(), "attempt": number, "message": message},
        "evicted_for": evicted_for,
        "causes": [],
        "points": [],
        "reasons": [],
        "nodes": {"real": None, "run": None},
    }
    if row.kind in CHOSEN:
        trace = None if number is None else traces.get(number)
        if number is None:
            body["causes"] = [cause("not_tried")]
        else:
            body |= choice(trace, there.node, "" if here is None else here.node, nodes)
    elif row.kind == "pending_there":
        body["causes"] = [cause("refused" if there.message else "not_tried_there")]
        body["nodes"] = nodes_beside(there.message, message)
        body["reasons"] = reasons_beside(there.message, message)
    return body


def pods_window(run: Run, window: Window, asked: Asked) -> dict[str, Any]:
    rows = chosen(run, asked)
    shown = explained(run, window.cut(rows))
    return {"count": len(rows), "offset": window.offset, "limit": window.limit, "results": shown}


def pods_batches(run: Run, asked: Asked) -> Iterator[list[dict[str, Any]]]:
    rows = chosen(run, asked)
    return (explained(run, rows[at : at + BATCH]) for at in range(0, len(rows), BATCH))

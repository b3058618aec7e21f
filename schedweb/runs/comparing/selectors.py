"""Two runs side by side: what each came to, and the pods that went different ways. Pods are paired by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from django.db.models import Avg, Count, Max
from numpy.typing import NDArray

from framework.trace.attempt import AttemptTrace
from schedweb.api.windows import Window, check_choice
from schedweb.engine.usage_log import padded
from schedweb.runs.attempts.selectors import pod_ref, stored_traces
from schedweb.runs.comparing import measures
from schedweb.runs.comparing.difference import cause, difference, refusal
from schedweb.runs.models import Attempt, NodeRecord, PodRecord, Preemption, Run
from schedweb.runs.playing.selectors import run_body
from schedweb.runs.records.runs import resources_of

#: elsewhere: placed by both, on different nodes; only_x: placed by x alone; gated: placed by none, and at least one has
#: not tried it because a gate holds it; neither: found no node in either; missing_x: x has no such pod.
KINDS: Final = ("elsewhere", "only_a", "only_b", "neither", "gated", "missing_a", "missing_b", "same")
DIFFERENT: Final = ("elsewhere", "only_a", "only_b", "missing_a", "missing_b")
#: As many pods are explained at once while an export is written.
BATCH: Final = 100
NO_NODES: Final[dict[str, Any]] = {"nodes": 0, "nodes_in_use": 0, "resources": [], "gpus": [], "zones": []}
OF_DAEMON_SET: Final = "pod-template-generation"
"""A label that the controller of DaemonSets gives its pods, and no other does."""
PLACED: Final = (PodRecord.Column.BOUND, PodRecord.Column.WAITING, PodRecord.Column.IN_FLIGHT)


@dataclass(frozen=True, slots=True)
class PodPlace:
    uid: str
    column: str
    node: str
    """"" unless the pod has one."""
    attempts: int

    def body(self) -> dict[str, Any]:
        return {"column": self.column, "node": self.node or None, "attempts": self.attempts}


@dataclass(frozen=True, slots=True)
class Pair:
    namespace: str
    name: str
    kind: str
    a: PodPlace | None
    b: PodPlace | None


PodPlaces = dict[tuple[str, str], PodPlace]


def places_of(run: Run) -> PodPlaces:
    """Of pods of one name the newest, and one that still exists before one that does not."""
    rows = PodRecord.objects.filter(run=run).order_by("pk")
    found: PodPlaces = {}
    for namespace, name, uid, column, node, attempts in rows.values_list(
        "namespace", "name", "uid", "column", "node", "attempts"
    ):
        known = found.get((namespace, name))
        if column == PodRecord.Column.DELETED and known is not None and known.column != PodRecord.Column.DELETED:
            continue
        found[namespace, name] = PodPlace(uid, column, node if column in PLACED else "", attempts)
    return found


def staying(place: PodPlace | None) -> PodPlace | None:
    """None of a pod that is gone, or has ended: it is neither placed nor does it wait for a place."""
    return None if place is None or place.column in PodRecord.GONE else place


def kind_of(a: PodPlace | None, b: PodPlace | None) -> str:
    a, b = staying(a), staying(b)
    if a is None:
        return "same" if b is None else "missing_a"
    if b is None:
        return "missing_b"
    if a.node and b.node:
        return "same" if a.node == b.node else "elsewhere"
    if a.node or b.node:
        return "only_a" if a.node else "only_b"
    return "gated" if is_gated(a) or is_gated(b) else "neither"


def pairs_of(a: PodPlaces, b: PodPlaces) -> list[Pair]:
    """By kind, then by name."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    found = [Pair(*key, kind_of(a.get(key), b.get(key)), a.get(key), b.get(key)) for key in {**a, **b}]
    return sorted(found, key=lambda pair: (order[pair.kind], pair.namespace, pair.name))


# Each side ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes that are there, in the order of their rows; arrays of shape (nodes, resources)."""

    resources: list[str]
    names: list[str]
    zone: list[str]
    open: NDArray[np.bool_]
    """Not cordoned."""
    allocatable: measures.Amounts
    requested: measures.Amounts
    """Of bound pods."""
    reserved: measures.Amounts
    """Of pods that wait on Permit or are being bound."""
    daemons: NDArray[np.int64]
    """How many pods on them are of DaemonSets."""


def nodes_of(run: Run) -> Nodes | None:
    """None: nobody has begun to play it, or its last node went."""
    rows = list(
        NodeRecord.objects.filter(run=run, present=True)
        .order_by("row")
        .values_list("name", "zone", "cordoned", "allocatable", "requested", "reserved")
    )
    if not rows:
        return None
    resources = resources_of(run)
    size = len(resources)
    allocatable, requested, reserved = (
        np.array([padded(amounts, size) for amounts in column], dtype=np.int64)
        for column in zip(*(row[3:] for row in rows), strict=True)
    )
    daemons = daemons_of(run)
    return Nodes(
        resources=resources,
        names=[row[0] for row in rows],
        zone=[row[1] for row in rows],
        open=np.array([not row[2] for row in rows], dtype=bool),
        allocatable=allocatable,
        requested=requested,
        reserved=reserved,
        daemons=np.array([daemons.get(row[0], 0) for row in rows], dtype=np.int64),
    )


def daemons_of(run: Run) -> dict[str, int]:
    """Node → how many of its pods are of DaemonSets, which would be on it whatever a scheduler did."""
    rows = PodRecord.objects.filter(run=run, column__in=PLACED, labels__has_key=OF_DAEMON_SET)
    return dict(rows.values_list("node").annotate(count=Count("pk")).order_by())


def cluster_body(run: Run) -> dict[str, Any]:
    nodes = nodes_of(run)
    return NO_NODES if nodes is None else figures(nodes, nodes.requested + nodes.reserved)


def figures(nodes: Nodes, used: measures.Amounts) -> dict[str, Any]:
    """``used``: what pods take together, of shape (nodes, resources)."""
    names, resources, allocatable = nodes.names, nodes.resources, nodes.allocatable
    free = allocatable - used
    pods = resources.index("pods")
    by_zone = measures.zones(names, nodes.zone, resources, allocatable, used)
    rows = []
    for place, name in enumerate(resources):
        if allocatable[:, place].any() or used[:, place].any():
            spread = measures.resource_spread(name, allocatable[:, place], used[:, place])
            fit = measures.largest_fit(names, free[:, place], nodes.open)
            rows.append({**spread, **fit, "zones_apart": measures.imbalance(by_zone, name)})
    gpus = [
        {"resource": name, **measures.islands(free[:, place], free[:, pods], nodes.open)}
        for place, name in enumerate(resources)
        if measures.is_gpu(name) and allocatable[:, place].any()
    ]
    in_use = int((used[:, pods] > nodes.daemons).sum())
    return {"nodes": len(names), "nodes_in_use": in_use, "resources": rows, "gpus": gpus, "zones": by_zone}


def attempts_body(run: Run) -> dict[str, Any]:
    rows = Attempt.objects.filter(run=run)
    results = rows.values_list("result").annotate(how_many=Count("pk")).order_by("result")
    tried = PodRecord.objects.filter(run=run, attempts__gt=0).aggregate(
        pods=Count("pk"), mean=Avg("attempts"), most=Max("attempts")
    )
    return {
        "total": run.attempts,
        "results": [{"result": result, "count": count} for result, count in results],
        "pods": tried["pods"],
        "mean": tried["mean"],
        "most": tried["most"] or 0,
        "victims": Preemption.objects.filter(run=run).count(),
    }


def waiting_body(run: Run) -> dict[str, Any]:
    """From the moment a pod came to the moment it was bound, of pods that this run has bound; seconds of run time."""
    bound = PodRecord.objects.filter(run=run, column=PodRecord.Column.BOUND, attempts__gt=0)
    times = [
        since - detail["journey"][0][0]
        for since, detail in bound.values_list("since", "detail").iterator()
        if since is not None and detail.get("journey")
    ]
    return measures.waiting_times(times)


def side_body(run: Run, places: PodPlaces) -> dict[str, Any]:
    present = [place for place in places.values() if staying(place)]
    return {
        "run": run_body(run),
        "settled": run.state in (Run.State.FINISHED, *Run.AT_REST),
        "pods": len(present),
        "placed": sum(bool(place.node) for place in present),
        "unscheduled": sum(not place.node and not is_gated(place) for place in present),
        "gated": sum(map(is_gated, present)),
        **cluster_body(run),
        "attempts": attempts_body(run),
        "waiting": waiting_body(run),
    }


def comparison_body(a: Run, b: Run) -> dict[str, Any]:
    places_a, places_b = places_of(a), places_of(b)
    counts = dict.fromkeys(KINDS, 0)
    for pair in pairs_of(places_a, places_b):
        counts[pair.kind] += 1
    return {
        "same_cluster": a.snapshot_id == b.snapshot_id,
        "a": side_body(a, places_a),
        "b": side_body(b, places_b),
        "counts": counts,
    }


# Pods that differ -----------------------------------------------------------------------------------------------------


def last_attempts(run: Run, uids: Sequence[str]) -> dict[str, int]:
    rows = Attempt.objects.filter(run=run, pod_uid__in=uids).values_list("pod_uid")
    return dict(rows.annotate(last=Max("number")).order_by())


def explained(a: Run, b: Run, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Rows with the reason of each difference, from the last attempts of both runs."""
    numbers: list[dict[str, int]] = []
    traces: list[dict[int, AttemptTrace]] = []
    for run, side in ((a, "a"), (b, "b")):
        places = [getattr(pair, side) for pair in pairs]
        last = last_attempts(run, [place.uid for place in places if place is not None])
        numbers.append(last)
        traces.append(dict(stored_traces(run.pk, last.values())))
    victims = [preemptors(run, pairs, side) for run, side in ((a, "a"), (b, "b"))]
    rows = []
    for pair in pairs:
        attempt_a = None if pair.a is None else numbers[0].get(pair.a.uid)
        attempt_b = None if pair.b is None else numbers[1].get(pair.b.uid)
        trace_a = None if attempt_a is None else traces[0].get(attempt_a)
        trace_b = None if attempt_b is None else traces[1].get(attempt_b)
        rows.append(
            {
                "pod": pod_ref(pair.namespace, pair.name),
                "kind": pair.kind,
                "a": None if pair.a is None else {**pair.a.body(), "attempt": attempt_a},
                "b": None if pair.b is None else {**pair.b.body(), "attempt": attempt_b},
                **reason(pair, trace_a, trace_b, victims),
            }
        )
    return rows


def preemptors(run: Run, pairs: Sequence[Pair], side: str) -> dict[str, str]:
    """Uid of a pod that is gone → ``namespace/name`` of the pod it had to leave for."""
    gone = [place.uid for pair in pairs if (place := getattr(pair, side)) is not None and is_gone(place)]
    rows = Preemption.objects.filter(run=run, victim_uid__in=gone).values_list("victim_uid", "namespace", "name")
    return {uid: f"{namespace}/{name}" for uid, namespace, name in rows}


def is_gated(place: PodPlace | None) -> bool:
    return place is not None and place.column == PodRecord.Column.GATED


def is_gone(place: PodPlace) -> bool:
    return place.column == PodRecord.Column.DELETED


def reason(
    pair: Pair, trace_a: AttemptTrace | None, trace_b: AttemptTrace | None, victims: Sequence[dict[str, str]]
) -> dict[str, Any]:
    """``victims``: per side who is gone, and for whom."""
    for side, place, known in (("a", pair.a, victims[0]), ("b", pair.b, victims[1])):
        if place is not None and is_gone(place) and place.uid in known:
            return {"causes": [cause("preempted", side, plugin=known[place.uid])], "points": []}
    if gated := [side for side, place in (("a", pair.a), ("b", pair.b)) if is_gated(place)]:
        return {"causes": [cause("gated", side) for side in gated], "points": []}
    if pair.a is None or pair.b is None or pair.kind not in ("elsewhere", "only_a", "only_b"):
        return {"causes": [], "points": []}
    if pair.kind == "elsewhere":
        if trace_a is None or trace_b is None:
            return {"causes": unknown(pair, trace_a, trace_b), "points": []}
        return difference(trace_a, pair.a.node, trace_b, pair.b.node)
    side, trace, node = ("b", trace_b, pair.a.node) if pair.kind == "only_a" else ("a", trace_a, pair.b.node)
    return {"causes": [cause("not_tried", side)], "points": []} if trace is None else refusal(side, trace, node)


def unknown(pair: Pair, trace_a: AttemptTrace | None, trace_b: AttemptTrace | None) -> list[dict[str, Any]]:
    """not_tried: it was on its node before the run began; not_stored: the attempt is no longer kept."""
    found = []
    for side, place, trace in (("a", pair.a, trace_a), ("b", pair.b, trace_b)):
        if trace is None and place is not None:
            found.append(cause("not_stored" if place.attempts else "not_tried", side))
    return found


def chosen_pairs(a: Run, b: Run, kind: str, query: str) -> list[Pair]:
    check_choice("kind", kind, KINDS)
    wanted = (kind,) if kind else DIFFERENT
    text = query.lower()
    pairs = pairs_of(places_of(a), places_of(b))
    return [pair for pair in pairs if pair.kind in wanted and text in f"{pair.namespace}/{pair.name}".lower()]


def difference_window(a: Run, b: Run, window: Window, *, kind: str = "", query: str = "") -> dict[str, Any]:
    pairs = chosen_pairs(a, b, kind, query)
    rows = explained(a, b, window.cut(pairs))
    return {"count": len(pairs), "offset": window.offset, "limit": window.limit, "results": rows}


def difference_batches(a: Run, b: Run, *, kind: str = "", query: str = "") -> Iterator[list[dict[str, Any]]]:
    """Every row, for an export: a few at a time, so that none has to be held."""
    pairs = chosen_pairs(a, b, kind, query)
    return (explained(a, b, pairs[at : at + BATCH]) for at in range(0, len(pairs), BATCH))

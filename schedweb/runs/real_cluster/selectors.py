"""A run beside the real cluster: what the real scheduler and this run decided about the same pods, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.cycle.failure import truncated
from framework.trace.attempt import AttemptTrace
from schedweb.api.windows import Window, check_choice
from schedweb.engine.times import iso, iso_or_none
from schedweb.runs.attempts.scores import ranks
from schedweb.runs.attempts.selectors import pod_ref, stored_traces
from schedweb.runs.comparing.difference import UNSEEN, answer_about
from schedweb.runs.comparing.selectors import BATCH, PodPlace, PodPlaces, last_attempts, places_of
from schedweb.runs.models import Attempt, NodeRecord, PodRecord, Preemption, Run
from schedweb.runs.real_cluster.outcomes import GONE, PENDING, PLACED, Known, RealPod, known_of, same_pod
from schedweb.snapshots.scheduler_messages import read_unfit, same_message

#: The first six differ. only_x, preempted_x: x alone. given: the snapshot had it on its node, the run decided nothing.
KINDS: Final = (
    "other_node", "only_real", "only_run", "other_message", "preempted_real", "preempted_run",
    "same_node", "same_message", "preempted", "given", "not_tried",
)  # fmt: skip
DIFFERENT: Final = KINDS[:6]
ALIKE: Final = ("same_node", "same_message", "preempted")
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Beside:
    namespace: str
    name: str
    kind: str
    real: RealPod
    here: PodPlace


@dataclass(frozen=True, slots=True)
class Laid:
    """``without``: pods of the run that no event is about. ``missing``: pods with events that the run does not have."""

    known: Known
    rows: list[Beside]
    without: int
    missing: int
    later: int
    """Of the missing ones: first heard of after the snapshot was taken."""
    recreated: int
    """Of the missing ones: the run has a pod of that name with another uid."""


def kind_of(real: RealPod, here: PodPlace, message: str | None, victim: bool) -> str:
    """``message``: of the run's last attempt, None when there was none."""
    if here.column == PodRecord.Column.DELETED:
        # What a person or a controller deleted says nothing about the scheduler.
        return "preempted" if victim and real.outcome == GONE else "preempted_run" if victim else "not_tried"
    if here.node and not here.attempts:
        return "given"
    if here.node:
        if real.outcome == GONE:
            return "preempted_real"
        if real.outcome == PENDING:
            return "only_run"
        return "same_node" if here.node == real.node else "other_node"
    if message is None:
        return "not_tried"
    if real.outcome == GONE:
        return "preempted_real"
    if real.outcome == PLACED:
        return "only_real"
    return "same_message" if same_message(real.message, truncated(message)) else "other_message"


def lay_beside(run: Run) -> Laid:
    known = known_of(run.snapshot_id, run.snapshot.event_count)
    places = places_of(run)
    matched: list[tuple[tuple[str, str], RealPod, PodPlace]] = []
    missing = later = recreated = 0
    taken = run.clock_start
    for key, pods in known.pods.items():
        here = places.get(key)
        real = None if here is None else same_pod(pods, here.uid)
        if here is None or real is None:
            missing += 1
            later += pods[-1].first > taken
            recreated += here is not None
        else:
            matched.append((key, real, here))
    messages = last_messages(run, [here.uid for _, _, here in matched if not here.node])
    victims = set(Preemption.objects.filter(run=run).values_list("victim_uid", flat=True))
    order = {kind: place for place, kind in enumerate(KINDS)}
    rows = [
        Beside(*key, kind_of(real, here, messages.get(here.uid), here.uid in victims), real, here)
        for key, real, here in matched
    ]
    rows.sort(key=lambda row: (order[row.kind], row.namespace, row.name))
    return Laid(known, rows, present(places) - sum(r.here.column != "deleted" for r in rows), missing, later, recreated)


def present(places: PodPlaces) -> int:
    return sum(place.column != PodRecord.Column.DELETED for place in places.values())


def last_messages(run: Run, uids: Sequence[str]) -> dict[str, str]:
    """By uid: the message of the newest attempt."""
    found: dict[str, str] = {}
    for at in range(0, len(uids), _AT_ONCE):
        numbers = last_attempts(run, uids[at : at + _AT_ONCE])
        rows = Attempt.objects.filter(run=run, number__in=list(numbers.values()))
        found.update(rows.values_list("pod_uid", "message"))
    return found


def summary_body(run: Run) -> dict[str, Any]:
    laid = lay_beside(run)
    counts = dict.fromkeys(KINDS, 0)
    for row in laid.rows:
        counts[row.kind] += 1
    decided = sum(counts[kind] for kind in (*DIFFERENT, *ALIKE))
    return {
        "counts": counts,
        "decided": decided,
        "alike": sum(counts[kind] for kind in ALIKE),
        "events": laid.known.events,
        "first": iso_or_none(laid.known.first),
        "last": iso_or_none(laid.known.last),
        "taken_at": iso(run.clock_start),
        "settled": run.state in (Run.State.FINISHED, *Run.AT_REST),
        "without_events": laid.without,
        "missing": {"pods": laid.missing, "later": laid.later, "recreated": laid.recreated},
    }


# Why ------------------------------------------------------------------------------------------------------------------


def cause(why: str, plugin: str = "", reasons: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    return {"why": why, "plugin": plugin, "reasons": list(reasons), "rank": None, "margin": None, **more}


def choice(trace: AttemptTrace | None, real_node: str, own_node: str, nodes: set[str]) -> dict[str, Any]:
    """Why this run did not take the real scheduler's node."""
    if real_node not in nodes:
        return {"causes": [cause("no_node")], "points": []}
    if trace is None:
        return {"causes": [cause("not_stored")], "points": []}
    there = answer_about(trace, real_node)
    if there.state == "rejected":
        return {"causes": [cause("filter", there.plugin, there.reasons)], "points": []}
    if there.state in UNSEEN:
        return {"causes": [cause(there.state)], "points": []}
    if not own_node:
        status = trace.status or trace.placed_status
        plugin, reasons = ("", ()) if status is None else (status.plugin, status.all_reasons)
        return {"causes": [cause("later", plugin, reasons)], "points": []}
    own = answer_about(trace, own_node)
    if own.points is None or there.points is None or own.total is None or there.total is None:
        return {"causes": [cause("unscored")], "points": []}
    beside = {plugin: (mine, there.points.get(plugin, 0)) for plugin, mine in own.points.items()}
    points = [{"plugin": plugin, "own": mine, "real": theirs} for plugin, (mine, theirs) in beside.items()]
    margin = own.total - there.total
    rank = rank_of(trace, real_node)
    if margin <= 0:
        return {"causes": [cause("tie", rank=rank, margin=margin)], "points": points}
    lost = max(beside, key=lambda plugin: beside[plugin][0] - beside[plugin][1])
    return {"causes": [cause("score", lost, rank=rank, margin=margin)], "points": points}


def rank_of(trace: AttemptTrace, node: str) -> int | None:
    if trace.filter is None or trace.scores is None:
        return None
    position = trace.filter.nodes.index(node)
    for place, each in enumerate(trace.scores.positions.tolist()):
        if each == position:
            return int(ranks(trace.scores.total)[place])
    return None


def reasons_beside(real: str, ours: str) -> list[dict[str, Any]]:
    """How many nodes each of the two refused for each reason; those first that differ most."""
    one, two = read_unfit(real), read_unfit(truncated(ours))
    counts: dict[str, list[int]] = {}
    for side, unfit in enumerate((one, two)):
        for reason, count in (unfit.reasons if unfit else {}).items():
            counts.setdefault(reason, [0, 0])[side] = count
    rows = [{"reason": reason, "real": each[0], "run": each[1]} for reason, each in counts.items()]
    return sorted(rows, key=lambda row: (-abs(row["real"] - row["run"]), -row["real"], row["reason"]))


def nodes_beside(real: str, ours: str) -> dict[str, int | None]:
    """How many nodes each of the two had to choose from."""
    one, two = read_unfit(real), read_unfit(ours)
    return {"real": one.nodes if one else None, "run": two.nodes if two else None}


def explained(run: Run, rows: Sequence[Beside]) -> list[dict[str, Any]]:
    uids = [row.here.uid for row in rows]
    numbers = last_attempts(run, uids)
    wanted = [
        numbers[row.here.uid] for row in rows if row.kind in ("other_node", "only_real") and row.here.uid in numbers
    ]
    traces = dict(stored_traces(run.pk, wanted))
    messages = dict(
        Attempt.objects.filter(run=run, number__in=list(numbers.values())).values_list("pod_uid", "message")
    )
    nodes = set(NodeRecord.objects.filter(run=run).values_list("name", flat=True))
    return [row_body(row, numbers.get(row.here.uid), traces, messages.get(row.here.uid, ""), nodes) for row in rows]


def row_body(
    row: Beside, number: int | None, traces: dict[int, AttemptTrace], message: str, nodes: set[str]
) -> dict[str, Any]:
    real, here = row.real, row.here
    body: dict[str, Any] = {
        "pod": pod_ref(row.namespace, row.name),
        "kind": row.kind,
        "real": {
            "outcome": real.outcome,
            "node": real.node or None,
            "message": real.message,
            "at": iso(real.at),
            "failures": real.failures,
        },
        "run": {**here.body(), "attempt": number, "message": message},
        "causes": [],
        "points": [],
        "reasons": [],
        "nodes": {"real": None, "run": None},
    }
    if row.kind in ("other_node", "only_real"):
        trace = None if number is None else traces.get(number)
        body |= choice(trace, real.node, here.node, nodes)
    if row.kind in ("only_run", "other_message"):
        body["nodes"] = nodes_beside(real.message, message)
        body["reasons"] = reasons_beside(real.message, message)
        counted = body["reasons"] and any(each["real"] != each["run"] for each in body["reasons"])
        if row.kind == "other_message":
            body["causes"] = [cause("reasons" if counted else "rest")]
        else:
            body["causes"] = [cause("refused")]
    return body


# Windows --------------------------------------------------------------------------------------------------------------


def chosen(run: Run, kind: str, query: str, pod: str) -> list[Beside]:
    """``pod``: namespace/name of the only one, of whatever kind."""
    check_choice("kind", kind, KINDS)
    rows = lay_beside(run).rows
    if pod:
        return [row for row in rows if f"{row.namespace}/{row.name}" == pod]
    wanted = (kind,) if kind else DIFFERENT
    text = query.lower()
    return [row for row in rows if row.kind in wanted and text in f"{row.namespace}/{row.name}".lower()]


def real_window(run: Run, window: Window, *, kind: str = "", query: str = "", pod: str = "") -> dict[str, Any]:
    rows = chosen(run, kind, query, pod)
    shown = explained(run, window.cut(rows))
    return {"count": len(rows), "offset": window.offset, "limit": window.limit, "results": shown}


def real_batches(run: Run, *, kind: str = "", query: str = "", pod: str = "") -> Iterator[list[dict[str, Any]]]:
    rows = chosen(run, kind, query, pod)
    return (explained(run, rows[at : at + BATCH]) for at in range(0, len(rows), BATCH))

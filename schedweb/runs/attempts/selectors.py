"""Attempts: rows, and what every plugin said at every extension point."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Concat

from framework.interface import Code, Status
from framework.trace.attempt import (
    FEASIBLE,
    NOT_EVALUATED,
    AttemptTrace,
    ExtenderCall,
    PluginOutcome,
    PostFilterOutcome,
)
from framework.trace.encoding import AttemptChunk as OpenChunk
from framework.trace.encoding import decode_attempt
from schedweb.api.errors import not_found
from schedweb.api.windows import Window, check_choice, window_answer
from schedweb.engine.names import split_name
from schedweb.engine.outcomes import victims_words
from schedweb.engine.times import iso
from schedweb.runs.attempts.extenders import NO_TIMES, Times, calls_of_attempt, times_of
from schedweb.runs.attempts.victims import nodes_of
from schedweb.runs.models import Attempt, AttemptChunk, PodRecord, Run
from schedweb.runs.objects.claims import decisions_body
from schedweb.runs.records.converters import RunKey, run_of
from schedweb.runs.records.gone import refuse_if_gone
from schedweb.runs.records.runs import no_such_run
from schedweb.runs.records.thinned import refuse_if_thinned
from schedweb.sentences import clauses, counted, say, translated

MANY_NODES: Final = 1000
RESULTS: Final = ("bound", "waiting", "unschedulable", "error")


@dataclass(frozen=True)
class StoredAttempt:
    row: Attempt
    trace: AttemptTrace


def attempts_until(run: Run) -> QuerySet[Attempt]:
    """Of a run as it was: those whose cycle had ended there."""
    rows = Attempt.objects.filter(run=run)
    return rows if run.moment is None else rows.filter(number__lte=run.attempts)


def result_at(row: Attempt, run: Run) -> str:
    """What had become of it: one that ended later was still waiting."""
    return "waiting" if run.moment is not None and (row.ended or 0) > run.clock else row.result


def stored_attempt(key: RunKey | Run, number: int) -> StoredAttempt:
    """``key``: a Run when what it was at a moment plays a part."""
    run = key.pk if isinstance(key, Run) else run_of(key)
    kept = Attempt.objects.select_related("run").defer("run__columns").filter(run__deleted_at=None)
    row = kept.filter(run=run, number=number).first()
    if row is None:
        if not Run.objects.filter(pk=run).exists():
            raise no_such_run(run)
        raise not_found(say("Attempt {number} is not stored.", number=number))
    if isinstance(key, Run):
        row.run = key
    # Not the usage beside the traces: its whole tables are larger than a chunk.
    before = AttemptChunk.objects.filter(run=run, first__lte=number).only("first", "count", "traces")
    chunk = before.order_by("-first").first()
    if chunk is None or number >= chunk.first + chunk.count:
        refuse_if_gone(row.run)
        refuse_if_thinned(row.run, row.position or 0)
        raise not_found(say("What the plugins said in attempt {number} is no longer stored.", number=number))
    return StoredAttempt(row, decode_attempt(bytes(chunk.traces), number - chunk.first))


def stored_traces(run: UUID, numbers: Iterable[int]) -> Iterator[tuple[int, AttemptTrace]]:
    """(number, attempt) in ascending order, each chunk opened once; what is no longer stored is left out."""
    spans = list(AttemptChunk.objects.filter(run=run).order_by("first").values_list("first", "count"))
    firsts = [first for first, _ in spans]
    open_at, chunk = -1, None
    for number in sorted(set(numbers)):
        place = bisect_right(firsts, number) - 1
        if place < 0 or number >= firsts[place] + spans[place][1]:
            continue
        if place != open_at:
            blob = AttemptChunk.objects.filter(run=run, first=firsts[place]).values_list("traces", flat=True).first()
            open_at, chunk = place, None if blob is None else OpenChunk(bytes(blob))
        if chunk is not None:
            yield number, chunk[number - firsts[place]]


def pod_ref(namespace: str, name: str, record: PodRecord | None = None) -> dict[str, Any]:
    if record is not None:
        return {key: record.card[key] for key in ("namespace", "name", "workload", "tail")}
    workload, tail = split_name(name)
    return {"namespace": namespace, "name": name, "workload": workload, "tail": tail}


def attempt_row(row: Attempt) -> dict[str, Any]:
    return {
        "number": row.number,
        "pod": pod_ref(row.namespace, row.name),
        "attempt": row.attempt,
        "at": iso(row.at),
        "result": row.result,
        "node": row.node or None,
        "message": row.message,
        "score": row.score,
        "duration_us": row.duration_us,
    }


def attempt_window(
    run: Run, window: Window, *, pod: str = "", q: str = "", result: str = "", node: str = ""
) -> dict[str, Any]:
    """Newest first. Raises ApiError for a result that does not exist."""
    rows = attempts_until(run).order_by("-number")
    if pod:
        namespace, _, name = pod.partition("/")
        rows = rows.filter(namespace=namespace, name=name)
    if q:
        key = Concat("namespace", Value("/"), "name")
        rows = rows.alias(key=key).filter(key__icontains=q)
    check_choice("result", result, RESULTS)
    if result:
        rows = rows.filter(_had_result(result, run))
    if node:
        rows = rows.filter(node=node)
    return window_answer(window, rows, lambda row: {**attempt_row(row), "result": result_at(row, run)})


def _had_result(result: str, run: Run) -> Q:
    if run.moment is None:
        return Q(result=result)
    later = Q(ended__gt=run.clock)
    return Q(result="waiting") | later if result == "waiting" else Q(result=result) & ~later


def verdict(plugin: str, status: Status | None, note: str = "") -> dict[str, Any]:
    code = Code.SUCCESS if status is None else status.code
    reasons = [] if status is None else list(status.all_reasons)
    fields: dict[str, Any] = {"plugin": plugin, "code": code.name_, "reasons": reasons}
    return {**fields, "note": note} if note else fields


def state_of(statuses: Sequence[Status]) -> str:
    codes = {status.code for status in statuses}
    if Code.ERROR in codes:
        return "error"
    if any(status.is_rejected for status in statuses):
        return "rejects"
    if Code.WAIT in codes:
        return "waits"
    return "ok" if codes - {Code.SKIP} else "skipped"


def tally(statuses: Sequence[Status]) -> str:
    skipped = sum(status.code is Code.SKIP for status in statuses)
    passed = sum(status.is_success for status in statuses)
    parts = [say("{count} ok", count=passed) if passed else "", say("{count} skip", count=skipped) if skipped else ""]
    return clauses([part for part in parts if part]) or say("no plugin")


def point(name: str, state: str, note: str, plugins: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    return {"point": name, "state": state, "note": note, "plugins": list(plugins)}


def unreached(name: str) -> dict[str, Any]:
    return point(name, "not_reached", say("not reached"))


def outcomes_point(name: str, outcomes: Sequence[PluginOutcome], reached: bool) -> dict[str, Any]:
    if not reached:
        return unreached(name)
    statuses = [outcome.status for outcome in outcomes]
    verdicts = [verdict(outcome.plugin, outcome.status) for outcome in outcomes]
    return point(name, state_of(statuses), tally(statuses), verdicts)


def of_nodes(feasible: int, total: int) -> str:
    """Short enough for the box of an extension point, whatever the number."""
    if total < MANY_NODES:
        return counted("{feasible} of {count} node", "{feasible} of {count} nodes", total, feasible=feasible)
    return say("{feasible} of {total}", feasible=feasible, total=total)


def filter_point(trace: AttemptTrace, times: Times = NO_TIMES) -> dict[str, Any]:
    if trace.filter is None:
        return unreached("Filter")
    counts: dict[tuple[str, Code], int] = {}
    for index in trace.filter.verdict.tolist():
        if index > 0:
            status = trace.filter.verdicts[index]
            key = (status.plugin, status.code)
            counts[key] = counts.get(key, 0) + 1
    verdicts = [
        {
            "plugin": plugin,
            "code": code.name_,
            "reasons": [],
            "note": of_nodes(count, trace.nodes_total),
        }
        for (plugin, code), count in sorted(counts.items(), key=lambda item: -item[1])
    ]
    verdicts += calls_of(trace, "filter", times)
    failed = any(code is Code.ERROR for _, code in counts)
    state = "error" if failed else "ok" if trace.feasible_nodes else "rejects"
    note = of_nodes(trace.feasible_nodes, trace.nodes_total)
    if trace.feasible_nodes and (checked := looked_at(trace)) < trace.nodes_total:
        note += ", " + say("{count} checked", count=checked)
    return point("Filter", state, note, verdicts)


def calls_of(trace: AttemptTrace, verb: str, times: Times) -> list[dict[str, Any]]:
    """What extenders were asked at a point, as rows beside those of the plugins."""
    rows = []
    for place, call in enumerate(trace.extender_calls):
        if call.verb == verb:
            row = call_row(call)
            if place in times:
                took = say("{milliseconds} ms", milliseconds=max(1, round(times[place] / 1000)))
                row["note"] = clauses([part for part in (row.get("note", ""), took) if part])
            rows.append(row)
    return rows


def call_row(call: ExtenderCall) -> dict[str, Any]:
    if call.error:
        status = Status.as_error(call.error)
        return verdict(call.extender, status, say("passed over") if call.ignored else "")
    rejects = call.verb == "filter" and call.kept == 0
    reasons = tuple(dict.fromkeys(reason for _, reason in call.failed))
    status = Status.unschedulable(*reasons) if rejects else Status(Code.SUCCESS, reasons)
    if call.verb == "prioritize":
        return verdict(call.extender, status, counted("points for {count} node", "points for {count} nodes", call.kept))
    note = counted("left {kept} of {count} node", "left {kept} of {count} nodes", call.sent, kept=call.kept)
    return verdict(call.extender, status, note)


def post_filter_point(trace: AttemptTrace, times: Times = NO_TIMES) -> dict[str, Any]:
    if not trace.post_filter:
        reached = trace.feasible_nodes > 0
        return point(
            "PostFilter", "skipped" if reached else "not_reached", say("not needed") if reached else say("not reached")
        )
    verdicts = [verdict(each.plugin, each.status) for each in trace.post_filter] + calls_of(trace, "preempt", times)
    nominated = next((each for each in trace.post_filter if each.nominated_node), None)
    state = "ok" if nominated else state_of([each.status for each in trace.post_filter])
    return point("PostFilter", state, translated(victims_words(trace)), verdicts)


def pre_filter_point(trace: AttemptTrace) -> dict[str, Any]:
    statuses = [each.status for each in trace.pre_filter]
    verdicts = [
        verdict(
            each.plugin,
            each.status,
            "" if each.node_names is None else counted("only {count} node", "only {count} nodes", len(each.node_names)),
        )
        for each in trace.pre_filter
    ]
    state = "rejects" if trace.pre_filter_status is not None else state_of(statuses)
    return point("PreFilter", state, tally(statuses), verdicts)


def score_points(trace: AttemptTrace, times: Times = NO_TIMES) -> list[dict[str, Any]]:
    if trace.feasible_nodes == 1:
        note = say("only one node")
        return [point("PreScore", "skipped", note), point("Score", "skipped", note)]
    if trace.scores is None:
        return [
            outcomes_point("PreScore", trace.pre_score, bool(trace.pre_score)),
            point("Score", "not_reached", say("not reached")),
        ]
    best = int(trace.scores.total.max()) if len(trace.scores.total) else 0
    ties = len(trace.scores.candidates)
    note = say("best {best}, {ties} equal", best=best, ties=ties) if ties > 1 else say("best {best}", best=best)
    verdicts = [verdict(each.plugin, None, say("weight {weight}", weight=each.weight)) for each in trace.scores.plugins]
    verdicts += calls_of(trace, "prioritize", times)
    return [outcomes_point("PreScore", trace.pre_score, reached=True), point("Score", "ok", note, verdicts)]


def binding_points(trace: AttemptTrace, ending: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Reserve to PostBind. What came after the scheduling cycle was stored when it came."""
    placed = bool(trace.selected)
    permit = [verdict(each.plugin, each.status, waits(each.timeout_seconds)) for each in trace.permit]
    permit_state = state_of([each.status for each in trace.permit])
    permit_note = tally([each.status for each in trace.permit])
    later: dict[str, Any] = ending or {}
    if permit_state == "waits":
        permit_note = say("waits")
        if later.get("permit"):
            permit_state, permit_note = later["permit"]["state"], translated(later["permit"]["note"])
    reserved = placed and not any(not each.status.is_success for each in trace.reserve)
    points = [outcomes_point("Reserve", trace.reserve, placed)]
    points.append(
        point("Permit", permit_state, permit_note, permit)
        if reserved
        else point("Permit", "not_reached", say("not reached"))
    )
    stored = {each["point"]: {**each, "note": translated(each["note"])} for each in later.get("points", ())}
    for name in ("PreBind", "Bind", "PostBind"):
        points.append(stored.get(name) or unreached(name))
    return points


def waits(seconds: float) -> str:
    return say("up to {seconds:g} s", seconds=seconds) if seconds else ""


def victim_bodies(row: Attempt, chosen: PostFilterOutcome) -> list[dict[str, Any]]:
    nodes, bodies = nodes_of(row.run, row.number, chosen, chosen.victims), []
    for victim in chosen.victims:
        namespace, _, name = victim.partition("/")
        bodies.append({**pod_ref(namespace, name), "node": nodes.get(victim, chosen.nominated_node)})
    return bodies


def was_sampled(trace: AttemptTrace) -> bool:
    """Whether percentageOfNodesToScore ended the search before every node that came into question was looked at."""
    if trace.filter is None or trace.nominated_node_used or trace.batched_with or passed_plugins(trace) < 2:
        return False
    lists = [each.node_names for each in trace.pre_filter if each.node_names is not None]
    if not lists:
        return looked_at(trace) < trace.nodes_total
    wanted = set(lists[0]).intersection(*lists[1:])
    return looked_at(trace) < len(wanted.intersection(trace.filter.nodes))


def looked_at(trace: AttemptTrace) -> int:
    """Nodes of which plugins were asked. Where extenders left some out, the trace's own figure lacks these."""
    if trace.filter is None or not extenders_filtered(trace):
        return trace.evaluated_nodes
    return int(np.count_nonzero(trace.filter.verdict != NOT_EVALUATED))


def passed_plugins(trace: AttemptTrace) -> int:
    """Nodes that all plugins let pass, whatever extenders said of them."""
    if trace.filter is None or not extenders_filtered(trace):
        return trace.feasible_nodes
    return int(np.count_nonzero(trace.filter.verdict == FEASIBLE))


def extenders_filtered(trace: AttemptTrace) -> bool:
    return any(call.verb == "filter" for call in trace.extender_calls)


def attempt_body(stored: StoredAttempt) -> dict[str, Any]:
    row, trace = stored.row, stored.trace
    nominated = next((each for each in trace.post_filter if each.nominated_node), None)
    enqueued = point("PreEnqueue", "ok", say("passed"))
    calls = calls_of_attempt(row, trace)
    times = times_of(calls)
    return {
        "number": row.number,
        "pod": pod_ref(row.namespace, row.name),
        "attempt": row.attempt,
        "at": iso(row.at),
        "cycle": trace.cycle,
        "profile": row.profile,
        "result": row.result,
        "node": row.node or None,
        "points": [
            enqueued,
            pre_filter_point(trace),
            filter_point(trace, times),
            post_filter_point(trace, times),
            *score_points(trace, times),
            *binding_points(trace, row.ending),
        ],
        "message": row.message,
        "nominated": nominated.nominated_node if nominated else None,
        "victims": [] if nominated is None else victim_bodies(row, nominated),
        "decisions": decisions_body(trace.decisions),
        "asked_extenders": bool(calls),
        "sampling": {
            "checked": looked_at(trace),
            "feasible": trace.feasible_nodes,
            "of": trace.nodes_total,
            "sampled": was_sampled(trace),
            "nominated": trace.nominated_node_used,
            "batched_with": trace.batched_with or None,
        },
    }

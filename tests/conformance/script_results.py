"""What a scripted case shows of attempts, calls and queues, in the form of tests/conformance/SCRIPT.md#result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from framework.interface import Status
from framework.objects import Pod
from framework.scheduler import Attempt, Scheduler

SECOND = 1_000_000_000
_NODE_CALLS = ("Filter", "AddPod")


def name_of(key: str) -> str:
    return key.partition("/")[2]


def number(value: float) -> int | float:
    return int(value) if value == int(value) else value


def status_entry(status: Status) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    if status.plugin:
        entry["plugin"] = status.plugin
    entry["code"] = status.code.name_
    if status.all_reasons:
        entry["reasons"] = list(status.all_reasons)
    return entry


def attempt_outcome(trace: Attempt, *, first: bool) -> dict[str, Any]:
    outcome: dict[str, Any] = {"pod": name_of(trace.pod), "attempt": trace.attempt, "result": trace.result}
    if trace.selected:
        outcome["node"] = trace.selected
        if first:
            outcome["evaluatedNodes"] = trace.evaluated_nodes
            outcome["feasibleNodes"] = trace.feasible_nodes
            _add_scores(outcome, trace)
    if trace.result == "waiting":
        outcome["waitingFor"] = {plugin: number(seconds) for plugin, seconds in trace.waiting_for.items()}
    if trace.result == "failed":
        _add_failure(outcome, trace)
    return outcome


def _add_scores(outcome: dict[str, Any], trace: Attempt) -> None:
    if trace.scores is None or trace.filter is None:
        return
    names = trace.filter.nodes
    shown = {}
    for i, position in enumerate(trace.scores.positions.tolist()):
        shown[names[position]] = {
            "raw": {each.plugin: int(each.raw[i]) for each in trace.scores.plugins},
            "normalized": {each.plugin: int(each.normalized[i]) for each in trace.scores.plugins},
            "total": int(trace.scores.total[i]),
        }
    outcome["scores"] = shown
    outcome["candidates"] = sorted(names[position] for position in trace.scores.candidates.tolist())


def _add_failure(outcome: dict[str, Any], trace: Attempt) -> None:
    assert trace.status is not None
    outcome["code"] = trace.status.code.name_
    outcome["reason"] = trace.reason
    if trace.message:
        outcome["message"] = trace.message
    if trace.fit_error:
        outcome["fitError"] = True
        nodes = _explicit(trace)
        if nodes:
            outcome["nodes"] = nodes
        if trace.absent_status is not None and len(nodes) < trace.fit_error_nodes:
            outcome["absentNodes"] = status_entry(trace.absent_status)
        if trace.unschedulable_plugins:
            outcome["unschedulablePlugins"] = list(trace.unschedulable_plugins)
        if trace.pending_plugins:
            outcome["pendingPlugins"] = list(trace.pending_plugins)
    if trace.status.plugin:
        outcome["statusPlugin"] = trace.status.plugin
    outcome["nomination"] = {None: "keep", "": "clear"}.get(trace.nomination, trace.nomination)


def _explicit(trace: Attempt) -> dict[str, Any]:
    if trace.placed_status is not None:
        return {trace.selected: status_entry(trace.placed_status)}
    if trace.filter is None:
        return {}
    failing = np.flatnonzero(trace.filter.verdict > 0).tolist()
    return {trace.filter.nodes[i]: status_entry(trace.filter.verdicts[trace.filter.verdict[i]]) for i in failing}


def sorted_calls(calls: Sequence[list[str]]) -> list[list[str]]:
    """Sorted inside runs of one kind: Filter and AddPod, Score of one pod by node; PreEnqueue by pod."""
    result: list[list[str]] = []
    run: list[list[str]] = []
    kind: tuple[str, str] | None = None
    for call in calls:
        mine = _run_of(call)
        if mine != kind:
            result += _sorted_run(run, kind)
            run, kind = [], mine
        run.append(call)
    return result + _sorted_run(run, kind)


def _run_of(call: list[str]) -> tuple[str, str] | None:
    point, _, pod, *_ = call
    if point in _NODE_CALLS:
        return ("Filter", pod)
    if point == "Score":
        return ("Score", pod)
    return ("PreEnqueue", "") if point == "PreEnqueue" else None


def _sorted_run(run: list[list[str]], kind: tuple[str, str] | None) -> list[list[str]]:
    if kind is None:
        return run
    return sorted(run, key=lambda call: call[2] if kind[0] == "PreEnqueue" else call[3])


def queue_of(scheduler: Scheduler, start: int) -> dict[str, Any]:
    state = scheduler.queue_state()
    rejected = [pod for pod in state.backoff if not pod.after_error]
    errors = sorted((pod for pod in state.backoff if pod.after_error), key=lambda p: (p.backoff_until or 0, p.key))
    backoff = []
    for pod in (*rejected, *errors):
        entry: dict[str, Any] = {"pod": name_of(pod.key), "until": number(((pod.backoff_until or 0) - start) / SECOND)}
        if pod.after_error:
            entry["error"] = True
        backoff.append(entry)
    pods = {pod.metadata.uid: pod for pod in scheduler.cluster.list(Pod)}
    return {
        "active": [name_of(pod.key) for pod in state.active],
        "backoff": backoff,
        "unschedulable": [
            {
                "pod": name_of(pod.key),
                **({"plugins": list(pod.unschedulable_plugins)} if pod.unschedulable_plugins else {}),
                **({"pending": list(pod.pending_plugins)} if pod.pending_plugins else {}),
            }
            for pod in sorted(state.unschedulable, key=lambda pod: pod.key)
        ],
        "gated": [
            {
                "pod": name_of(pod.key),
                **({"plugins": list(pod.unschedulable_plugins)} if pod.unschedulable_plugins else {}),
                **({"pending": list(pod.pending_plugins)} if pod.pending_plugins else {}),
                "gatedBy": pod.gating_plugin,
            }
            for pod in sorted(state.gated, key=lambda pod: pod.key)
        ],
        "waiting": [
            {"pod": name_of(entry.key), "plugins": sorted(entry.deadlines)}
            for entry in sorted(state.waiting, key=lambda entry: entry.key)
        ],
        "inFlight": sorted(uid.removeprefix("uid-") for uid in state.in_flight),
        "bound": {pod.metadata.name: pod.spec.node_name for pod in pods.values() if pod.spec.node_name},
        "nominated": {
            pod.metadata.name: pod.status.nominated_node_name for pod in pods.values() if pod.status.nominated_node_name
        },
    }

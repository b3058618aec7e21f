"""An attempt as kube-scheduler-simulator writes it on a pod: annotations with JSON texts (source: docs/formats.md).

Names and shapes are the simulator's: what passed says "passed" or "success", scores are texts, and a plugin that was
not called is not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from framework.interface import Code, Status
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED, AttemptTrace

PREFIX: Final = "kube-scheduler-simulator.sigs.k8s.io/"
HISTORY: Final = f"{PREFIX}result-history"
MOST_BYTES: Final = 256 * 1024
"""All annotations of an object together (apimachinery's TotalAnnotationSizeLimitB): the history is cut to it."""
PASSED: Final = "passed"
SUCCESS: Final = "success"
WAIT: Final = "wait"
VICTIM: Final = "preemption victim"

Results = dict[str, str]


def text(value: Any) -> str:
    """JSON with its keys in order, as Go writes maps."""
    return msgspec.json.encode(value, order="deterministic").decode()


def status_text(status: Status) -> str:
    return SUCCESS if status.is_success else status.message


def go_duration(seconds: float) -> str:
    """As Go's Duration.String: 0s, 1.5s, 15m0s, 1h0m0s; below a second in ms."""
    nanoseconds = round(seconds * 1_000_000_000)
    if nanoseconds == 0:
        return "0s"
    for unit, size in (("ns", 1), ("µs", 1_000), ("ms", 1_000_000)):
        if nanoseconds < size * 1000:
            return f"{shortest(nanoseconds / size)}{unit}"
    minutes, rest = divmod(nanoseconds, 60_000_000_000)
    hours, minutes = divmod(minutes, 60)
    tail = f"{shortest(rest / 1_000_000_000)}s"
    return f"{hours}h{minutes}m{tail}" if hours else f"{minutes}m{tail}" if minutes else tail


def shortest(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".")


def filter_result(trace: AttemptTrace, plugins: Sequence[str]) -> dict[str, dict[str, str]]:
    """``plugins``: those with Filter, in the profile's order. They run until one refuses the node."""
    if trace.filter is None or trace.pre_filter_status is not None:
        return {}
    skipped = {each.plugin for each in trace.pre_filter if each.status.code is Code.SKIP}
    called = [plugin for plugin in plugins if plugin not in skipped]
    passed = dict.fromkeys(called, PASSED)
    by_verdict: dict[int, dict[str, str]] = {FEASIBLE: passed}
    for index, status in enumerate(trace.filter.verdicts[1:], start=1):
        before = called[: called.index(status.plugin)] if status.plugin in called else []
        by_verdict[index] = {**dict.fromkeys(before, PASSED), status.plugin: status.message}
    return {
        node: by_verdict[verdict]
        for node, verdict in zip(trace.filter.nodes, trace.filter.verdict.tolist(), strict=True)
        if verdict != NOT_EVALUATED
    }


def post_filter_result(trace: AttemptTrace) -> dict[str, dict[str, str]]:
    """Every node that was refused is there; the one that a plugin nominated says so."""
    if not trace.post_filter or trace.filter is None:
        return {}
    refused = zip(trace.filter.nodes, trace.filter.verdict.tolist(), strict=True)
    found: dict[str, dict[str, str]] = {node: {} for node, verdict in refused if verdict > FEASIBLE}
    for each in trace.post_filter:
        if each.status.is_success and each.nominated_node:
            found.setdefault(each.nominated_node, {})[each.plugin] = VICTIM
    return found


def scores(trace: AttemptTrace) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    """(raw scores, normalised ones times their weights), by node and plugin."""
    if trace.scores is None or trace.filter is None:
        return {}, {}
    names = [trace.filter.nodes[position] for position in trace.scores.positions.tolist()]
    raw: dict[str, dict[str, str]] = {name: {} for name in names}
    final: dict[str, dict[str, str]] = {name: {} for name in names}
    for each in trace.scores.plugins:
        weighted = (each.normalized * each.weight).tolist()
        for name, score, points in zip(names, each.raw.tolist(), weighted, strict=True):
            raw[name][each.plugin] = str(score)
            final[name][each.plugin] = str(points)
    return raw, final


def permit_results(trace: AttemptTrace) -> tuple[dict[str, str], dict[str, str]]:
    statuses = {
        each.plugin: WAIT if each.status.code is Code.WAIT else status_text(each.status) for each in trace.permit
    }
    return statuses, {each.plugin: go_duration(each.timeout_seconds) for each in trace.permit}


def bound_point(ending: dict[str, Any] | None, name: str) -> dict[str, str]:
    """PreBind and Bind come after the cycle: they stand in the attempt's row (schedweb/engine/outcomes.py)."""
    for point in (ending or {}).get("points", ()):
        if point["point"] == name:
            return {
                each["plugin"]: SUCCESS if each["code"] == Code.SUCCESS.name_ else ", ".join(each["reasons"])
                for each in point["plugins"]
            }
    return {}


def results_of(trace: AttemptTrace, ending: dict[str, Any] | None, filter_plugins: Sequence[str]) -> Results:
    raw, final = scores(trace)
    permit, timeouts = permit_results(trace)
    node_lists = {each.plugin: list(each.node_names) for each in trace.pre_filter if each.node_names is not None}
    made = {
        "prefilter-result": node_lists,
        "prefilter-result-status": {each.plugin: status_text(each.status) for each in trace.pre_filter},
        "filter-result": filter_result(trace, filter_plugins),
        "postfilter-result": post_filter_result(trace),
        "prescore-result": {each.plugin: status_text(each.status) for each in trace.pre_score},
        "score-result": raw,
        "finalscore-result": final,
        "reserve-result": {each.plugin: status_text(each.status) for each in trace.reserve},
        "permit-result": permit,
        "permit-result-timeout": timeouts,
        "prebind-result": bound_point(ending, "PreBind"),
        "bind-result": bound_point(ending, "Bind"),
    }
    return {
        **{f"{PREFIX}{name}": text(value) for name, value in made.items()},
        f"{PREFIX}selected-node": trace.selected,
    }


def annotations_of(attempts: Iterable[Results]) -> Results:
    """Of all attempts, oldest first: the newest as it is, all of them as the history, of which the oldest give way."""
    history = list(attempts)
    if not history:
        return {}
    sizes = [len(text(each).encode()) + 1 for each in history]
    total, first = 1 + sum(sizes), 0
    while first < len(history) and total > MOST_BYTES:
        total -= sizes[first]
        first += 1
    newest = dict(history[-1])
    if first < len(history):
        newest[HISTORY] = text(history[first:])
    return newest

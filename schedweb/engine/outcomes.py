"""What an attempt's trace says to a person: who refused how many nodes, scores and margins, how it ended."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from framework.interface import SUCCESS, Code, Status
from framework.objects.timestamps import SECOND
from framework.preemption.proposals import WAITS
from framework.sentences import Sentence, Words, counted_sentence, sentence
from framework.trace.attempt import AttemptTrace
from framework.trace.extended import after_extenders

NO_PLUGIN: Final = sentence("no plugin")
STATE_NOTES: Final[dict[str, Words]] = {
    "ok": sentence("pass"),
    "error": sentence("error"),
    "rejects": sentence("rejects"),
    "skipped": sentence("skipped"),
}


def rejectors_of(trace: AttemptTrace) -> tuple[tuple[str, int], ...]:
    """(plugin, nodes), most nodes first. A rejection before or after Filter counts for all nodes or for one."""
    if trace.placed_status is not None:
        return ((trace.placed_status.plugin, 1),)
    if trace.pre_filter_status is not None:
        return ((trace.pre_filter_status.plugin, trace.nodes_total),)
    counts: dict[str, int] = {}
    if (found := after_extenders(trace)) is not None:
        sizes = np.bincount(found.verdict[found.verdict > 0], minlength=len(found.verdicts))
        for index, size in enumerate(sizes.tolist()):
            if index and size:
                plugin = found.verdicts[index].plugin
                counts[plugin] = counts.get(plugin, 0) + size
        if trace.absent_status is not None and trace.absent_status.plugin:
            absent = int(np.count_nonzero(found.verdict < 0))
            if absent:
                plugin = trace.absent_status.plugin
                counts[plugin] = counts.get(plugin, 0) + absent
    if not counts and trace.status is not None and trace.status.plugin:
        counts[trace.status.plugin] = 0
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def score_of(trace: AttemptTrace) -> tuple[int, int, int] | None:
    """(best total, margin to the best node below it, how many share the best)."""
    scores = trace.scores
    return None if scores is None or not scores.places else (scores.best, scores.margin, scores.ties)


def score_words(trace: AttemptTrace) -> Words:
    scored = score_of(trace)
    if scored is None:
        if trace.nominated_node_used and trace.nominated_node_used == trace.selected:
            return sentence("the node that was kept for it")
        if trace.batched_with:
            return sentence("the next best node of {pod}", pod=trace.batched_with)
        return sentence("the only feasible node") if trace.feasible_nodes == 1 else ""
    best, _, ties = scored
    return (
        sentence("score {best}, 1 of {ties} equal", best=best, ties=ties)
        if ties > 1
        else sentence("score {best}", best=best)
    )


def bound_words(trace: AttemptTrace) -> tuple[Sentence, Sentence]:
    """Of {pod}: alone, and of several pods, which names no node."""
    why, node = score_words(trace), {"t": "node", "v": trace.selected}
    if not why:
        return sentence("{pod} bound to {node}.", node=node), sentence("{pod} bound.")
    return sentence("{pod} bound to {node}, {why}.", node=node, why=why), sentence("{pod} bound, {why}.", why=why)


def victims_words(trace: AttemptTrace) -> Sentence:
    """``2 victims on node-7``."""
    nominated = next((each for each in trace.post_filter if each.nominated_node), None)
    if nominated is None:
        reasons = (reason for each in trace.post_filter for reason in each.status.all_reasons)
        return sentence("asks a person") if any(WAITS in each for each in reasons) else sentence("no victims")
    victims = len(nominated.victims)
    return counted_sentence(
        "{count} victim on {node}", "{count} victims on {node}", victims, node=nominated.nominated_node
    )


def message_tail(trace: AttemptTrace) -> str:
    """`0/36 nodes are available: 24 Insufficient cpu. …` → what comes after the colon, up to PostFilter's part."""
    _, colon, rest = trace.message.partition(" nodes are available: ")
    if not colon:
        return trace.message
    after = next((reason for each in trace.post_filter for reason in each.status.all_reasons), "")
    return rest.partition(f" {after}")[0] if after else rest


def status_body(plugin: str, status: Status) -> dict[str, Any]:
    return {"plugin": plugin, "code": status.code.name_, "reasons": list(status.all_reasons)}


def point_state(statuses: list[Status]) -> str:
    codes = {status.code for status in statuses}
    if Code.ERROR in codes:
        return "error"
    if any(status.is_rejected for status in statuses):
        return "rejects"
    return "ok" if codes - {Code.SKIP} else "skipped"


def ending_of(trace: AttemptTrace) -> dict[str, Any] | None:
    """Everything after Permit: stored with the attempt's row, since it may come long after its scheduling cycle."""
    if not trace.selected:
        return None
    points: list[dict[str, Any]] = []
    for name, outcomes in (("PreBind", trace.pre_bind), ("Bind", trace.bind)):
        if outcomes:
            statuses = [outcome.status for outcome in outcomes]
            answers = [status_body(outcome.plugin, outcome.status) for outcome in outcomes]
            state = point_state(statuses)
            by = next((outcome.plugin for outcome in outcomes if outcome.status.is_success), "")
            note: Words = by if name == "Bind" and by else STATE_NOTES[state]
            points.append({"point": name, "state": state, "note": note, "plugins": answers})
        elif name == "Bind" and (call := next((each for each in trace.extender_calls if each.verb == "bind"), None)):
            failed = Status.as_error(call.error) if call.error else SUCCESS
            state = point_state([failed])
            answers = [status_body(call.extender, failed)]
            points.append({"point": name, "state": state, "note": call.extender, "plugins": answers})
        elif trace.result == "bound":
            points.append({"point": name, "state": "skipped", "note": NO_PLUGIN, "plugins": []})
    if trace.result == "bound":
        answers = [{"plugin": plugin, "code": "Success", "reasons": []} for plugin in trace.post_bind]
        state, note = ("ok", STATE_NOTES["ok"]) if answers else ("skipped", NO_PLUGIN)
        points.append({"point": "PostBind", "state": state, "note": note, "plugins": answers})
    ending: dict[str, Any] = {"points": points}
    signal = trace.wait_on_permit
    if signal is not None:
        waited = (trace.finished_at - trace.at) / SECOND if trace.finished_at else 0.0
        ok = signal.is_success
        state = "ok" if ok else "error" if signal.code is Code.ERROR else "rejects"
        note = sentence("allowed after {seconds} s", seconds=waited) if ok else signal.message
        ending["permit"] = {"state": state, "note": note}
    return ending

"""Preemption explained: the candidates of one attempt and why each lost; who preempted whom over the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from django.db.models import Q, QuerySet

from framework.interface import Code
from framework.plugins.crossnodepreemption.plugin import NOBODY as NOBODY_ACROSS
from framework.plugins.crossnodepreemption.search import MOST_TRIES
from framework.preemption.choice import CRITERIA
from framework.preemption.evaluator import NOT_HELPFUL
from framework.preemption.proposals import REJECTED
from framework.preemption.victims import NO_VICTIMS
from framework.trace.attempt import AttemptTrace, CandidateNode, PostFilterOutcome
from schedweb.api.windows import Window, window_answer
from schedweb.engine.times import iso
from schedweb.runs.attempts.selectors import StoredAttempt, pod_ref
from schedweb.runs.attempts.spared import PLUGIN as TOLERATION
from schedweb.runs.attempts.spared import SHOWN, Spared, spared_body, spared_pods
from schedweb.runs.attempts.victims import ACROSS, nodes_of
from schedweb.runs.models import Preemption, Run
from schedweb.sentences import clauses, counted, noted, say

NODES_SHOWN: Final = 20
BUDGETS, HIGHEST, SUM, COUNT, START = CRITERIA
#: As framework.preemption.choice names them.
_TEXTS: Final = (
    noted("fewest PodDisruptionBudget violations"),
    noted("lowest priority of the most important victim"),
    noted("smallest sum of victims' priorities"),
    noted("fewest victims"),
    noted("latest start of the most important victims"),
)


def preempting(trace: AttemptTrace) -> PostFilterOutcome | None:
    """The answer worth explaining: the plugin that found a node, or proposed an eviction; else the one that looked for
    a node."""
    looked = [each for each in trace.post_filter if each.nominated_node is not None]
    return next((each for each in looked if each.nominated_node or each.victims), looked[-1] if looked else None)


def eligible(trace: AttemptTrace) -> Iterator[str]:
    """Nodes where Filter answered Unschedulable: only there the eviction of pods can help."""
    found = trace.filter
    if found is None:
        return
    for position, name in enumerate(found.nodes):
        status = found.status(position) or trace.absent_status
        if status is not None and status.code is Code.UNSCHEDULABLE:
            yield name


def lost_words(one: CandidateNode, chosen: CandidateNode) -> str:
    """Why `one` is not the chosen node, with both numbers where there are numbers."""
    if one.lost_by == BUDGETS:
        return counted(
            "{count} budget violated, {chosen} on the chosen node",
            "{count} budgets violated, {chosen} on the chosen node",
            one.pdb_violations,
            chosen=chosen.pdb_violations,
        )
    if one.lost_by == HIGHEST and one.priorities and chosen.priorities:
        return say(
            "a victim of priority {highest:,}, {chosen:,} on the chosen node",
            highest=one.priorities[0],
            chosen=chosen.priorities[0],
        )
    if one.lost_by == SUM and len(one.victims) == len(chosen.victims):
        return say(
            "victims' priorities add up to {sum:,}, {chosen:,} on the chosen node",
            sum=sum(one.priorities),
            chosen=sum(chosen.priorities),
        )
    if one.lost_by in (SUM, COUNT):
        return counted(
            "{count} victim, {chosen} on the chosen node",
            "{count} victims, {chosen} on the chosen node",
            len(one.victims),
            chosen=len(chosen.victims),
        )
    if one.lost_by == START:
        return say("its most important victim has run longer than that of the chosen node")
    return one.lost_by


def standing(one: CandidateNode, outcome: PostFilterOutcome) -> tuple[int, int, str]:
    """The chosen one first, then its equals, then whoever lost later."""
    chosen = one.node != outcome.nominated_node
    lost = len(CRITERIA) - CRITERIA.index(one.lost_by) if one.lost_by in CRITERIA else 0
    return int(chosen), lost, one.node


def victim_bodies(one: CandidateNode, nodes: Mapping[str, str]) -> list[dict[str, Any]]:
    """``nodes``: of victims that were elsewhere."""
    priorities = one.priorities or (None,) * len(one.victims)
    bodies = []
    for victim, priority in zip(one.victims, priorities, strict=True):
        namespace, _, name = victim.partition("/")
        there = nodes.get(victim, one.node)
        elsewhere = "" if there == one.node else there
        bodies.append({**pod_ref(namespace, name), "priority": priority, "node": elsewhere})
    return bodies


def candidate_body(
    one: CandidateNode, outcome: PostFilterOutcome, chosen: CandidateNode | None, nodes: Mapping[str, str]
) -> dict[str, Any]:
    return {
        "node": one.node,
        "chosen": one.node == outcome.nominated_node,
        "equal": one.node in outcome.nominated_any,
        "victims": victim_bodies(one, nodes),
        "pdb_violations": one.pdb_violations,
        "lost_by": one.lost_by,
        "lost_text": lost_words(one, chosen) if chosen is not None and one.lost_by else "",
    }


def other_groups(trace: AttemptTrace, outcome: PostFilterOutcome) -> list[dict[str, Any]]:
    """Nodes that were no candidates by reason, most nodes first; those that were not tried last."""
    known = {one.node for one in outcome.candidates}.union(outcome.not_tried, *(nodes for _, nodes in outcome.refused))
    possible = list(eligible(trace))
    groups = [group_body("refused", reason, nodes) for reason, nodes in outcome.refused]
    others = [name for name in possible if name not in known]
    if outcome.plugin == ACROSS:
        groups.append(group_body("no_set", say("No set of pods that leaves makes room there"), others))
    else:
        groups.append(group_body("no_victims", NO_VICTIMS.message, others))
    everything = () if trace.filter is None else trace.filter.nodes
    helpful = {*possible, *known}
    groups.append(group_body("not_helpful", NOT_HELPFUL.message, [name for name in everything if name not in helpful]))
    groups.sort(key=lambda group: -group["count"])
    if outcome.plugin == ACROSS:
        groups.append(group_body("gave_up", say("Ended after {count:,} tries", count=MOST_TRIES), outcome.not_tried))
    else:
        groups.append(group_body("not_tried", say("Enough candidates had been found"), outcome.not_tried))
    return [group for group in groups if group["count"]]


def group_body(kind: str, reason: str, nodes: Sequence[str]) -> dict[str, Any]:
    return {"kind": kind, "reason": reason, "count": len(nodes), "nodes": list(nodes[:NODES_SHOWN])}


def preemption_body(stored: StoredAttempt, window: Window) -> dict[str, Any]:
    trace = stored.trace
    outcome = preempting(trace)
    body: dict[str, Any] = {
        "plugin": "",
        "message": "",
        "nominated": None,
        "headline": headline(trace, outcome),
        "groups": [],
        "spared": [],
        "spared_count": 0,
        "count": 0,
        "offset": window.offset,
        "limit": window.limit,
        "candidates": [],
    }
    if outcome is None:
        return body
    ordered = sorted(outcome.candidates, key=lambda one: standing(one, outcome))
    chosen = next((one for one in ordered if one.node == outcome.nominated_node), None)
    spared = spared_in(stored)
    shown = window.cut(ordered)
    victims = {victim for one in shown for victim in one.victims}
    nodes = nodes_of(stored.row.run, stored.row.number, outcome, victims)
    return {
        **body,
        "plugin": outcome.plugin,
        "message": outcome.status.message,
        "nominated": outcome.nominated_node or None,
        "groups": other_groups(trace, outcome),
        "spared": [spared_body(each) for each in spared[:SHOWN]],
        "spared_count": len(spared),
        "count": len(ordered),
        "candidates": [candidate_body(one, outcome, chosen, nodes) for one in shown],
    }


def spared_in(stored: StoredAttempt) -> list[Spared]:
    """Pods that PreemptionToleration would not take, on nodes where it looked for victims."""
    outcome = preempting(stored.trace)
    if outcome is None or outcome.plugin != TOLERATION:
        return []
    return spared_pods(stored.row.run, stored.row, eligible(stored.trace))


def headline(trace: AttemptTrace, outcome: PostFilterOutcome | None) -> str:
    """One sentence: which node won and by what, or that nothing helps."""
    if outcome is None:
        message = next((each.status.message for each in trace.post_filter if each.status.message), "")
        if message == NOBODY_ACROSS.message:
            return say("No set of pods of lower priority that leaves makes room on any of their nodes.")
        message = message.removeprefix("preemption: ").rstrip(".")
        return f"{message[:1].upper()}{message[1:]}." if message else say("Nobody looked for victims.")
    if not outcome.nominated_node:
        if outcome.victims:
            return proposed(outcome)
        if REJECTED in outcome.status.message:
            message = outcome.status.message.removeprefix("preemption: ").rstrip(".")
            return f"{message[:1].upper()}{message[1:]}."
        possible = sum(1 for _ in eligible(trace))
        if possible == 0:
            return say("No pod that leaves would help on any node.")
        return counted(
            "On none of the {count} node where room could be made is it enough.",
            "On none of the {count} nodes where room could be made is it enough.",
            possible,
        )
    node = outcome.nominated_node
    made_room = (
        counted(
            "{count} pod had to leave for room on {node}",
            "{count} pods had to leave for room on {node}",
            len(outcome.victims),
            node=node,
        )
        if outcome.plugin == ACROSS
        else counted(
            "{count} pod had to leave {node}", "{count} pods had to leave {node}", len(outcome.victims), node=node
        )
    )
    others = len(outcome.candidates) - 1
    if others == 0:
        return say("{made_room}, the only candidate.", made_room=made_room)
    equal = len(outcome.nominated_any) - 1
    if equal == others:
        also = counted("{count} other candidate was equal.", "{count} other candidates were equal.", others)
        return f"{made_room}; {also}"
    last = max((CRITERIA.index(one.lost_by) for one in outcome.candidates if one.lost_by in CRITERIA), default=None)
    parts = [made_room]
    if last is not None:
        criterion = say(_TEXTS[last])
        parts.append(say("the best of {count} candidates by {criterion}", count=others + 1, criterion=criterion))
    if equal:
        parts.append(say("1 of {count} equal", count=equal + 1))
    return say("{clauses}.", clauses=clauses(parts))


def proposed(outcome: PostFilterOutcome) -> str:
    """Of an eviction that a person is asked about."""
    victims = list(outcome.victims)
    node = next((one.node for one in outcome.candidates if list(one.victims) == victims), "")
    return counted(
        "A person is asked whether {count} pod is to be evicted for room on {node}.",
        "A person is asked whether {count} pods are to be evicted for room on {node}.",
        len(victims),
        node=node,
    )


# --- over the run -----------------------------------------------------------------------------------------------------


def preemption_row(row: Preemption) -> dict[str, Any]:
    return {
        "number": row.number,
        "attempt": row.attempt,
        "at": iso(row.at),
        "node": row.node,
        "pod": {**pod_ref(row.namespace, row.name), "priority": row.priority},
        "victim": {**pod_ref(row.victim_namespace, row.victim_name), "priority": row.victim_priority},
    }


def preemptions_until(run: Run) -> QuerySet[Preemption]:
    rows = Preemption.objects.filter(run=run)
    return rows if run.moment is None else rows.filter(number__lte=run.attempts)


def preemption_window(run: Run, window: Window, *, pod: str = "") -> dict[str, Any]:
    """One row per victim, newest preemption first. `pod`: preemptor or victim."""
    rows = preemptions_until(run)
    if pod:
        namespace, _, name = pod.partition("/")
        preemptor = Q(namespace=namespace, name=name)
        rows = rows.filter(preemptor | Q(victim_namespace=namespace, victim_name=name))
    return window_answer(window, rows, preemption_row)


def preempted_by(run: Run, uid: str) -> dict[str, Any] | None:
    """The newest preemption that this pod was a victim of."""
    row = preemptions_until(run).filter(victim_uid=uid).first()
    return None if row is None else preemption_row(row)

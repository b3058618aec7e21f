"""What kube-scheduler's log says of one attempt, read off its trace.

Upstream: pkg/scheduler/schedule_one.go `schedulingCycle` and what it calls (1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from framework.configuration.effective import EffectiveProfile
from framework.interface.node_info import PodInfo
from framework.interface.plugin import Plugin, SignPlugin
from framework.interface.status import Code
from framework.objects import Pod
from framework.profiles.batch import HintTold, KeptTold
from framework.profiles.build import EnabledPlugins
from framework.reports import klog
from framework.trace.attempt import AttemptTrace, PostFilterOutcome

PREEMPTION: Final = "DefaultPreemption"
SPREAD: Final = "PodTopologySpread"
_LOGGER: Final = f"PostFilter.{PREEMPTION}"
_BATCH: Final = "OpportunisticBatch"


class Entry(NamedTuple):
    level: int
    """It is printed at this ``-v`` and above."""
    place: str
    message: str
    values: dict[str, Any]


class Known(NamedTuple):
    """What is known of a pod beside its trace."""

    pod: Pod | None
    """None when it is gone."""
    is_never_batched: bool = False
    """No plugin would sign it, so that upstream's batching has nothing for it."""
    has_claims_plugin: bool = False
    """Its profile runs DynamicResources at PreFilter."""
    batching: Sequence[HintTold | KeptTold] = ()
    """What batching said in its cycle."""


def why_unsigned(pod: Pod | None, profile: EffectiveProfile | None) -> str:
    """Why PodTopologySpread signs no such pod; "" where it might. Upstream podtopologyspread ``SignPod``."""
    args = None if profile is None else profile.args.get(SPREAD)
    if args is None:
        return ""
    if pod is not None and pod.spec.topology_spread_constraints:
        return "pods with topology constraints are not signable"
    if args.defaulting_type == "System" or args.default_constraints:
        return "pods with default topology constraints are not signable"
    return ""


def _deciding(enabled: EnabledPlugins) -> list[Plugin]:
    found: dict[str, Plugin] = {}
    for each in (*enabled.pre_filter, *enabled.filter, *enabled.pre_score, *enabled.score):
        found.setdefault(each.name, each)
    return list(found.values())


def plugins_that_sign_nothing(enabled: EnabledPlugins) -> list[str]:
    """Sorted. One of them is enough for no pod of the profile to be signed."""
    return sorted(each.name for each in _deciding(enabled) if not isinstance(each, SignPlugin))


def unsigned_by(pod: Pod, enabled: EnabledPlugins, profile: EffectiveProfile | None) -> tuple[str, str] | None:
    """The first plugin that signs no such pod and what it says; None where all sign it, or where nobody is asked since
    one of them signs no pods at all. Upstream ``computeBatchablePlugins``, ``SignPod`` of each plugin."""
    deciding = _deciding(enabled)
    signers = [each for each in deciding if isinstance(each, SignPlugin)]
    if len(signers) < len(deciding):
        return None
    info = PodInfo(pod)
    refusing = next((each.name for each in signers if each.sign_pod(info) is None), "")
    if refusing == SPREAD:
        return refusing, why_unsigned(pod, profile)
    return (refusing, _UNSIGNED.get(refusing, "")) if refusing else None


_BACKED: Final = "signature disabled when dra extended resources are used in the cluster"
_UNSIGNED: Final = {
    "InterPodAffinity": "pods with InterPodAffinity are not signable",
    "DynamicResources": "pods with dra resource claims are not signable",
    "NodeResourcesFit": _BACKED,
    "NodeResourcesBalancedAllocation": _BACKED,
}


def attempt_log(trace: AttemptTrace, profile: EffectiveProfile | None, verbosity: int) -> Iterator[str]:
    """The lines of one attempt, from its trace alone: without those of events, the queue and claims."""
    known = Known(None, is_never_batched=bool(why_unsigned(None, profile)))
    begins = [
        Entry(4, "schedule_one.go:107", "About to try and schedule pod", {"pod": trace.pod}),
        Entry(3, "schedule_one.go:123", "Attempting to schedule pod", {"pod": trace.pod}),
        *entries_of(trace, known),
    ]
    ends = [*ends_of(trace), *([updated(trace)] if trace.result == "failed" else [])]
    for at, entries in ((trace.at, begins), (trace.finished_at or trace.at, ends)):
        for entry in entries:
            if entry.level <= verbosity:
                yield klog.line(at, entry.place, entry.message, **entry.values)


def updated(trace: AttemptTrace) -> Entry:
    """The failed pod's condition and nomination."""
    values = {
        "pod": trace.pod,
        "conditionType": "PodScheduled",
        "conditionStatus": "False",
        "conditionReason": trace.reason,
        "nominatedNodeName": trace.nomination or "",
        "nominatingMode": 0 if trace.nomination is None else 1,
    }
    return Entry(3, "schedule_one.go:1325", "Updating pod condition and nominated node name", values)


def evicting(trace: AttemptTrace) -> PostFilterOutcome | None:
    """The outcome that made victims of pods, if one did."""
    return next((outcome for outcome in trace.post_filter if outcome.victims), None)


def entries_of(trace: AttemptTrace, known: Known, amounts: Iterable[Entry] = ()) -> Iterator[Entry]:
    """What is written before the cluster hears of the outcome; ``amounts``: what resource plugins write of nodes."""
    if trace.wait_on_permit is None:
        yield from _tried(trace, known, amounts)
    if trace.result == "waiting":
        yield Entry(
            4, "framework.go:1982", "One or more plugins asked to wait and no plugin rejected pod", {"pod": trace.pod}
        )
        yield Entry(4, "framework.go:2061", "Pod waiting on permit", {"pod": trace.pod})
    elif trace.bind:
        values = {"logger": "Bind.DefaultBinder", "pod": trace.pod, "node": trace.selected}
        yield Entry(3, "default_binder.go:69", "Attempting to bind pod to node", values)


def ends_of(trace: AttemptTrace) -> Iterator[Entry]:
    """What is written when the cluster knows."""
    if trace.result == "bound":
        values = {
            "pod": trace.pod,
            "node": trace.selected,
            "evaluatedNodes": trace.evaluated_nodes,
            "feasibleNodes": trace.feasible_nodes,
        }
        yield Entry(2, "schedule_one.go:481", "Successfully bound pod to node", values)
    elif trace.result == "failed":
        yield from _failed(trace)


def _tried(trace: AttemptTrace, known: Known, amounts: Iterable[Entry]) -> Iterator[Entry]:
    if known.has_claims_plugin and known.pod is not None:
        claims = msgspec.to_builtins(known.pod.spec.resource_claims or [])
        values = {"logger": "PreFilter.DynamicResources", "pod": trace.pod, "resourceclaims": claims}
        yield Entry(5, "dynamicresources.go:481", "pod resource claims", values)
    hints, stored = _batching(trace, known)
    yield from hints
    yield from amounts
    yield from _scored(trace)
    yield from _post_filter(trace)
    yield from stored


def _batching(trace: AttemptTrace, known: Known) -> tuple[list[Entry], list[Entry]]:
    """(before the nodes are scored, after one was chosen)"""
    if known.batching:
        hints = [each for told in known.batching if isinstance(told, HintTold) for each in _hint_entries(told)]
        return hints, [each for told in known.batching if isinstance(told, KeptTold) for each in _kept_entries(told)]
    if not known.is_never_batched:
        return [], []
    batch: dict[str, Any] = {"pod": trace.pod, "profile": trace.profile, "cycleCount": trace.cycle}
    hints = [Entry(4, "batch.go:81", f"{_BATCH} no node hint available for pod", batch)]
    if not trace.selected:
        return hints, []
    placed = batch | {"hintedNode": "", "chosenNode": trace.selected}
    reason = "empty_list" if trace.feasible_nodes < 2 else "pod_not_batchable"
    return hints, [
        Entry(4, "batch.go:107", f"{_BATCH} set cycle state", placed),
        Entry(4, "batch.go:157", f"{_BATCH} found unusable state", batch | {"reason": reason}),
    ]


def _hint_entries(told: HintTold) -> Iterator[Entry]:
    batch: dict[str, Any] = {"profile": told.profile, "pod": told.pod, "cycleCount": told.cycle}
    if told.unusable:
        flushed = {"profile": told.profile, "cycleCount": told.cycle, "reason": told.unusable}
        yield Entry(4, "batch.go:157", f"{_BATCH} found unusable state", flushed)
    if told.hint:
        provided = batch | {"hint": told.hint, "remainingNodes": told.left}
        yield Entry(3, "batch.go:89", f"{_BATCH} provided node hint", provided)
    else:
        yield Entry(4, "batch.go:81", f"{_BATCH} no node hint available for pod", batch)


def _kept_entries(told: KeptTold) -> Iterator[Entry]:
    batch: dict[str, Any] = {"profile": told.profile, "cycleCount": told.cycle}
    placed = batch | {"hintedNode": told.hint, "chosenNode": told.chosen}
    yield Entry(4, "batch.go:107", f"{_BATCH} set cycle state", placed)
    if told.hint == told.chosen:
        taken = batch | {"chosenNode": told.chosen}
        yield Entry(4, "batch.go:111", f"{_BATCH} skipping set state because hint was provided", taken)
        return
    if told.hint:
        missed = batch | {"hint": told.hint, "chosen": told.chosen}
        yield Entry(4, "batch.go:122", f"{_BATCH} hint not used", missed)
    if told.unusable:
        yield Entry(4, "batch.go:157", f"{_BATCH} found unusable state", batch | {"reason": told.unusable})
    else:
        kept = {"profile": told.profile, "nodes": told.kept, "cycleCount": told.cycle}
        yield Entry(4, "batch.go:139", f"{_BATCH} set batch information", kept)


def _scored(trace: AttemptTrace) -> Iterator[Entry]:
    scores, searched = trace.scores, trace.filter
    if scores is None or searched is None:
        return
    nodes = [searched.nodes[position] for position in scores.positions]
    for at, node in enumerate(nodes):
        for each in scores.plugins:
            values = {
                "pod": trace.pod,
                "plugin": each.plugin,
                "node": node,
                "score": int(each.normalized[at]) * each.weight,
            }
            yield Entry(10, "schedule_one.go:982", "Plugin scored node for pod", values)
    for node, total in zip(nodes, scores.total, strict=True):
        values = {"pod": trace.pod, "node": node, "score": int(total)}
        yield Entry(10, "schedule_one.go:1050", "Calculated node's final score for pod", values)


def _post_filter(trace: AttemptTrace) -> Iterator[Entry]:
    for outcome in trace.post_filter:
        if outcome.plugin == PREEMPTION:
            yield from _preemption(trace, outcome)
    if trace.post_filter:
        message = (
            ""
            if evicting(trace)
            else ", ".join(each.status.message for each in trace.post_filter if each.status.message)
        )
        values = {"pod": trace.pod, "status": message}
        yield Entry(5, "schedule_one.go:300", "Status after running PostFilter plugins for pod", values)


def _tried_out(trace: AttemptTrace, outcome: PostFilterOutcome) -> list[str]:
    """The potential nodes in the order of the node list, without those that were left out as enough were found.

    Upstream tries them out in parallel, so that theirs is a matter of chance.
    """
    searched = trace.filter
    if searched is None or outcome.dry_runs is None:
        return []
    left_out = set(outcome.not_tried)
    potential = [number for number, each in enumerate(searched.verdicts) if each.code is Code.UNSCHEDULABLE]
    places = np.flatnonzero(np.isin(searched.verdict, potential)).tolist()
    return [node for node in (searched.nodes[place] for place in places) if node not in left_out]


def _preemption(trace: AttemptTrace, outcome: PostFilterOutcome) -> Iterator[Entry]:
    common: dict[str, Any] = {"logger": _LOGGER, "pod": trace.pod}
    found = outcome.candidates
    if not found and not outcome.refused and outcome.status.message.startswith("preemption: 0/"):
        yield Entry(3, "preemption.go:185", "Preemption will not help schedule pod on any node", common)
    if (runs := outcome.dry_runs) is not None:
        values = common | {
            "potentialNodesNumber": runs.potential,
            "pdbsNumber": runs.budgets,
            "offset": runs.offset,
            "candidatesNumber": runs.wanted,
        }
        yield Entry(5, "preemption.go:415", "Dry run the preemption", values)
    by_node = {each.node: each for each in found}
    # What became of a node that an extender left out is not told.
    for node in _tried_out(trace, outcome) or by_node:
        candidate = by_node.get(node)
        yield Entry(5, "preemption.go:421", "Check the potential node for preemption", common | {"node": node})
        for victim in () if candidate is None else candidate.victims:
            values = {"logger": _LOGGER, "pod": victim, "node": node}
            yield Entry(5, "default_preemption.go:326", "Pod is a potential preemption victim on node", values)
    if outcome.victims:
        values = common | {"node": outcome.nominated_node}
        yield Entry(2, "preemption.go:162", "the target node for the preemption is determined", values)
    elif outcome.status.message.startswith("preemption: 0/"):
        message = "No preemption candidate is found; preemption is not helpful for scheduling"
        yield Entry(2, "preemption.go:136", message, common)


def _failed(trace: AttemptTrace) -> Iterator[Entry]:
    if trace.message == "no nodes available to schedule pods":
        message = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
        yield Entry(2, "schedule_one.go:1235", message, {"pod": trace.pod})
    elif trace.fit_error:
        values = {"pod": trace.pod, "err": trace.message}
        yield Entry(2, "schedule_one.go:1239", "Unable to schedule pod; no fit; waiting", values)
    else:
        values = {"pod": trace.pod, "err": trace.message}
        yield Entry(0, "schedule_one.go:1244", "Error scheduling pod; retrying", values)

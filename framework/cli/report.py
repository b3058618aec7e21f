"""Attempts as ``decide`` prints them: one JSON object each, with names instead of positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from framework.interface.handle import ObjectStore
from framework.interface.status import Status
from framework.objects import Pod, ResourceClaim
from framework.trace.attempt import AttemptTrace, PluginOutcome, PostFilterOutcome, ScoreTrace

Report = dict[str, Any]


def empty_report(pod: str, profile: str | None, priority: int, weights: dict[str, int]) -> Report:
    return {
        "pod": pod,
        "profile": profile,
        "attempt": 1,
        "priority": priority,
        "preEnqueue": None,
        "preFilter": {},
        "filter": {},
        "feasible": [],
        "preScore": {},
        "score": {},
        "normalized": {},
        "weights": weights,
        "total": {},
        "candidates": [],
        "selected": "",
        "bound": False,
        "message": "",
        "unschedulablePlugins": [],
        "pendingPlugins": [],
        "postFilter": None,
    }


def attempt_report(trace: AttemptTrace, weights: dict[str, int], filtered: dict[str, Status]) -> Report:
    """``filtered``: every node's status; empty when PreFilter rejected the pod."""
    report = empty_report(trace.pod, trace.profile, trace.priority, weights)
    feasible = [trace.nominated_node_used] if trace.nominated_node_used else _feasible(trace)
    report |= {
        "attempt": trace.attempt,
        "preFilter": {outcome.plugin: _pre_filter(outcome.status, outcome.node_names) for outcome in trace.pre_filter},
        "filter": {node: None if status.is_success else status_report(status) for node, status in filtered.items()},
        "feasible": sorted(feasible),
        "preScore": {outcome.plugin: outcome.status.code.name_ for outcome in trace.pre_score},
        "selected": trace.selected,
        "bound": trace.result == "bound",
        "message": trace.message,
        "unschedulablePlugins": sorted(trace.unschedulable_plugins),
        "pendingPlugins": sorted(trace.pending_plugins),
        "postFilter": post_filter_report(trace.post_filter),
    }
    if trace.pre_filter_status is not None:
        report["preFilterStatus"] = status_report(trace.pre_filter_status)
    if trace.nominated_node_used:
        report["nominatedNodeUsed"] = True
    if trace.reason:
        report["reason"] = trace.reason
    if trace.scores is not None and trace.filter is not None:
        report |= _scores(trace.scores, trace.filter.nodes)
    elif feasible and trace.selected:
        report["scoreSkipped"] = True
        report["candidates"] = sorted(feasible)
    permit = [PluginOutcome(outcome.plugin, outcome.status) for outcome in trace.permit]
    for name, outcomes in (("reserve", trace.reserve), ("permit", permit), ("preBind", trace.pre_bind)):
        failed = [outcome for outcome in outcomes if not outcome.status.is_success]
        if failed:
            report[name] = status_report(failed[0].status.with_plugin(failed[0].plugin))
    return report


def status_report(status: Status) -> Report:
    """Without ``plugin`` when no plugin is to blame: the node is outside a PreFilter node list."""
    report: Report = {"plugin": status.plugin} if status.plugin else {}
    return report | {"code": status.code.name_, "reasons": list(status.all_reasons)}


def _pre_filter(status: Status, node_names: tuple[str, ...] | None) -> Report:
    report: Report = {"code": status.code.name_}
    if status.all_reasons:
        report["reasons"] = list(status.all_reasons)
    if node_names is not None:
        report["nodeNames"] = list(node_names)
    return report


def broken_off(trace: AttemptTrace) -> bool:
    """Whether the search ended early (an error of a Filter plugin, or enough nodes), so that nodes have no status."""
    filtered = trace.filter
    if filtered is None or trace.tried_alone:
        return False
    lists = [outcome.node_names for outcome in trace.pre_filter if outcome.node_names is not None]
    return any(
        filtered.status(position) is None
        for position, node in enumerate(filtered.nodes)
        if all(node in names for names in lists)
    )


def extender_report(trace: AttemptTrace, calls: Sequence[Report]) -> Report:
    """What extenders were asked and said: ``extender``, and ``bind`` where one failed to bind."""
    found: Report = {"calls": list(calls)}
    if trace.extender_statuses:
        found["statuses"] = {node: status_report(status) for node, status in trace.extender_statuses}
    if trace.extender_points and trace.scores is not None and trace.filter is not None:
        names = [trace.filter.nodes[position] for position in trace.scores.positions.tolist()]
        points = {
            each.extender: {n: p for n, p in zip(names, each.points, strict=True) if p is not None}
            for each in trace.extender_points
        }
        if scores := {extender: by_node for extender, by_node in points.items() if by_node}:
            found["scores"] = scores
    if trace.result == "bound":
        found["boundByExtender"] = bool(trace.bound_by)
    report: Report = {"extender": found}
    if trace.bound_by and trace.result == "failed" and trace.status is not None:
        report["bind"] = status_report(trace.status)
    return report


def _feasible(trace: AttemptTrace) -> list[str]:
    filtered = trace.filter
    if trace.extender_left is not None and filtered is not None:
        return [filtered.nodes[position] for position in trace.extender_left]
    if filtered is None or (not trace.selected and broken_off(trace)):
        return []
    return [node for node, verdict in zip(filtered.nodes, filtered.verdict.tolist(), strict=True) if verdict == 0]


def _scores(scores: ScoreTrace, nodes: tuple[str, ...]) -> Report:
    names = [nodes[position] for position in scores.positions.tolist()]
    return {
        "score": {each.plugin: dict(zip(names, each.raw.tolist(), strict=True)) for each in scores.plugins},
        "normalized": {each.plugin: dict(zip(names, each.normalized.tolist(), strict=True)) for each in scores.plugins},
        "total": dict(zip(names, scores.total.tolist(), strict=True)),
        "candidates": sorted({nodes[position] for position in scores.candidates.tolist()}),
    }


def device_claims_report(pod: Pod, objects: ObjectStore) -> dict[str, Report]:
    """Name of each of the pod's ResourceClaims → what it was given and who uses it."""
    names = [claim.resource_claim_name for claim in pod.spec.resource_claims]
    names += [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    if pod.status.extended_resource_claim_status is not None:
        names.append(pod.status.extended_resource_claim_status.resource_claim_name)
    reports: dict[str, Report] = {}
    for name in names:
        claim = objects.get(ResourceClaim, pod.namespace, name) if name else None
        if claim is None or claim.status.allocation is None:
            continue
        # When it was allocated says nothing about the decision.
        allocation = msgspec.structs.replace(claim.status.allocation, allocation_timestamp=None)
        reports[claim.name] = {
            "allocation": msgspec.to_builtins(allocation),
            "reservedFor": [consumer.name for consumer in claim.status.reserved_for],
        }
    return reports


def post_filter_report(outcomes: Iterable[PostFilterOutcome]) -> Report | None:
    """What the framework makes of all PostFilter plugins: the first success, else everybody's reasons."""
    listed = list(outcomes)
    if not listed:
        return None
    last = listed[-1]
    deciding = last if not last.status.is_rejected or last.status.code.name_ == "UnschedulableAndUnresolvable" else None
    if deciding is not None:
        plugin, code, reasons = deciding.plugin, deciding.status.code, list(deciding.status.all_reasons)
    else:
        plugin, code = listed[0].plugin, listed[0].status.code
        reasons = [reason for outcome in listed for reason in outcome.status.all_reasons]
    named = [outcome for outcome in listed if outcome.nominated_node is not None]
    result = deciding or (named[-1] if named else last)
    report: Report = {"plugin": plugin, "code": code.name_}
    if reasons:
        report["reasons"] = reasons
    report["nominatedNode"] = result.nominated_node or ""
    if result.victims:
        report["victims"] = sorted(result.victims)
    if result.nominated_any:
        report["nominatedAny"] = sorted(result.nominated_any)
    if result.candidates:
        report["candidates"] = {candidate.node: list(candidate.victims) for candidate in result.candidates}
        violations = {each.node: each.pdb_violations for each in result.candidates if each.pdb_violations}
        if violations:
            report["pdbViolations"] = violations
    return report

"""A pod that has a node, asked again: where it would go if it came now, everything else in its place."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from msgspec.structs import replace

from framework.advice.capacity import gated_by
from framework.advice.scratch import is_pending, placed_and_rest, scratch, why_not_placed, without_preemption
from framework.interface.status import Status
from framework.objects import KubeObject, Pod
from framework.objects.pod import PodStatus
from framework.scheduler import Scheduler
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED, AttemptTrace

EVERY: Final = 100
LISTED: Final = 20


class RankedNode(msgspec.Struct, frozen=True):
    node: str
    rank: int
    """1 + how many nodes have a higher total."""
    total: int
    scores: tuple[int, ...]
    """Points times weight, in the order of ``PlacedAgain.plugins``."""


class PlacedAgain(msgspec.Struct, frozen=True):
    pod: str
    """``namespace/name``."""
    node: str
    """Where it is."""
    to: str
    """Where it would go; "" when it would find no place."""
    nodes: int
    """How many there are; every one was looked at, whatever percentageOfNodesToScore says."""
    feasible: int
    tied: int
    """How many nodes have the best total; the seed chose among them. 0 when none was scored, as a single one is not."""
    rank: int
    """Of the node where it is; 0 when it is not feasible any more."""
    plugin: str
    """Which plugin would refuse the pod where it is, for ``reasons``; "" when none would, or the node is gone."""
    reasons: tuple[str, ...]
    message: str
    """kube-scheduler's words when there is no place for it, without preemption's."""
    plugins: tuple[str, ...]
    """That scored, in the order of the profile."""
    weights: tuple[int, ...]
    ranked: tuple[RankedNode, ...]
    """The best of them, and the one where it is."""


def place_again(scheduler: Scheduler, pod: Pod) -> PlacedAgain:
    """Schedules ``pod`` on a copy from which it was taken: its room is free, its claims stay bound and allocated.

    Pods that are pending stand aside, nobody is evicted, every node is looked at. ``scheduler`` is only read. Raises
    ValueError for a pod without a node and for a schedulerName without profile.
    """
    assumed = scheduler.core.cache.get_pod(pod.metadata.uid)
    node = pod.spec.node_name or ("" if assumed is None else assumed.pod.spec.node_name)
    if not node:
        raise ValueError(f"pod {pod.key} has no node")
    if scheduler.profiles.get(pod.spec.scheduler_name) is None:
        raise ValueError(f"no profile for schedulerName {pod.spec.scheduler_name}")
    others = (obj for obj in placed_and_rest(scheduler) if not is_pending(obj) and not is_it(obj, pod))
    copy = scratch(scheduler, others)
    copy.profiles[pod.spec.scheduler_name].percentage_of_nodes_to_score = EVERY
    made = copy.cluster.create_admitted(without_preemption(as_new(pod)))
    gate = gated_by(copy, made)
    attempt = None if gate else copy.step()
    if attempt is None:
        return PlacedAgain(pod.key, node, "", 0, 0, 0, 0, "", (), gate, (), (), ())
    return outcome_of(attempt, pod.key, node)


def is_it(obj: KubeObject, pod: Pod) -> bool:
    return isinstance(obj, Pod) and obj.metadata.uid == pod.metadata.uid


def as_new(pod: Pod) -> Pod:
    """Without node and history; the uid and the names of generated claims stay, for claims know their pod by them."""
    status = PodStatus(phase="Pending", resource_claim_statuses=pod.status.resource_claim_statuses)
    metadata = replace(pod.metadata, deletion_timestamp=None)
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=""), status=status)


def outcome_of(attempt: AttemptTrace, pod: str, node: str) -> PlacedAgain:
    placed = attempt.result != "failed"
    refusal = refused_by(attempt, node)
    rank, plugins, weights, ranked = ranking(attempt, node)
    if refusal is None and not ranked:
        # The only feasible node, or a profile without Score plugins: nothing was weighed.
        rank = 1
    return PlacedAgain(
        pod=pod,
        node=node,
        to=attempt.selected if placed else "",
        nodes=attempt.nodes_total,
        feasible=attempt.feasible_nodes,
        tied=0 if attempt.scores is None else attempt.scores.ties,
        rank=rank,
        plugin="" if refusal is None else refusal.plugin,
        reasons=() if refusal is None else refusal.all_reasons,
        message="" if placed else why_not_placed(attempt),
        plugins=plugins,
        weights=weights,
        ranked=ranked,
    )


def refused_by(attempt: AttemptTrace, node: str) -> Status | None:
    """Why the pod may not be on ``node``; None when it may. A status without plugin: there is no such node."""
    found = attempt.filter
    if found is None:
        return attempt.pre_filter_status or attempt.absent_status or attempt.status
    if node not in found.nodes:
        return Status.unschedulable(f'node "{node}" not found')
    position = found.nodes.index(node)
    verdict = found.verdict[position]
    if verdict == FEASIBLE:
        return None
    return attempt.absent_status if verdict == NOT_EVALUATED else found.status(position)


def ranking(attempt: AttemptTrace, node: str) -> tuple[int, tuple[str, ...], tuple[int, ...], tuple[RankedNode, ...]]:
    """(rank of ``node`` or 0, plugins, weights, the best nodes and ``node``)."""
    if attempt.scores is None or attempt.filter is None or not attempt.scores.places:
        return 0, (), (), ()
    scores = attempt.scores.whole()
    names = [attempt.filter.nodes[position] for position in scores.positions]

    def row(place: int) -> RankedNode:
        total = scores.total[place]
        points = tuple(int(plugin.normalized[place]) * plugin.weight for plugin in scores.plugins)
        return RankedNode(names[place], 1 + int((scores.total > total).sum()), int(total), points)

    rows = [row(place) for place in np.argsort(-scores.total, kind="stable")[:LISTED].tolist()]
    own = next((each for each in rows if each.node == node), None)
    if own is None and node in names:
        own = row(names.index(node))
        rows.append(own)
    plugins = tuple(each.plugin for each in scores.plugins)
    weights = tuple(each.weight for each in scores.plugins)
    return 0 if own is None else own.rank, plugins, weights, tuple(rows)

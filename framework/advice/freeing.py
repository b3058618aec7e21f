"""Which pods would have to leave so that a pod fits: as few as possible.

Either pods of the node where it then fits, or, where rules between pods keep it off, a single pod elsewhere. Per node
the number is exact as long as few enough combinations have to be tried; beyond that no pod of the answer could
stay, but another choice might be smaller. Pods of DaemonSets and of the node itself cannot be freed: they come back.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from framework.advice.trial import Edit, Trial
from framework.cache.pod_groups import group_of
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.objects import Pod
from framework.objects.resources import pod_requests
from framework.profiles import priority_of
from framework.profiles.filter_run import FilterRun, NodeCase
from framework.trace.attempt import AttemptTrace

KEEPERS: Final = frozenset({"DaemonSet", "Node"})
BETWEEN_PODS: Final = ("InterPodAffinity", "PodTopologySpread")
"""Plugins whose answer for a node depends on pods of other nodes."""
PODS_TRIED: Final = 300
TRIES_PER_NODE: Final = 400
NODES_EXAMINED: Final = 200
"""Nodes whose pods are tried out one by one, nearest to fitting first."""


@dataclass(frozen=True, slots=True)
class Freed:
    node: str
    pods: tuple[Pod, ...]

    @property
    def cost(self) -> tuple[int, int, int, str]:
        """Fewer pods first, then less important ones."""
        priorities = [priority_of(pod) for pod in self.pods]
        return len(self.pods), max(priorities), sum(priorities), self.node


def can_leave(pod: Pod) -> bool:
    owners = pod.metadata.owner_references
    return not any(owner.kind in KEEPERS for owner in owners) and pod.metadata.deletion_timestamp is None


def fewest_to_free(trial: Trial) -> Freed | None:
    """None when no node fits however many of its pods leave, or nobody has to."""
    run = _filters(trial)
    if run is None:
        return None
    core = trial.scheduler.core
    best: Freed | None = None
    for least, _, info, pods in _nearest(trial, run):
        if best is not None and least > len(best.pods):
            break
        most = len(pods) if best is None else len(best.pods)
        found = _fewest_on(run, core.snapshot.row(info.name), info, pods, least, most)
        if found is not None:
            freed = Freed(info.name, tuple(pod.pod for pod in found))
            if best is None or freed.cost < best.cost:
                best = freed
    return best


def leaving(trial: Trial, most: int) -> Iterator[Freed]:
    """Per node the fewest pods, at most ``most``, that have to leave; nodes where fewer must come first."""
    run = _filters(trial)
    if run is None:
        return
    # What is done with an answer may change the snapshot; all answers are about this one.
    row = trial.scheduler.core.snapshot.row
    found = [
        Freed(info.name, tuple(pod.pod for pod in chosen))
        for least, _, info, pods in _nearest(trial, run)
        if least <= most and (chosen := _fewest_on(run, row(info.name), info, pods, least, min(most, len(pods))))
    ]
    yield from sorted(found, key=lambda each: each.cost)


def leaving_for_a_gang(trial: Trial, most: int) -> Iterator[Freed]:
    """Per node its least important pods, two of them, then more, up to ``most``: a pod of a gang may fit where no room
    is left for its mates."""
    found: list[Freed] = []
    own = group_of(trial.pod)
    for info in trial.scheduler.core.snapshot.list():
        pods = [pod.pod for pod in info.pods if can_leave(pod.pod) and group_of(pod.pod) != own]
        pods.sort(key=lambda pod: (priority_of(pod), pod.key))
        found += [Freed(info.name, tuple(pods[:count])) for count in range(2, min(most, len(pods)) + 1)]
    yield from sorted(found, key=lambda each: each.cost)


def _nearest(trial: Trial, run: FilterRun) -> list[tuple[int, int, NodeInfo, list[PodInfo]]]:
    """(how many must leave for the requests alone, …, node, pods that can leave) where all of them leaving would do."""
    snapshot, asked = trial.scheduler.core.snapshot, pod_requests(trial.pod)
    nodes: list[tuple[int, int, NodeInfo, list[PodInfo]]] = []
    for info in snapshot.list():
        pods = [pod for pod in info.pods if can_leave(pod.pod)]
        if pods and _passes_without(run, snapshot.row(info.name), info, pods):
            nodes.append((_at_least(asked, info, pods), len(nodes), info, pods))
    return sorted(nodes, key=lambda each: each[:2])[:NODES_EXAMINED]


def single_elsewhere(trial: Trial, rejected_by: Container[str]) -> Freed | None:
    """One pod anywhere whose leaving opens a node, the least important such pod; tried one by one."""
    if not any(plugin in rejected_by for plugin in BETWEEN_PODS):
        return None
    placed = [pod for pod in trial.cluster.list(Pod) if pod.spec.node_name and can_leave(pod)]
    for pod in sorted(placed, key=lambda each: (priority_of(each), each.key))[:PODS_TRIED]:
        if trial.schedule(edits=[Edit(pod, None)]).node:
            return Freed(pod.spec.node_name, (pod,))
    return None


def _filters(trial: Trial) -> FilterRun | None:
    """None when PreFilter rejects the pod: then no pod that leaves a node helps."""
    core = trial.scheduler.core
    core.cache.update_snapshot(core.snapshot)
    profile = core.profiles[trial.pod.spec.scheduler_name]
    state, info = CycleState(), PodInfo(trial.pod)
    answer = profile.filtering.run_pre_filter(
        state, info, AttemptTrace(info.key, info.uid, profile.name, attempt=1, cycle=0, at=trial.scheduler.now)
    )
    if not answer.status.is_success:
        return None
    return profile.filtering.make_run(state, info)


def _passes_without(run: FilterRun, row: int, node: NodeInfo, gone: Sequence[PodInfo]) -> bool:
    case = NodeCase(run, row, node)
    if run.stateful:
        case.own_state()
    return all(case.remove_pod(pod).is_success for pod in gone) and case.run_filters().is_success


def _at_least(asked: dict[str, int], node: NodeInfo, pods: Sequence[PodInfo]) -> int:
    """How many must leave for the requests alone."""
    least = 0
    for resource, amount in asked.items():
        short = amount - (node.allocatable.get(resource, 0) - node.requested.get(resource, 0)) if amount else 0
        if short <= 0:
            continue
        count = 0
        for size in sorted((pod.requests.get(resource, 0) for pod in pods), reverse=True):
            short -= size
            count += 1
            if short <= 0:
                break
        least = max(least, count)
    return max(least, 1)


def _fewest_on(
    run: FilterRun, row: int, node: NodeInfo, pods: Sequence[PodInfo], least: int, most: int
) -> Sequence[PodInfo] | None:
    ordered = sorted(pods, key=lambda pod: (priority_of(pod.pod), sum(pod.requests.values()), pod.key))
    tries = 0
    for size in range(least, most + 1):
        for chosen in _by_importance(ordered, size):
            tries += 1
            if tries > TRIES_PER_NODE:
                kept = _keep_what_can_stay(run, row, node, ordered)
                return kept if len(kept) <= most else None
            if _passes_without(run, row, node, chosen):
                return chosen
    return None


def _by_importance(ordered: Sequence[PodInfo], size: int) -> Iterator[tuple[PodInfo, ...]]:
    """Combinations whose most important pod is least important come first."""
    for last in range(size - 1, len(ordered)):
        for rest in combinations(ordered[:last], size - 1):
            yield (*rest, ordered[last])


def _keep_what_can_stay(run: FilterRun, row: int, node: NodeInfo, ordered: Sequence[PodInfo]) -> list[PodInfo]:
    """All leave; then, from the most important on, those come back that leave room enough."""
    gone = list(ordered)
    for pod in reversed(ordered):
        without = [each for each in gone if each is not pod]
        if _passes_without(run, row, node, without):
            gone = without
    return gone

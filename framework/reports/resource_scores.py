"""What the resource plugins write at ``-v=10`` of every node they score: allocatable, requested, score.

Upstream: framework/plugins/noderesources/resource_allocation.go, ``score`` (1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from framework.objects import Pod
from framework.objects.resources import (
    CPU,
    MEMORY,
    Resources,
    is_scalar_resource_name,
    node_allocatable,
    non_zero_requests,
    placed_requests,
    pod_requests,
)
from framework.reports.log_entries import Entry
from framework.scheduler import Scheduler
from framework.trace.attempt import AttemptTrace, PluginScores

LEVEL: Final = 10
FIT: Final = "NodeResourcesFit"
BALANCED: Final = "NodeResourcesBalancedAllocation"


class _Amounts(NamedTuple):
    requested: Resources
    """Of all pods; what they name."""
    assumed: dict[str, int]
    """CPU and memory, with what is assumed for containers that name none."""


def resource_scores(scheduler: Scheduler, pod: Pod, trace: AttemptTrace) -> Iterator[Entry]:
    """Per scored node an entry of each resource plugin. The pod itself counts once, also where it is placed already."""
    scores, searched = trace.scores, trace.filter
    profile = scheduler.configuration.profile(trace.profile)
    if scores is None or searched is None or profile is None:
        return
    plugins = [each for each in scores.plugins if each.plugin in (FIT, BALANCED)]
    own = _added([pod])
    for at, position in enumerate(scores.positions):
        name = searched.nodes[position]
        node = scheduler.core.cache.node(name)
        if node is None:
            continue
        others = [each.pod for each, _ in scheduler.core.cache.pods_on(name) if each.uid != trace.uid]
        placed, allocatable = _added(others), node_allocatable(node)
        for each in plugins:
            yield _entry(trace, name, each, at, profile.args[each.plugin], (own, placed, allocatable))


def _added(pods: Sequence[Pod]) -> _Amounts:
    requested: Resources = {}
    assumed = {CPU: 0, MEMORY: 0}
    for pod in pods:
        for name, amount in (placed_requests(pod) if pod.spec.node_name else pod_requests(pod)).items():
            requested[name] = requested.get(name, 0) + amount
        cpu, memory = non_zero_requests(pod)
        assumed[CPU] += cpu
        assumed[MEMORY] += memory
    return _Amounts(requested, assumed)


def _entry(
    trace: AttemptTrace,
    node: str,
    scores: PluginScores,
    at: int,
    args: Any,
    amounts: tuple[_Amounts, _Amounts, Resources],
) -> Entry:
    own, placed, offered = amounts
    fits = scores.plugin == FIT
    listed = args.scoring_strategy.resources if fits else args.resources
    allocatable, requested = [], []
    for resource in (each.name for each in listed):
        asked, taken = (
            (own.assumed[resource], placed.assumed[resource])
            if fits and resource in own.assumed
            else (own.requested.get(resource, 0), placed.requested.get(resource, 0))
        )
        there = 0 if not asked and is_scalar_resource_name(resource) else offered.get(resource, 0)
        allocatable.append(there)
        requested.append(asked + taken if there else 0)
    values = {
        "logger": f"Score.{scores.plugin}",
        "pod": trace.pod,
        "node": node,
        "resourceAllocationScorer": args.scoring_strategy.type if fits else BALANCED,
        "allocatableResource": allocatable,
        "requestedResource": requested,
        "resourceScore": int(scores.raw[at]),
    }
    message = "Listed internal info for allocatable resources, requested resources and score"
    return Entry(LEVEL, "resource_allocation.go:158", message, values)

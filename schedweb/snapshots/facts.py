"""What a cluster comes to in numbers: added up object by object, so that none of them has to be kept. Pure."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from framework.objects import KubeObject, Node, Pod, Unstructured
from framework.objects.catalogue import LoadMetrics
from framework.objects.resources import node_allocatable, placed_figures
from framework.objects.timestamps import SECOND, TimestampError, parse_timestamp
from framework.workloads import is_workload

ZONE_LABELS: Final = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_LAST_SECOND: Final = 4_102_444_800
"""Of the year 2099: what claims to be measured later tells no time."""
MOST_BARS: Final = 320
"""More nodes than this are drawn as an even sample."""


class NodeFacts(msgspec.Struct, array_like=True):
    name: str
    zone: str
    cpu: int
    """Allocatable, in thousandths."""


class Facts(msgspec.Struct):
    """Two of them may be added up, too (``add``): those of one part of a file, and of the next."""

    kinds: dict[str, int] = {}
    unused: dict[str, int] = {}
    """Kinds that no decision reads."""
    namespaces: set[str] = set()
    """Of which there is a Namespace object."""
    pods_in: dict[str, int] = {}
    pending: int = 0
    gated: int = 0
    gpus: int = 0
    nodes: list[NodeFacts] = []
    pods_on: dict[str, int] = {}
    cpu_on: dict[str, int] = {}
    """What pods that are not finished ask for, in thousandths."""
    schedulers: set[str] = set()
    unread_loads: set[str] = set()
    """Names of LoadMetrics that no plugin asks for."""
    latest: int = 0
    """The latest moment that objects mention: the cluster's own time in nanoseconds. 0 when they mention none."""

    def add(self, later: Facts) -> None:
        for mine, other in (
            (self.kinds, later.kinds),
            (self.unused, later.unused),
            (self.pods_in, later.pods_in),
            (self.pods_on, later.pods_on),
            (self.cpu_on, later.cpu_on),
        ):
            for name, number in other.items():
                mine[name] = mine.get(name, 0) + number
        self.namespaces |= later.namespaces
        self.schedulers |= later.schedulers
        self.unread_loads |= later.unread_loads
        self.pending += later.pending
        self.gated += later.gated
        self.gpus += later.gpus
        self.nodes += later.nodes
        self.latest = max(self.latest, later.latest)

    def bars(self) -> list[dict[str, Any]]:
        """Per zone the share of allocatable cpu that is requested, node by node: ``[{zone, values: [0..1]}]``."""
        by_zone: dict[str, list[float]] = {}
        step = max(1, -(-len(self.nodes) // MOST_BARS))
        for node in self.nodes[::step]:
            share = self.cpu_on.get(node.name, 0) / node.cpu if node.cpu > 0 else 0.0
            by_zone.setdefault(node.zone, []).append(round(min(max(share, 0.0), 1.0), 3))
        return [{"zone": zone, "values": by_zone[zone]} for zone in sorted(by_zone)]


class Counting:
    """Makes ``Facts``."""

    def __init__(self) -> None:
        self.facts = Facts()
        self._moments: set[str | None] = {None, ""}
        """Those that were looked at."""

    def take(self, kind: str, one: KubeObject) -> None:
        facts = self.facts
        facts.kinds[kind] = facts.kinds.get(kind, 0) + 1
        metadata = one.metadata
        if metadata.creation_timestamp not in self._moments:
            self._look_at(metadata.creation_timestamp)
        if isinstance(one, Pod):
            self._take_pod(one)
        elif isinstance(one, Node):
            self._take_node(one)
        elif isinstance(one, LoadMetrics):
            facts.latest = max(facts.latest, min(max(one.window.end, 0), _LAST_SECOND) * SECOND)
            if metadata.name != LoadMetrics.NAME:
                facts.unread_loads.add(metadata.name)
        elif isinstance(one, Unstructured) and not is_workload(one.raw):
            facts.unused[kind] = facts.unused.get(kind, 0) + 1
        if kind == "Namespace":
            facts.namespaces.add(metadata.name)

    def _take_pod(self, pod: Pod) -> None:
        facts, spec, status = self.facts, pod.spec, pod.status
        namespace, node = pod.metadata.namespace, spec.node_name
        facts.pods_in[namespace] = facts.pods_in.get(namespace, 0) + 1
        if spec.scheduler_name:
            facts.schedulers.add(spec.scheduler_name)
        finished = is_finished(pod)
        if node:
            facts.pods_on[node] = facts.pods_on.get(node, 0) + 1
            if not finished:
                facts.cpu_on[node] = facts.cpu_on.get(node, 0) + placed_figures(pod)[0].get("cpu", 0)
        elif not finished:
            facts.gated += bool(spec.scheduling_gates)
            facts.pending += not spec.scheduling_gates
        known = self._moments
        if status.start_time not in known:
            self._look_at(status.start_time)
        for condition in status.conditions:
            if condition.last_transition_time not in known:
                self._look_at(condition.last_transition_time)

    def _take_node(self, node: Node) -> None:
        labels, offered = node.metadata.labels, node_allocatable(node)
        zone = next((labels[key] for key in ZONE_LABELS if key in labels), "")
        self.facts.nodes.append(NodeFacts(node.metadata.name, zone, offered.get("cpu", 0)))
        # Whole GPUs of any vendor: ``nvidia.com/gpu``, ``amd.com/gpu``, …
        self.facts.gpus += sum(amount for name, amount in offered.items() if name.endswith("/gpu"))
        for condition in node.status.conditions:
            if condition.last_transition_time not in self._moments:
                self._look_at(condition.last_transition_time)

    def _look_at(self, moment: str | None) -> None:
        self._moments.add(moment)
        try:
            self.facts.latest = max(self.facts.latest, parse_timestamp(moment or ""))
        except TimestampError:
            return  # validation of the object has its own opinion; a clock needs only a moment


def is_finished(pod: Pod) -> bool:
    """Such a pod holds nothing: the scheduler does not see it (docs/semantics/events.md#finished-pods)."""
    return pod.status.phase in ("Succeeded", "Failed")


def is_pending(pod: Pod) -> bool:
    return not pod.spec.node_name and not is_finished(pod)

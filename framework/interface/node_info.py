"""PodInfo and NodeInfo: pods and nodes with what scheduling asks of them worked out (docs/semantics/cache.md#nodeinfo).

A NodeInfo is the per-node view for plugin authors and the unit the cache and the snapshot keep. The columns hold the
same numbers along the node axis.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from framework.interface.affinity_terms import AffinityTerms, compile_terms
from framework.interface.remembered import remembered
from framework.objects import Container, Node, Pod, PodAffinityTerm, WeightedPodAffinityTerm
from framework.objects.csi_migration import plugin_of_inline
from framework.objects.resources import Resources, node_allocatable, placed_figures

WILDCARD_IP = "0.0.0.0"
FIGURES = ("requests", "non_zero", "host_ports", "affinity_terms", "alike")
"""What a PodInfo works out of namespace, spec and container statuses alone: pods that agree in these share it."""


class HostPort(NamedTuple):
    ip: str
    protocol: str
    port: int


class PodInfo:
    """A pod with the figures derived from it. A changed pod is a new PodInfo.

    ``requests`` and ``non_zero`` are what the pod counts on its node (status resources and pod-level resources taken
    into account, docs/semantics/resources.md#pod-requests): cpu in millicores, the rest in units.
    """

    __slots__ = ("__dict__", "pod", "uid")

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.uid = pod.metadata.uid

    def changed_to(self, pod: Pod) -> PodInfo:
        """The same pod with changes that none of what was worked out here rests on."""
        info = PodInfo.__new__(PodInfo)
        info.pod, info.uid = pod, self.uid
        info.__dict__.update(self.__dict__)
        return info

    @property
    def key(self) -> str:
        return f"{self.pod.metadata.namespace}/{self.pod.metadata.name}"

    @remembered
    def _figures(self) -> tuple[Resources, tuple[int, int]]:
        return placed_figures(self.pod)

    @remembered
    def requests(self) -> Resources:
        return self._figures[0]

    @remembered
    def non_zero(self) -> tuple[int, int]:
        """(cpu in millicores, memory in bytes) with 100m and 200Mi where a container names none."""
        return self._figures[1]

    @remembered
    def host_ports(self) -> tuple[HostPort, ...]:
        """Host ports of containers and restartable init containers; ports ≤ 0 are none."""
        spec = self.pod.spec
        sidecars = [c for c in spec.init_containers if c.restart_policy == "Always"]
        if not sidecars and not _names_ports(spec.containers):
            return ()
        return tuple(
            HostPort(port.host_ip or WILDCARD_IP, port.protocol or "TCP", port.host_port)
            for container in (*spec.containers, *sidecars)
            for port in container.ports
            if port.host_port > 0
        )

    @remembered
    def has_shared_volumes(self) -> bool:
        """Whether a volume is more than this pod's own affair: a claim, or an in-tree disk."""
        return any(
            volume.persistent_volume_claim is not None
            or volume.ephemeral is not None
            or volume.iscsi is not None
            or volume.rbd is not None
            or plugin_of_inline(volume) is not None
            for volume in self.pod.spec.volumes
        )

    @remembered
    def required_affinity(self) -> tuple[PodAffinityTerm, ...]:
        affinity = self.pod.spec.affinity
        wanted = affinity.pod_affinity if affinity else None
        return tuple(wanted.required_during_scheduling_ignored_during_execution) if wanted else ()

    @remembered
    def required_anti_affinity(self) -> tuple[PodAffinityTerm, ...]:
        affinity = self.pod.spec.affinity
        wanted = affinity.pod_anti_affinity if affinity else None
        return tuple(wanted.required_during_scheduling_ignored_during_execution) if wanted else ()

    @remembered
    def preferred_affinity(self) -> tuple[WeightedPodAffinityTerm, ...]:
        affinity = self.pod.spec.affinity
        wanted = affinity.pod_affinity if affinity else None
        return tuple(wanted.preferred_during_scheduling_ignored_during_execution) if wanted else ()

    @remembered
    def preferred_anti_affinity(self) -> tuple[WeightedPodAffinityTerm, ...]:
        affinity = self.pod.spec.affinity
        wanted = affinity.pod_anti_affinity if affinity else None
        return tuple(wanted.preferred_during_scheduling_ignored_during_execution) if wanted else ()

    @remembered
    def affinity_terms(self) -> AffinityTerms:
        """Pod affinity and anti-affinity with their selectors compiled."""
        return compile_terms(self.pod)

    @remembered
    def alike(self) -> dict[str, Any]:
        """What is worked out once for all pods that differ in nothing but their names."""
        return {}

    @property
    def has_affinity(self) -> bool:
        """Whether spec.affinity names podAffinity or podAntiAffinity at all, even when only preferred or empty."""
        affinity = self.pod.spec.affinity
        return affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)

    def __repr__(self) -> str:
        return f"PodInfo({self.key})"


def _names_ports(containers: Iterable[Container]) -> bool:
    for container in containers:  # noqa: SIM110 (the hot path: a generator costs three times as much)
        if container.ports:
            return True
    return False


@dataclass(slots=True)
class NodeInfo:
    """One node with the pods on it. ``node`` is None for a ghost: pods are left but the node is gone or unknown."""

    node: Node | None = None
    pods: list[PodInfo] = field(default_factory=list)
    requested: Resources = field(default_factory=dict)
    """Σ over pods; a scalar stays with value 0 when the last pod that used it leaves, as upstream."""
    non_zero_cpu: int = 0
    non_zero_memory: int = 0
    used_ports: set[HostPort] = field(default_factory=set)
    """A set without reference counts: two pods with one triple, and removing either clears it (upstream's rule)."""
    allocatable: Resources = field(default_factory=dict)
    allowed_pods: int = 0

    @property
    def name(self) -> str:
        return self.node.metadata.name if self.node else ""

    def set_node(self, node: Node) -> None:
        self.node = node
        self.allocatable = dict(node_allocatable(node))
        self.allowed_pods = self.allocatable.pop("pods", 0)

    def add_pod(self, pod: PodInfo) -> None:
        self.pods.append(pod)
        requested = self.requested
        for name, amount in pod.requests.items():
            requested[name] = requested.get(name, 0) + amount
        cpu, memory = pod.non_zero
        self.non_zero_cpu += cpu
        self.non_zero_memory += memory
        if pod.host_ports:
            self.used_ports.update(pod.host_ports)

    def remove_pod(self, uid: str) -> PodInfo:
        """Removes by uid; the last pod of the list moves into the hole. KeyError when the pod is not here."""
        hole = next((i for i, pod in enumerate(self.pods) if pod.uid == uid), None)
        if hole is None:
            raise KeyError(uid)
        placed, last = self.pods[hole], self.pods.pop()
        if last is not placed:
            self.pods[hole] = last
        for name, amount in placed.requests.items():
            self.requested[name] -= amount
        cpu, memory = placed.non_zero
        self.non_zero_cpu -= cpu
        self.non_zero_memory -= memory
        self.used_ports.difference_update(placed.host_ports)
        return placed

    def copy(self) -> NodeInfo:
        return NodeInfo(
            self.node,
            list(self.pods),
            dict(self.requested),
            self.non_zero_cpu,
            self.non_zero_memory,
            set(self.used_ports),
            self.allocatable,
            self.allowed_pods,
        )


def ports_after(used: set[HostPort], moves: Iterable[tuple[PodInfo, bool]]) -> set[HostPort]:
    """``used`` after pods came (True) and went (False), in this order."""
    ports = set(used)
    for pod, came in moves:
        (ports.update if came else ports.difference_update)(pod.host_ports)
    return ports


def ports_conflict(used: set[HostPort], wanted: HostPort) -> bool:
    """Same protocol and port, and either address is the wildcard or both are equal.

    Rules: docs/semantics/cache.md#nodeinfo.
    """
    if wanted.port <= 0:
        return False
    if wanted.ip == WILDCARD_IP:
        return any(u.port == wanted.port and u.protocol == wanted.protocol for u in used)
    return wanted in used or HostPort(WILDCARD_IP, wanted.protocol, wanted.port) in used

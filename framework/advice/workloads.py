"""The workload of a pod: whose controller made it, which of its pending pods are alike, and which it runs already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from framework.advice.played import Owner, PlayedPod, owner_of
from framework.cache.pod_groups import group_of
from framework.objects import Node, Pod
from framework.objects.affinity import PodAffinityTerm
from framework.objects.pod import PodStatus
from framework.objects.selectors import compile_label_selector
from framework.scheduler import Cluster

HOSTNAME: Final = "kubernetes.io/hostname"
TEMPLATE_HASH: Final = "pod-template-hash"
MOST_ALIKE: Final = 400
"""Pods that one remedy changes; a fork takes 500 changes."""
COMPARED: Final = (
    "scheduler_name",
    "containers",
    "init_containers",
    "node_selector",
    "affinity",
    "tolerations",
    "topology_spread_constraints",
    "scheduling_gates",
    "priority",
    "priority_class_name",
    "preemption_policy",
    "overhead",
    "resources",
)
"""What replicas share; names of hosts and of volumes are their own."""
PATCHED: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController"})
"""Kinds with a pod template that can be changed."""


@dataclass(frozen=True, slots=True)
class Workload:
    namespace: str
    kind: str
    """The Deployment of a ReplicaSet with a pod-template-hash; "" of a pod without a controller."""
    name: str
    alike: tuple[Pod, ...]
    """Pending pods that ask for the same, the one that is asked about first; of a pod without a controller those of its
    gang, which runs only if all of them do."""
    placed: tuple[Pod, ...]
    """Its pods that have a node; of a pod without a controller those that were written with the same rules and exclude
    it by them."""

    @property
    def reference(self) -> str:
        """``deployment/web``, as kubectl takes it."""
        return f"{self.kind.lower()}/{self.name}" if self.kind else ""

    @property
    def has_template(self) -> bool:
        return self.kind in PATCHED

    @property
    def size(self) -> int:
        return len(self.alike) + len(self.placed)


def identity_of(pod: Pod) -> Owner:
    """Of its workload: the Deployment of a ReplicaSet with a pod-template-hash; all but the namespace are "" of a pod
    without a controller."""
    namespace, kind, name = owner_of(pod)
    hashed = pod.metadata.labels.get(TEMPLATE_HASH, "")
    if kind == "ReplicaSet" and hashed and name.endswith(f"-{hashed}"):
        kind, name = "Deployment", name.removesuffix(f"-{hashed}")
    return namespace, kind, name


def workload_of(cluster: Cluster, pod: Pod, now: Mapping[str, PlayedPod]) -> Workload:
    """``now``: ``namespace/name`` → state, which knows pods that are being bound."""
    own = owner_of(pod)
    namespace, kind, name = identity_of(pod)
    if not own[1]:
        return Workload(namespace, "", "", (pod, *_mates(cluster, pod, now)), tuple(_twins(cluster, pod, now)))
    alike, placed = [pod], []
    for other in cluster.list(Pod, namespace):
        if other.metadata.uid == pod.metadata.uid or other.metadata.deletion_timestamp:
            continue
        if identity_of(other) != (namespace, kind, name):
            continue
        state = now.get(other.key)
        if state is not None and state.node:
            placed.append(other)
        elif owner_of(other) == own and len(alike) < MOST_ALIKE and same_wishes(pod, other):
            alike.append(other)
    return Workload(namespace, kind, name, tuple(alike), tuple(placed))


def _mates(cluster: Cluster, pod: Pod, now: Mapping[str, PlayedPod]) -> list[Pod]:
    """Of its PodGroup of scheduling.k8s.io. Of gated ones as few as are enough are changed, so none is one of these."""
    if group_of(pod) is None or pod.spec.scheduling_gates:
        return []
    return [
        other
        for other in cluster.list(Pod, pod.metadata.namespace)
        if group_of(other) == group_of(pod)
        and other.metadata.uid != pod.metadata.uid
        and not other.metadata.deletion_timestamp
        and not owner_of(other)[1]
        and not now[other.key].node
        and same_wishes(pod, other)
    ][: MOST_ALIKE - 1]


def _twins(cluster: Cluster, pod: Pod, now: Mapping[str, PlayedPod]) -> Iterator[Pod]:
    terms = [term for _, term in own_terms(pod)]
    if not terms:
        return
    for other in cluster.list(Pod, pod.metadata.namespace):
        state = now.get(other.key)
        if state is None or not state.node or owner_of(other)[1] or other.metadata.deletion_timestamp:
            continue
        if other.spec.affinity == pod.spec.affinity and any(_selects(term, other) for term in terms):
            yield other


def same_wishes(pod: Pod, other: Pod) -> bool:
    return all(getattr(pod.spec, field) == getattr(other.spec, field) for field in COMPARED)


def changed_like(pod: Pod, before: Pod, after: Pod) -> Pod:
    """``pod`` with what differs between the specifications of ``before`` and ``after``."""
    fields: dict[str, Any] = {
        field: getattr(after.spec, field)
        for field in after.spec.__struct_fields__
        if getattr(after.spec, field) != getattr(before.spec, field)
    }
    return replace(pod, spec=replace(pod.spec, **fields))


def made_again(pod: Pod, node: str = "") -> Pod:
    """As its controller makes it again: pending, or running on ``node``."""
    metadata = replace(pod.metadata, uid=f"{pod.metadata.uid}-again", resource_version="", creation_timestamp=None)
    status = PodStatus(phase="Running" if node else "Pending")
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node), status=status)


@dataclass(frozen=True, slots=True)
class OwnRule:
    """What allows at most one pod of the workload per value of a node's label: its required anti-affinity to its own
    pods, or a host port."""

    index: int | None
    """Of the term; None of a host port."""
    key: str
    holders: Mapping[str, Pod]
    """Value → the pod of the workload that holds it; every value that nodes offer this pod is there."""


def own_rule(cluster: Cluster, workload: Workload, offered: Iterable[str]) -> OwnRule | None:
    """Why more replicas can never all run; None where something else keeps them.

    ``offered``: nodes that would take the pod, were it not for rules between pods.
    """
    pod = workload.alike[0]
    nodes = [node for name in offered if (node := cluster.get(Node, "", name)) is not None]
    for index, term in own_terms(pod):
        key = term.topology_key
        values = {node.metadata.labels[key] for node in nodes if key in node.metadata.labels}
        holders: dict[str, Pod] = {}
        for other in workload.placed:
            node = cluster.get(Node, "", other.spec.node_name)
            if node is not None and key in node.metadata.labels and _selects(term, other):
                holders.setdefault(node.metadata.labels[key], other)
        if values and values <= holders.keys():
            return OwnRule(index, key, {value: holders[value] for value in sorted(values)})
    return None


def own_ports(cluster: Cluster, workload: Workload, refused: Iterable[str]) -> OwnRule | None:
    """Its own pods hold its host ports on all nodes that are left.

    ``refused``: nodes that would take the pod, were it not for a port.
    """
    wanted = _host_ports(workload.alike[0])
    on_node = {pod.spec.node_name: pod for pod in workload.placed if wanted & _host_ports(pod)}
    holders = {name: on_node.get(name) for name in sorted(refused)}
    held = {name: pod for name, pod in holders.items() if pod is not None}
    return OwnRule(None, HOSTNAME, held) if held and len(held) == len(holders) else None


def _host_ports(pod: Pod) -> set[int]:
    return {port.host_port for each in pod.spec.containers for port in each.ports if port.host_port}


def own_terms(pod: Pod) -> Iterator[tuple[int, PodAffinityTerm]]:
    """Required anti-affinity that selects the pod itself: (index of the term, the term)."""
    affinity = pod.spec.affinity
    rules = affinity.pod_anti_affinity if affinity is not None else None
    if rules is None:
        return
    for index, term in enumerate(rules.required_during_scheduling_ignored_during_execution):
        if _selects(term, pod):
            yield index, term


def _selects(term: PodAffinityTerm, pod: Pod) -> bool:
    """Of the term's own namespace or the named ones; who selects namespaces by label is not looked into."""
    namespaces = term.namespaces or (pod.metadata.namespace,)
    if pod.metadata.namespace not in namespaces or term.label_selector is None:
        return False
    return compile_label_selector(term.label_selector).matches(pod.metadata.labels)

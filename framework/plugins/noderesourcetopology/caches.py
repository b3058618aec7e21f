"""Three ways to believe what nodes say of their zones (docs/semantics/catalogue.md#caches-of-zones).

Agents write zones some time after a pod came; in between they show too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from framework.interface import Handle, NodeValues
from framework.objects import KubernetesObject, Pod
from framework.objects.catalogue import FINGERPRINT_ANNOTATION, NodeResourceTopology
from framework.objects.qos import GUARANTEED, pod_qos
from framework.objects.resources import Nanos
from framework.objects.simple_requests import effective_request, listed
from framework.plugins.noderesourcetopology.args import (
    ALL,
    AUTODETECT,
    DEDICATED,
    ENABLED,
    NONE,
    ONLY_EXCLUSIVE,
    NodeResourceTopologyMatchArgs,
    TopologyCache,
)
from framework.plugins.noderesourcetopology.fingerprint import (
    FINGERPRINT,
    FINGERPRINT_METHOD,
    WITH_EXCLUSIVE,
    Pinned,
    fingerprint,
    placement,
)
from framework.plugins.noderesourcetopology.fits import nanos_of
from framework.plugins.noderesourcetopology.table import Known, ZoneTable
from framework.plugins.noderesourcetopology.zones import (
    TopologyManager,
    attribute,
    is_exclusive,
    resource_names,
    zones_of,
)

SCHEDULERS = "schedulers with NodeResourceTopologyMatch"
NO_NAMES: frozenset[str] = frozenset()


class Believed(NamedTuple):
    """Of one node."""

    topology: NodeResourceTopology | None
    """None: nothing is known, and the node passes."""
    assumed: tuple[Nanos, ...] = ()
    """Requests that are taken off every zone."""
    fresh: bool = True
    """Otherwise the node does not come into question."""
    placement: dict[Pinned, int] | None = None
    """Where containers are, if that is known."""


class Cache(Protocol):
    def believed(self, node: str) -> Believed: ...

    def rejected(self, node: str) -> None:
        """A pod was refused by its zones."""
        ...

    def reserve(self, node: str, pod: Pod) -> None: ...

    def unreserve(self, node: str, pod: Pod) -> None: ...

    def bound(self, node: str, pod: Pod) -> None: ...

    def changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None: ...

    def resync(self) -> None: ...


def cache_of(args: NodeResourceTopologyMatchArgs, handle: Handle) -> Cache:
    if args.discard_reserved_nodes:
        return DiscardReserved(handle)
    if (args.cache_resync_period_seconds or 0) <= 0:
        return Passthrough(handle)
    return OverReserve(args.cache or TopologyCache(), handle, follows_victims=args.preemption_mode == ENABLED)


HELD: Final = -1


class Passthrough:
    """What the API server has."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self.values: NodeValues[int] = NodeValues()
        """The node's place in the table, or HELD where the node does not come into question. Set anew whenever what is
        believed of the node may have changed."""
        self._table = ZoneTable()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_table"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Nodes get their places anew."""
        self.__dict__.update(state)
        self._table = ZoneTable()
        for node in self.values:
            self._note(node)

    @property
    def table(self) -> ZoneTable:
        """As it is now."""
        self._table.refresh(self._read)
        return self._table

    def _read(self, node: str) -> Known | None:
        topology = self._handle.objects.get(NodeResourceTopology, "", node)
        return None if topology is None else Known(TopologyManager.of(topology), zones_of(topology))

    def believed(self, node: str) -> Believed:
        return Believed(self._handle.objects.get(NodeResourceTopology, "", node))

    def rejected(self, node: str) -> None: ...

    def reserve(self, node: str, pod: Pod) -> None: ...

    def unreserve(self, node: str, pod: Pod) -> None: ...

    def bound(self, node: str, pod: Pod) -> None: ...

    def changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        about = old if new is None else new
        if isinstance(about, NodeResourceTopology):
            self._table.forget(about.metadata.name)
            self._note(about.metadata.name)

    def _note(self, node: str) -> None:
        self.values.set(node, self._table.place(node))

    def resync(self) -> None: ...


class DiscardReserved(Passthrough):
    """What the API server has, but not of nodes that a pod is on its way to."""

    def __init__(self, handle: Handle) -> None:
        super().__init__(handle)
        self._reserved: dict[str, set[str]] = {}

    def believed(self, node: str) -> Believed:
        return Believed(None, fresh=False) if self._reserved.get(node) else super().believed(node)

    def reserve(self, node: str, pod: Pod) -> None:
        self._reserved.setdefault(node, set()).add(pod.metadata.uid)
        self._note(node)

    def unreserve(self, node: str, pod: Pod) -> None:
        self._reserved.get(node, set()).discard(pod.metadata.uid)
        self._note(node)

    def bound(self, node: str, pod: Pod) -> None:
        self.unreserve(node, pod)

    def _note(self, node: str) -> None:
        if self._reserved.get(node):
            self.values.set(node, HELD)
        else:
            super()._note(node)


@dataclass(frozen=True, slots=True)
class PlacedPod:
    """As the cache sees a pod of a node."""

    namespace: str
    name: str
    exclusive: bool
    pinned: tuple[str, ...] = ()
    """Its containers with something of their own, where victims are followed."""


class OverReserve:
    """What was believed last, less what pods reserved since then; read anew when the node's agent knows these pods."""

    def __init__(self, settings: TopologyCache, handle: Handle, *, follows_victims: bool) -> None:
        self._settings = settings
        self._handle = handle
        self._follows_victims = follows_victims
        self._known: dict[str, NodeResourceTopology] = {
            each.metadata.name: each for each in handle.objects.list(NodeResourceTopology)
        }
        self._placement: dict[str, dict[Pinned, int]] = {}
        self._assumed: dict[str, dict[str, Nanos]] = {}
        """Node → pod → request."""
        self._maybe_over_reserved: dict[str, None] = {}
        self._with_foreign_pods: dict[str, None] = {}
        self._with_another_policy: dict[str, None] = {}
        self._schedulers = handle.shared(SCHEDULERS, set[str])
        self._schedulers.add(handle.scheduler_name)

    def believed(self, node: str) -> Believed:
        if node in self._with_foreign_pods:
            return Believed(None, fresh=False)
        topology = self._known.get(node)
        if topology is None:
            return Believed(None)
        assumed = tuple(self._assumed.get(node, {}).values())
        return Believed(topology, assumed, placement=self._placement.get(node))

    def rejected(self, node: str) -> None:
        self._maybe_over_reserved[node] = None

    def reserve(self, node: str, pod: Pod) -> None:
        if node in self._known:
            self._assumed.setdefault(node, {})[pod_key(pod)] = effective_request(pod)

    def unreserve(self, node: str, pod: Pod) -> None:
        self._assumed.get(node, {}).pop(pod_key(pod), None)

    def bound(self, node: str, pod: Pod) -> None:
        """The agent does not know of it yet."""

    # --- what is heard ----------------------------------------------------------------------------------------------

    def changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        if isinstance(new, NodeResourceTopology) and old is not None:
            known = self._known.get(new.metadata.name)
            follows = self._settings.resync_scope in (None, ALL)
            if follows and known is not None and TopologyManager.of(known) != TopologyManager.of(new):
                self._with_another_policy[new.metadata.name] = None
        pod = new if isinstance(new, Pod) else old
        if isinstance(pod, Pod) and self._is_foreign(pod) and pod.spec.node_name in self._known:
            self._with_foreign_pods[pod.spec.node_name] = None

    def _is_foreign(self, pod: Pod) -> bool:
        detect = self._settings.foreign_pods_detect
        if detect == NONE or not pod.spec.node_name or pod.spec.scheduler_name in self._schedulers:
            return False
        return detect != ONLY_EXCLUSIVE or bool(_exclusive_containers(pod, self._names(pod.spec.node_name)))

    def _names(self, node: str) -> frozenset[str]:
        known = self._known.get(node)
        return NO_NAMES if known is None else resource_names(known)

    # --- reading anew -----------------------------------------------------------------------------------------------

    def resync(self) -> None:
        doubtful = dict.fromkeys((*self._with_foreign_pods, *self._maybe_over_reserved))
        changed = tuple(self._with_another_policy)
        if not doubtful and not changed:
            return
        pods = self._pods_by_node({*doubtful, *changed})
        for node in doubtful:
            topology = self._handle.objects.get(NodeResourceTopology, "", node)
            there = pods.get(node)
            if topology is not None and there and self._agent_knows(topology, there):
                self._take_over(topology, there)
        for node in changed:
            topology = self._handle.objects.get(NodeResourceTopology, "", node)
            if topology is not None:
                self._take_over(topology, pods.get(node, []))

    def _pods_by_node(self, nodes: set[str]) -> dict[str, list[PlacedPod]]:
        """Pods that have begun."""
        found: dict[str, list[PlacedPod]] = {}
        for pod in self._handle.objects.list(Pod):
            node, phase = pod.spec.node_name, pod.status.phase
            if node not in nodes or phase in ("Succeeded", "Failed"):
                continue
            if phase == "Running" or (self._settings.informer_mode == DEDICATED and phase not in ("", "Pending")):
                found.setdefault(node, []).append(self._placed(pod))
        return found

    def _placed(self, pod: Pod) -> PlacedPod:
        pinned = _exclusive_containers(pod, self._names(pod.spec.node_name))
        return PlacedPod(pod.metadata.namespace, pod.metadata.name, bool(pinned), pinned)

    def _agent_knows(self, topology: NodeResourceTopology, pods: Sequence[PlacedPod]) -> bool:
        expected = attribute(topology.attributes, FINGERPRINT)
        only_exclusive = False
        if expected is None:
            expected = topology.metadata.annotations.get(FINGERPRINT_ANNOTATION, "")
        elif self._settings.resync_method == ONLY_EXCLUSIVE:
            only_exclusive = True
        elif self._settings.resync_method == AUTODETECT:
            only_exclusive = attribute(topology.attributes, FINGERPRINT_METHOD) == WITH_EXCLUSIVE
        counted = [(pod.namespace, pod.name) for pod in pods if pod.exclusive or not only_exclusive]
        return bool(expected) and fingerprint(counted) == expected

    def _take_over(self, topology: NodeResourceTopology, pods: Sequence[PlacedPod]) -> None:
        node = topology.metadata.name
        self._known[node] = topology
        self._placement.pop(node, None)
        if self._follows_victims:
            pinned = [Pinned(pod.namespace, pod.name, name) for pod in pods for name in pod.pinned]
            if found := placement(topology, pinned):
                self._placement[node] = found
        self._assumed.pop(node, None)
        for marked in (self._maybe_over_reserved, self._with_foreign_pods, self._with_another_policy):
            marked.pop(node, None)


def pod_key(pod: Pod) -> str:
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def _exclusive_containers(pod: Pod, of_topology: frozenset[str]) -> tuple[str, ...]:
    """Names of containers that have something to themselves as long as the pod runs."""
    guaranteed = pod_qos(pod) == GUARANTEED
    sidecars = [each for each in pod.spec.init_containers if each.restart_policy == "Always"]
    return tuple(
        each.name
        for each in (*sidecars, *pod.spec.containers)
        if any(is_exclusive(guaranteed, name, amount, of_topology) for name, amount in nanos_of(listed(each)).items())
    )

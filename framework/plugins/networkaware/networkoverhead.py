"""NetworkOverhead: near the pods that a pod talks to, and not where it would have to talk at too great a cost.

Rules: docs/semantics/catalogue.md#networkoverhead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    BoundsNormalizer,
    Code,
    Codes,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    Handle,
    NodeValues,
    ObjectListener,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    Reason,
    Status,
    View,
)
from framework.interface.scores import less_is_better
from framework.objects import KubernetesObject, Node, Pod
from framework.objects.catalogue import AppGroup, AppGroupDependency, NetworkTopology
from framework.plugins.networkaware.app_groups import find, group_of, workload_of
from framework.plugins.networkaware.args import NetworkOverheadArgs
from framework.plugins.networkaware.costs import REGION, ZONE, Costs, NetworkCosts
from framework.sentences import noted

STATE_KEY: Final = "PreFilterNetworkOverhead"
SAME_ZONE: Final = 1
LARGEST: Final = 100
"""What it costs to reach a place whose cost nobody knows."""


class Where(NamedTuple):
    group: str
    workload: str
    node: str


class Peer(NamedTuple):
    """Where a pod is that the incoming pod depends on."""

    region: str
    zone: str
    most: int
    """The dependency's maxNetworkCost."""


class Reached(NamedTuple):
    satisfied: int
    violated: int
    cost: int


class Placed(NamedTuple):
    """Who is somewhere, as inputs of what PreFilter says."""

    members: NodeValues[int]
    """Of an AppGroup, per node, in all namespaces."""
    workloads: dict[str, NodeValues[int]]
    """Workload → the same of it alone."""

    def of(self, workload: str) -> NodeValues[int]:
        return self.workloads.setdefault(workload, NodeValues())


@dataclass(frozen=True, slots=True, eq=False)
class Peers:
    """All of them, and per node those that are on it."""

    everywhere: Counter[Peer]
    on_node: dict[str, Counter[Peer]]
    costs: NetworkCosts
    reasons: list[Reason] = field(default_factory=lambda: [Reason(Code.SUCCESS, ())])
    """By verdict code; every node has a text of its own."""
    codes: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def clone(self) -> Self:
        return self

    def code(self, node: str, satisfied: int, violated: int) -> int:
        """The verdict on a node where too much is out of reach."""
        key = (node, satisfied, violated)
        known = self.codes.get(key)
        if known is None:
            known = self.codes[key] = len(self.reasons)
            text = (
                f"Node {node} does not meet several network requirements from Workload dependencies: "
                f"Satisfied: {satisfied} Violated: {violated}"
            )
            self.reasons.append(Reason(Code.UNSCHEDULABLE, (text,)))
        return known


class NetworkOverhead(PreFilterPlugin, ColumnFilterPlugin, ColumnScorePlugin, BoundsNormalizer, ObjectListener):
    name: ClassVar[str] = "NetworkOverhead"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[NetworkOverheadArgs]] = NetworkOverheadArgs
    description: ClassVar[str] = noted("Places a pod near the pods of its AppGroup that it talks to.")

    listens_to = (Pod,)

    args: NetworkOverheadArgs

    def __init__(self, args: NetworkOverheadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._placed: dict[str, Placed] = {}
        """By AppGroup."""

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        before = None if not isinstance(old, Pod) else _where(old)
        after = None if not isinstance(new, Pod) else _where(new)
        if before != after:
            self._count(before, -1)
            self._count(after, 1)

    def _count(self, where: Where | None, by: int) -> None:
        if where is None:
            return
        placed = self._placed_of(where.group)
        for values in (placed.members, placed.of(where.workload)):
            number = (values.get(where.node) or 0) + by
            if number:
                values.set(where.node, number)
            else:
                values.discard(where.node)

    def _placed_of(self, group: str) -> Placed:
        return self._placed.setdefault(group, Placed(NodeValues(), {}))

    def fragment(self, pod: PodInfo) -> Hashable:
        return group_of(pod.pod), workload_of(pod.pod)

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        state.delete(STATE_KEY)
        dependencies = self._dependencies(pod.pod)
        if not dependencies:
            return None, None
        placed = self._placed_of(group_of(pod.pod))
        topology = find(self.handle, NetworkTopology, self.args.namespaces, self.args.network_topology_name)
        if topology is None:
            state.rests_on(placed.members)
            # Upstream's process ends where any member is placed.
            error = Status.as_error(f'networktopology "{self.args.network_topology_name}" not found')
            return None, error if any(True for _ in placed.members) else None
        self._name_grounds(state, placed, dependencies, view)
        everywhere: Counter[Peer] = Counter()
        on_node: dict[str, Counter[Peer]] = {}
        for dependency in dependencies:
            values = placed.of(dependency.workload.selector)
            for name in values:
                info = self.handle.snapshot.get(name)
                if info is None or info.node is None:
                    return None, Status.as_error(f'pod hostname not found: nodeinfo not found for node name "{name}"')
                peer, number = Peer(*place_of(info.node), dependency.max_network_cost), values.get(name) or 0
                everywhere[peer] += number
                on_node.setdefault(name, Counter())[peer] += number
        if everywhere:
            state.write(STATE_KEY, Peers(everywhere, on_node, NetworkCosts(topology, self.args.weights_name)))
        return None, None

    def _name_grounds(
        self, state: CycleState, placed: Placed, dependencies: Sequence[AppGroupDependency], view: View
    ) -> None:
        state.rests_on(view.label(REGION), view.label(ZONE), view.name())
        state.rests_on(*(placed.of(each.workload.selector) for each in dependencies))

    def _dependencies(self, pod: Pod) -> list[AppGroupDependency]:
        """Of the pod's workload."""
        name = group_of(pod)
        group = find(self.handle, AppGroup, self.args.namespaces, name) if name else None
        if group is None:
            # An AppGroup that does not exist ends upstream's process.
            return []
        mine = workload_of(pod)
        return [
            dependency
            for member in group.spec.workloads
            if member.workload.selector == mine
            for dependency in member.dependencies
        ]

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        peers = self._peers(state)
        if peers is None:
            return None

        def kernel(regions: Codes, zones: Codes, names: Codes) -> NDArray[np.int32]:
            verdicts = np.zeros(len(names.codes), dtype=np.int32)
            reach = _reach(peers, regions, zones, names)
            for row in np.flatnonzero(reach.violated > reach.satisfied).tolist():
                satisfied, violated = int(reach.satisfied[row]), int(reach.violated[row])
                verdicts[row] = peers.code(names.values[names.codes[row]], satisfied, violated)
            return verdicts

        return Plan(kernel, (view.label(REGION), view.label(ZONE), view.name()), peers, peers.reasons)

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        if dependencies := self._dependencies(pod.pod):
            self._name_grounds(state, self._placed_of(group_of(pod.pod)), dependencies, view)
        peers = self._peers(state)
        if peers is None:
            return Plan(lambda names: np.zeros(len(names.codes), dtype=np.int8), (view.name(),))

        def kernel(regions: Codes, zones: Codes, names: Codes) -> NDArray[np.int64]:
            return _reach(peers, regions, zones, names).cost

        return Plan(kernel, (view.label(REGION), view.label(ZONE), view.name()), peers)

    def _peers(self, state: CycleState) -> Peers | None:
        """None: all nodes are alike to the pod."""
        return state.read(STATE_KEY, Peers) if state.has(STATE_KEY) else None

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return less_is_better(scores, lowest, highest)


class Reach(NamedTuple):
    """``Reached`` of many rows; 0 of rows without a node."""

    satisfied: NDArray[np.int64]
    violated: NDArray[np.int64]
    cost: NDArray[np.int64]


def _reach(peers: Peers, regions: Codes, zones: Codes, names: Codes) -> Reach:
    """Nodes of one region and zone reach the same, but for what is on them."""
    regional, zonal = regions.codes.astype(np.int64) + 1, zones.codes.astype(np.int64) + 1
    width = len(zones.values) + 1
    found, places = np.unique(regional * width + zonal, return_inverse=True)
    named = [_named(regions, zones, *divmod(each, width)) for each in found.tolist()]
    by_place = np.array([_from(place, peers.everywhere, peers.costs.of(*place)) for place in named], dtype=np.int64)
    reached = by_place[places] * (names.codes >= 0)[:, np.newaxis]
    occupied = np.array([*(name in peers.on_node for name in names.values), False])
    for row in np.flatnonzero(occupied[names.codes]).tolist():
        # What is on the node itself is reached at no cost, and satisfied.
        own = peers.on_node[names.values[names.codes[row]]]
        place = named[places[row]]
        there = _from(place, own, peers.costs.of(*place))
        reached[row] += (own.total() - there.satisfied, -there.violated, -there.cost)
    return Reach(reached[:, 0], reached[:, 1], reached[:, 2])


def _named(regions: Codes, zones: Codes, region: int, zone: int) -> tuple[str, str]:
    """Of codes that count from 1; 0 is none."""
    return regions.values[region - 1] if region else "", zones.values[zone - 1] if zone else ""


def _from(place: tuple[str, str], peers: Counter[Peer], costs: Costs) -> Reached:
    """From a node of this region and zone to all of these, none of which is on it."""
    satisfied = violated = total = 0
    for peer, number in peers.items():
        near, cost = reach_of(place, peer, costs)
        total += cost * number
        if near:
            satisfied += number
        elif near is False:
            violated += number
    return Reached(satisfied, violated, total)


def _where(pod: Pod) -> Where | None:
    """None of a pod without a node or an AppGroup."""
    group, node = group_of(pod), pod.spec.node_name
    return Where(group, workload_of(pod), node) if group and node else None


def reach_of(place: tuple[str, str], peer: Peer, costs: Costs) -> tuple[bool | None, int]:
    """(whether it is near enough to a node of this region and zone, or None where nobody knows; the cost)."""
    region, zone = place
    if not peer.region and not peer.zone:
        return False, LARGEST
    if region == peer.region and zone == peer.zone:
        return True, SAME_ZONE
    cost = costs.get((zone, peer.zone) if region == peer.region else (region, peer.region))
    return (None, LARGEST) if cost is None else (cost <= peer.most, cost)


def place_of(node: Node) -> tuple[str, str]:
    """(region, zone)"""
    labels = node.metadata.labels
    return labels.get(REGION, ""), labels.get(ZONE, "")

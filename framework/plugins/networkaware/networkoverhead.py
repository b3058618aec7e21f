"""NetworkOverhead: near the pods that a pod talks to, and not where it would have to talk at too great a cost.

Rules: docs/semantics/catalogue.md#networkoverhead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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

    def code(self, node: str, reached: Reached) -> int:
        """The verdict on a node where too much is out of reach."""
        key = (node, reached.satisfied, reached.violated)
        known = self.codes.get(key)
        if known is None:
            known = self.codes[key] = len(self.reasons)
            text = (
                f"Node {node} does not meet several network requirements from Workload dependencies: "
                f"Satisfied: {reached.satisfied} Violated: {reached.violated}"
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
        self._members: dict[str, dict[str, Pod]] = {}
        """AppGroup → its pods that have a node, of all namespaces, by uid."""

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        if isinstance(old, Pod) and (name := group_of(old)):
            self._members.get(name, {}).pop(old.metadata.uid, None)
        if isinstance(new, Pod) and new.spec.node_name and (name := group_of(new)):
            self._members.setdefault(name, {})[new.metadata.uid] = new

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        state.delete(STATE_KEY)
        dependencies, placed = self._dependencies(pod.pod)
        if not dependencies or not placed:
            return None, None
        topology = find(self.handle, NetworkTopology, self.args.namespaces, self.args.network_topology_name)
        if topology is None:
            # Upstream's process ends here.
            return None, Status.as_error(f'networktopology "{self.args.network_topology_name}" not found')
        everywhere: Counter[Peer] = Counter()
        on_node: dict[str, Counter[Peer]] = {}
        for other in placed:
            for dependency in dependencies:
                if dependency.workload.selector != workload_of(other):
                    continue
                name = other.spec.node_name
                info = self.handle.snapshot.get(name)
                if info is None or info.node is None:
                    return None, Status.as_error(f'pod hostname not found: nodeinfo not found for node name "{name}"')
                peer = Peer(*_place(info.node), dependency.max_network_cost)
                everywhere[peer] += 1
                on_node.setdefault(name, Counter())[peer] += 1
        state.write(STATE_KEY, Peers(everywhere, on_node, NetworkCosts(topology, self.args.weights_name)))
        return None, None

    def _dependencies(self, pod: Pod) -> tuple[list[AppGroupDependency], list[Pod]]:
        """(what the pod's workload depends on, pods of its group that have a node)."""
        name = group_of(pod)
        group = find(self.handle, AppGroup, self.args.namespaces, name) if name else None
        if group is None:
            # An AppGroup that does not exist ends upstream's process.
            return [], []
        mine = workload_of(pod)
        dependencies = [
            dependency
            for member in group.spec.workloads
            if member.workload.selector == mine
            for dependency in member.dependencies
        ]
        if not dependencies:
            return [], []
        return dependencies, list(self._members.get(name, {}).values())

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        peers = self._peers(state)
        if peers is None:
            return None

        def kernel(regions: Codes, zones: Codes, names: Codes) -> NDArray[np.int32]:
            verdicts = np.zeros(len(names.codes), dtype=np.int32)
            for row, reached in enumerate(_reach(peers, regions, zones, names)):
                if reached is not None and reached.violated > reached.satisfied:
                    verdicts[row] = peers.code(names.values[names.codes[row]], reached)
            return verdicts

        return Plan(kernel, (view.label(REGION), view.label(ZONE), view.name()), peers, peers.reasons)

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        peers = self._peers(state)
        if peers is None:
            return Plan(lambda names: np.zeros(len(names.codes), dtype=np.int8), (view.name(),))

        def kernel(regions: Codes, zones: Codes, names: Codes) -> NDArray[np.int64]:
            costs = [0 if each is None else each.cost for each in _reach(peers, regions, zones, names)]
            return np.array(costs, dtype=np.int64)

        return Plan(kernel, (view.label(REGION), view.label(ZONE), view.name()), peers)

    def _peers(self, state: CycleState) -> Peers | None:
        """None: all nodes are alike to the pod."""
        return state.read(STATE_KEY, Peers) if state.has(STATE_KEY) else None

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return less_is_better(scores, lowest, highest)


def _reach(peers: Peers, regions: Codes, zones: Codes, names: Codes) -> Sequence[Reached | None]:
    """Per row; None for rows without a node."""
    known: dict[tuple[int, int], Reached] = {}
    reached: list[Reached | None] = []
    for region, zone, name in zip(regions.codes.tolist(), zones.codes.tolist(), names.codes.tolist(), strict=True):
        if name < 0:
            reached.append(None)
            continue
        place = ("" if region < 0 else regions.values[region], "" if zone < 0 else zones.values[zone])
        found = known.get((region, zone))
        if found is None:
            found = known[region, zone] = _from(place, peers.everywhere, peers.costs.of(*place))
        own = peers.on_node.get(names.values[name])
        if own:
            # What is on the node itself is reached at no cost, and satisfied.
            there = _from(place, own, peers.costs.of(*place))
            found = Reached(
                found.satisfied - there.satisfied + own.total(),
                found.violated - there.violated,
                found.cost - there.cost,
            )
        reached.append(found)
    return reached


def _from(place: tuple[str, str], peers: Counter[Peer], costs: Costs) -> Reached:
    """From a node of this region and zone to all of these, none of which is on it."""
    satisfied = violated = total = 0
    region, zone = place
    for peer, number in peers.items():
        if not peer.region and not peer.zone:
            violated += number
            total += LARGEST * number
            continue
        if region == peer.region and zone == peer.zone:
            satisfied += number
            total += SAME_ZONE * number
            continue
        cost = costs.get((zone, peer.zone) if region == peer.region else (region, peer.region))
        total += (LARGEST if cost is None else cost) * number
        if cost is not None:
            if cost <= peer.most:
                satisfied += number
            else:
                violated += number
    return Reached(satisfied, violated, total)


def _place(node: Node) -> tuple[str, str]:
    labels = node.metadata.labels
    return labels.get(REGION, ""), labels.get(ZONE, "")

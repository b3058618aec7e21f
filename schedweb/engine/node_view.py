"""NodeTable: requested, reserved and pod counts per node, as rows that are never used twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from framework.columns.usage import wrap
from framework.objects import Node
from framework.objects.resources import node_allocatable
from schedweb.engine.pod_view import PodView
from schedweb.engine.usage_log import Amounts, UsageLog

ZONE: Final = "topology.kubernetes.io/zone"
OLD_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
TYPE: Final = "node.kubernetes.io/instance-type"
POOLS: Final = (
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
    "node-pool",
    "pool",
)
FIRST: Final = ("cpu", "memory", "pods")
LAST: Final = ("ephemeral-storage",)
BOUND, WAITING, IN_FLIGHT = range(3)
LARGEST: Final = 1 << 63
"""Sums wrap there, as the scheduler's do: no table and no answer holds more than 64 bits."""
PodStage = int


@dataclass(slots=True)
class NodeView:
    row: int
    name: str
    zone: str = ""
    pool: str = ""
    type: str = ""
    cordoned: bool = False
    tainted: bool = False
    allocatable: list[int] = field(default_factory=list)
    requested: list[int] = field(default_factory=list)
    reserved: list[int] = field(default_factory=list)
    pods: list[int] = field(default_factory=lambda: [0, 0, 0])
    present: bool = True


def ordered_resources(names: set[str]) -> list[str]:
    known = [*FIRST, *LAST]
    return [*FIRST, *sorted(name for name in names if name not in known), *(name for name in LAST if name in names)]


class NodeTable:
    """Pods are put on nodes by uid; a pod counts once, as bound, waiting or in flight."""

    def __init__(self, usage: UsageLog) -> None:
        self.resources: list[str] = list(FIRST)
        self.views: dict[str, NodeView] = {}
        self.next_row = 0
        self.placed: dict[str, tuple[str, PodStage, Amounts]] = {}
        """Uid → (node, place, amounts); resources that were named later are none of its."""
        self.homeless: dict[str, dict[str, None]] = {}
        """Pods whose node is not there (yet): node → uids."""
        self.usage = usage
        self.next_attempt = 1
        self.dirty: dict[int, NodeView] = {}
        self.topology_changed = False
        self.objects_changed: set[str] = set()
        """Names of nodes whose object is not the one that was last written."""

    def declare(self, names: set[str]) -> None:
        """Resources known from the start come in the order people expect; later ones are added at the end."""
        if not self.views:
            self.resources = ordered_resources(names | set(self.resources))

    def vector(self, amounts: Mapping[str, int]) -> list[int]:
        for name in amounts:
            if name not in self.resources:
                self.add_resource(name)
        return [amounts.get(name, 0) for name in self.resources]

    def add_resource(self, name: str) -> None:
        self.resources.append(name)
        for view in self.views.values():
            for amounts in (view.allocatable, view.requested, view.reserved):
                amounts.append(0)
            self.dirty[view.row] = view
        self.topology_changed = True

    # --- nodes ------------------------------------------------------------------------------------------------------

    def set_node(self, node: Node) -> None:
        labels = node.metadata.labels
        allocatable = self.vector(node_allocatable(node))
        view = self.views.get(node.metadata.name)
        if view is None:
            size = len(self.resources)
            view = NodeView(self.next_row, node.metadata.name, requested=[0] * size, reserved=[0] * size)
            self.next_row += 1
            self.views[view.name] = view
            self.topology_changed = True
            for uid in self.homeless.pop(view.name, {}):
                self._count(view, uid, 1)
        facts = (
            labels.get(ZONE) or labels.get(OLD_ZONE, ""),
            next((labels[key] for key in POOLS if labels.get(key)), ""),
            labels.get(TYPE, ""),
            node.spec.unschedulable,
            any(taint.effect in ("NoSchedule", "NoExecute") for taint in node.spec.taints),
        )
        before = (view.zone, view.pool, view.type, view.cordoned, view.tainted, view.allocatable)
        view.zone, view.pool, view.type, view.cordoned, view.tainted = facts
        view.allocatable = allocatable
        if before != (*facts, allocatable):
            self.topology_changed = True
        self.objects_changed.add(view.name)
        self._changed(view)

    def remove_node(self, name: str) -> None:
        view = self.views.pop(name, None)
        if view is None:
            return
        view.present = False
        self.dirty[view.row] = view
        self.topology_changed = True
        self.usage.put(self.next_attempt, view.row, None)
        for uid, (node, _, _) in self.placed.items():
            if node == name:
                self.homeless.setdefault(name, {})[uid] = None

    # --- pods -------------------------------------------------------------------------------------------------------

    def put(self, uid: str, node: str, place: PodStage, amounts: Mapping[str, int]) -> None:
        """The pod counts on this node, and nowhere else any more."""
        known = self.placed.get(uid)
        if known is not None and known[0] == node:
            self._move(uid, known, place)
            return
        self.take(uid)
        self.placed[uid] = (node, place, tuple(self.vector({**amounts, "pods": 1})))
        view = self.views.get(node)
        if view is None:
            self.homeless.setdefault(node, {})[uid] = None
        else:
            self._count(view, uid, 1)

    def _move(self, uid: str, known: tuple[str, PodStage, Amounts], place: PodStage) -> None:
        """On its node; what the node has in use stays."""
        if known[1] == place:
            return
        self.placed[uid] = (known[0], place, known[2])
        view = self.views.get(known[0])
        if view is not None:
            self._shift(view, known[1], known[2], -1)
            self._shift(view, place, known[2], 1)
            self.dirty[view.row] = view

    def resize(self, uid: str, amounts: Mapping[str, int]) -> None:
        """It asks for something else than when it came; nothing when it is on no node."""
        known = self.placed.get(uid)
        if known is None:
            return
        vector = tuple(self.vector({**amounts, "pods": 1}))
        self.placed[uid] = (known[0], known[1], vector)
        view = self.views.get(known[0])
        if view is not None:
            self._shift(view, known[1], known[2], -1)
            self._shift(view, known[1], vector, 1)
            self._changed(view)

    def put_all(self, bound: Iterable[PodView]) -> None:
        """Many new pods at once. Replicas may share their amounts, and those on one node what is kept of them."""
        vectors: dict[int, Amounts] = {}
        """By the identity of amounts, all of which are there."""
        kept: dict[tuple[str, int], tuple[str, PodStage, Amounts]] = {}
        counts: dict[tuple[str, int], int] = {}
        for pod in bound:
            node, amounts = pod.node, pod.amounts
            key = node, id(amounts)
            place = kept.get(key)
            if place is None:
                vector = vectors.get(id(amounts))
                if vector is None:
                    vector = vectors[id(amounts)] = tuple(self.vector({**amounts, "pods": 1}))
                place = kept[key] = node, BOUND, vector
                counts[key] = 0
            counts[key] += 1
            self.placed[pod.uid] = place
            if node not in self.views:
                self.homeless.setdefault(node, {})[pod.uid] = None
        for key, count in counts.items():
            node, _, vector = kept[key]
            if (view := self.views.get(node)) is not None:
                self._shift(view, BOUND, vector, count)
        for view in self.views.values():
            self._changed(view)

    def take(self, uid: str) -> None:
        known = self.placed.get(uid)
        if known is None:
            return
        view = self.views.get(known[0])
        if view is None:
            others = self.homeless.get(known[0], {})
            others.pop(uid, None)
            if not others:
                self.homeless.pop(known[0], None)
        else:
            self._count(view, uid, -1)
        del self.placed[uid]

    def _count(self, view: NodeView, uid: str, sign: int) -> None:
        self._add(view, uid, sign)
        self._changed(view)

    def _add(self, view: NodeView, uid: str, sign: int) -> None:
        _, place, vector = self.placed[uid]
        self._shift(view, place, vector, sign)

    def _shift(self, view: NodeView, place: PodStage, vector: Amounts, count: int) -> None:
        """``count``: of such pods that came; of one that left -1."""
        amounts = view.requested if place == BOUND else view.reserved
        for index, amount in enumerate(vector):
            total = amounts[index] + count * amount
            amounts[index] = total if -LARGEST <= total < LARGEST else wrap(total)
        view.pods[place] += count

    def _changed(self, view: NodeView) -> None:
        self.dirty[view.row] = view
        used: Amounts = tuple(wrap(a + b) for a, b in zip(view.requested, view.reserved, strict=True))
        self.usage.put(self.next_attempt, view.row, used)

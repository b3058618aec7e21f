"""Snapshot: the cluster as one scheduling cycle sees it, as NodeInfos and as columns.

Rules: docs/semantics/cache.md#snapshot.

The cache replays its changes into it at the start of a cycle; nothing else writes to it. Every node has a row, a slot
that stays its own while the node exists. Pods whose node is unknown (ghosts) wait aside until the node appears.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from framework.columns.counts import Counts
from framework.columns.facts import CodedFact, CodedPredicate, Extent, grown, taints_key
from framework.columns.groups import Axis, Groups
from framework.columns.images import Images, ImageScore
from framework.columns.incremental import Log, Placement, RowLog
from framework.columns.node_values import ValuesByRow
from framework.columns.nodes import NodeInfos
from framework.columns.row_values import NodePredicate
from framework.columns.sights import Sights
from framework.columns.usage import OwnRows, PortConflicts, Usage
from framework.columns.volumes import PodsWithVolumes
from framework.interface.columns import ABSENT, DomainInput, Input, PodQuery, TermInput, TermKind, TermTarget
from framework.interface.node_info import HostPort, NodeInfo, PodInfo
from framework.interface.node_values import NodeValues
from framework.objects import Node, Pod, Taint
from framework.objects.selectors import LabelMatcher, NodeSelectorMatcher
from framework.objects.tolerations import find_untolerated_taint
from framework.trace.deferred import NodeList, NodeNames

I = TypeVar("I")  # noqa: E741

KEPT_INPUTS: Final = 1024
"""Inputs made for single pods (a selector, a set of ports) that are kept; the least recently used go first."""
KEPT_ROWS: Final = 10_000_000
"""Rows of all kept inputs together, at 4 to 20 bytes each: what bounds their memory in large clusters."""
ASKED_ONCE: Final = 16_384
LEAST_KEPT: Final = 64
"""Enough for the inputs of one cycle, however many nodes there are."""
KEPT_GROUPS: Final = 64


class Snapshot:
    """Rows, NodeInfos, columns. Implements ``SnapshotReader`` and ``View``."""

    def __init__(self) -> None:
        self.extent = Extent()
        self.placements: Log[Placement] = Log()
        """Every pod that came or went; also those of a node that came or went with pods on it."""
        self.nodes_log = self.extent.nodes_log
        self.labels_log = RowLog()
        """Rows whose node labels or name changed (a node that came or went included)."""
        self._infos: list[NodeInfo | None] = []
        self._rows: dict[str, int] = {}
        self._free: list[int] = []
        self._ghosts: dict[str, NodeInfo] = {}
        self._touched: dict[int, None] = {}
        self.order = np.zeros(0, dtype=np.intp)
        """Rows in the order of the node list."""
        self._position = np.zeros(0, dtype=np.intp)
        self.order_names: tuple[str, ...] = ()
        """Names in the order of the node list; the same object until the list is rebuilt."""
        self._node_list: NodeList | None = None
        self.row_count = 0
        """Slots in use, free ones between them included: the length of what ``gather(ALL_ROWS)`` gives.

        ``changed_since`` does not name rows that are new since then: nothing was gathered for them.
        """
        self.in_row_order = True
        """Positions in the node list are row numbers."""
        self._listed: list[NodeInfo] | None = None
        self.usage = Usage(self.extent)
        self.images = Images(self.extent)
        self._make_facts()

    def _make_facts(self) -> None:
        self._labels: dict[str, CodedFact] = {}
        self._annotations: dict[str, CodedFact] = {}
        self._taints = CodedFact(self.extent, lambda node: node.spec.taints, taints_key)
        self._unschedulable = CodedFact(self.extent, lambda node: node.spec.unschedulable or None, bool)
        self._names = CodedFact(self.extent, lambda node: node.metadata.name, str)
        self._inputs: dict[Hashable, Any] = {}
        self._groups: dict[tuple[tuple[Axis, ...], bool], Groups] = {}
        self._new_inputs: dict[Hashable, tuple[Any, int]] = {}
        """Asked for in one cycle only, so far; with the ``changes`` there were by then."""
        self._asked = Sights(ASKED_ONCE)
        self._counts = Counts(self)
        self._volume_users = PodsWithVolumes(self)

    # --- what the cache replays -------------------------------------------------------------------------------------

    def set_node(self, node: Node) -> None:
        """The node is new or has changed."""
        self.extent.changes += 1
        name = node.metadata.name
        row = self._rows.get(name)
        if row is None:
            self._admit(node)
            return
        info = self._info(row)
        before = info.node
        info.set_node(node)
        self._node_changed(row, info, labels=before is None or before.metadata.labels != node.metadata.labels)

    def _admit(self, node: Node) -> None:
        name = node.metadata.name
        row = self._free.pop() if self._free else self._new_row()
        info = self._ghosts.pop(name, None) or NodeInfo()
        info.set_node(node)
        self._infos[row] = info
        self._rows[name] = row
        self._node_changed(row, info, labels=True)
        for pod in info.pods:
            self.placements.append((row, pod, 1))

    def _new_row(self) -> int:
        row = len(self._infos)
        self._infos.append(None)
        extent = self.extent
        extent.used = self.row_count = row + 1
        if extent.used > extent.capacity:
            extent.capacity *= 2
            self.usage.grow()
        return row

    def _node_changed(self, row: int, info: NodeInfo, *, labels: bool) -> None:
        node = cast(Node, info.node)
        self.images.set_node(node)
        self.usage.set_node(row, info)
        self._set_facts(row, node)
        self.nodes_log.append(row)
        if labels:
            self.labels_log.append(row)
        self._touched[row] = None

    def _set_facts(self, row: int, node: Node | None) -> None:
        self._taints.set(row, node)
        self._unschedulable.set(row, node)
        self._names.set(row, node)
        for fact in (*self._labels.values(), *self._annotations.values()):
            fact.set(row, node)

    def remove_node(self, name: str) -> None:
        """The node is gone; pods that are still on it become invisible until it comes back."""
        self.extent.changes += 1
        row = self._rows.pop(name)
        info = self._info(row)
        for pod in info.pods:
            self.placements.append((row, pod, -1))
        self._infos[row] = None
        self._free.append(row)
        self._touched.pop(row, None)
        self.images.remove_node(name)
        self.images.clear(row)
        self.usage.clear(row)
        self._set_facts(row, None)
        self.nodes_log.append(row)
        self.labels_log.append(row)
        info.node = None
        info.allocatable = {}
        info.allowed_pods = 0
        if info.pods:
            self._ghosts[name] = info

    def add_pod(self, node_name: str, pod: PodInfo) -> None:
        self.extent.changes += 1
        row = self._rows.get(node_name)
        if row is None:
            ghost = self._ghosts.get(node_name)
            if ghost is None:
                ghost = self._ghosts[node_name] = NodeInfo()
            ghost.add_pod(pod)
            return
        info = self._infos[row]
        assert info is not None
        info.add_pod(pod)
        self.usage.pod_changed(row, info, pod)
        self.placements.append((row, pod, 1))
        self._touched[row] = None

    def remove_pod(self, node_name: str, uid: str) -> None:
        """KeyError when the pod is not there."""
        self.extent.changes += 1
        row = self._rows.get(node_name)
        if row is None:
            ghost = self._ghosts[node_name]
            ghost.remove_pod(uid)
            if not ghost.pods:
                del self._ghosts[node_name]
            return
        info = self._info(row)
        pod = info.remove_pod(uid)
        self.usage.pod_changed(row, info, pod)
        self.placements.append((row, pod, -1))
        self._touched[row] = None

    def assume_pod(self, node_name: str, pod: PodInfo) -> None:
        """Within a pod group's cycle, which takes it back: the cache knows nothing of it, images stay as they are."""
        self.add_pod(node_name, pod)
        self._touched.clear()

    def forget_pod(self, node_name: str, uid: str) -> None:
        self.remove_pod(node_name, uid)
        self._touched.clear()

    def set_order(self, names: Sequence[str]) -> None:
        """The node list: zones in turn. Call it whenever nodes were added or removed.

        Rules: docs/semantics/cache.md#node-order.
        """
        self.order_names = tuple(names)
        self._node_list = None
        self.order = np.array([self._rows[name] for name in names], dtype=np.intp)
        self._position = np.full(self.extent.used, ABSENT, dtype=np.intp)
        self._position[self.order] = np.arange(len(self.order), dtype=np.intp)
        self.in_row_order = np.array_equal(self.order, np.arange(self.extent.used))
        self._listed = None

    @property
    def is_finished(self) -> bool:
        """Whether ``finish_refresh`` would change nothing."""
        return not self._touched

    def count_pods(self) -> None:
        """Placed pods are filed by labels and affinity terms now, and not when the first cycle asks for a count."""
        self._counts.refresh()

    def finish_refresh(self) -> None:
        """After the last change and ``set_order`` of a refresh: nodes that changed see today's image counts."""
        images = self.images
        if images.total_nodes != len(self.order):
            images.count_nodes(len(self.order))
        for row in self._touched if images.are_there else ():
            images.freeze(row, self._info(row).name)
        self._touched.clear()

    # --- guests -----------------------------------------------------------------------------------------------------

    def admit_guests(self, nodes: Sequence[Node]) -> list[int]:
        """Rows for node objects that are not the cluster's, without pods and images, whatever their names; they are
        not in the node list. ``dismiss_guests`` must come before the next refresh."""
        rows = [self._free.pop() if self._free else self._new_row() for _ in nodes]
        self._set_guests(zip(rows, nodes, strict=True))
        return rows

    def dismiss_guests(self, rows: Sequence[int]) -> None:
        self._set_guests((row, None) for row in rows)
        self._free.extend(rows)

    def _set_guests(self, guests: Iterable[tuple[int, Node | None]]) -> None:
        for row, node in guests:
            info = self._infos[row] = None if node is None else NodeInfo()
            if info is None or node is None:
                self.usage.clear(row)
            else:
                info.set_node(node)
                self.usage.set_node(row, info)
            self.extent.changes += 1
            self._set_facts(row, node)
            self.nodes_log.append(row)
            self.labels_log.append(row)
        # Who goes by the list's identity looks at all rows anew, and finds those without a place in it.
        self.order, self.in_row_order = self.order[:], False

    # --- SnapshotReader ---------------------------------------------------------------------------------------------

    def list(self) -> Sequence[NodeInfo]:
        """All nodes in zone order."""
        if self._listed is None:
            self._listed = [self._info(row) for row in self.order.tolist()]
        return self._listed

    def get(self, name: str) -> NodeInfo | None:
        row = self._rows.get(name)
        return None if row is None else self._infos[row]

    def place(self, name: str) -> tuple[int, NodeInfo] | None:
        """(row, node); None when there is no such node."""
        row = self._rows.get(name, ABSENT)
        return None if row == ABSENT or (info := self._infos[row]) is None else (row, info)

    def row(self, name: str) -> int:
        """KeyError when there is no such node."""
        return self._rows[name]

    def name_of_row(self, row: int) -> str:
        return self._info(row).name

    def names_of_rows(self, rows: NDArray[np.intp]) -> Sequence[str]:
        if self._node_list is None:
            self._node_list = NodeList(self.order_names)
        return NodeNames(self._node_list, self._position[rows])

    def rows_with_pods_below(self, priority: int) -> NDArray[np.bool_]:
        return self.usage.lowest_priority[: self.extent.used] < priority

    # --- rows -------------------------------------------------------------------------------------------------------

    def _info(self, row: int) -> NodeInfo:
        info = self._infos[row]
        if info is None:
            raise KeyError(f"row {row} has no node")
        return info

    def info_of_row(self, row: int) -> NodeInfo | None:
        """None for the free slot of a deleted node."""
        return self._infos[row]

    def nodes_of_rows(self, rows: NDArray[np.intp]) -> Sequence[NodeInfo]:
        """KeyError for the free slot of a deleted node."""
        if len(rows) == len(self.order) and np.array_equal(rows, self.order):
            return self.list()
        return [self._info(row) for row in rows.tolist()]

    def _node_of_row(self, row: int) -> Node | None:
        info = self._infos[row]
        return None if info is None else info.node

    def __len__(self) -> int:
        return len(self.order)

    @property
    def position_of_row(self) -> NDArray[np.intp]:
        """Row → place in the node list, -1 for free slots."""
        if len(self._position) < self.extent.used:
            self._position = grown(self._position, self.extent.used, ABSENT)
        return self._position

    # --- View -------------------------------------------------------------------------------------------------------

    def input(self, key: Hashable, make: Callable[[], I]) -> I:
        """The input under ``key``, made when it is asked for the first time (or again after a while).

        What only one pod asks for (a selector, a set of ports) is soon forgotten.
        """
        known: I | None = self._inputs.pop(key, None)
        if known is not None:
            self._inputs[key] = known
            return known
        new = self._new_inputs.get(key)
        found: I
        if new is not None:
            found, changes = new
            if changes == self.extent.changes:
                return found
            del self._new_inputs[key]
        else:
            found = make()
            if not self._asked.again(key):
                self._new_inputs[key] = (found, self.extent.changes)
                if len(self._new_inputs) > LEAST_KEPT:
                    del self._new_inputs[next(iter(self._new_inputs))]
                return found
        self._inputs[key] = found
        most = max(LEAST_KEPT, min(KEPT_INPUTS, KEPT_ROWS // max(self.extent.used, 1)))
        while len(self._inputs) > most:
            del self._inputs[next(iter(self._inputs))]
        return found

    def groups(self, axes: tuple[Axis, ...], *, apart: bool = False) -> Groups:
        """The rows that agree in these; ``apart``: no two do."""
        found = self._groups.get((axes, apart))
        if found is None:
            if len(self._groups) >= KEPT_GROUPS:
                self._groups.clear()
            found = self._groups[axes, apart] = Groups(self.extent, axes, apart=apart)
        return found

    def own_rows(self, resources: tuple[str, ...]) -> Input:
        return self.input(("own", resources), lambda: OwnRows(self.extent, self.usage, resources, self.info_of_row))

    def label(self, key: str) -> CodedFact:
        fact = self._labels.get(key)
        if fact is None:
            fact = self._labels[key] = CodedFact(self.extent, lambda node: node.metadata.labels.get(key), str)
            fact.set_all(map(self._node_of_row, range(self.extent.used)))
        return fact

    def annotation(self, key: str) -> Input:
        fact = self._annotations.get(key)
        if fact is None:
            fact = CodedFact(self.extent, lambda node: node.metadata.annotations.get(key), str)
            self._annotations[key] = fact
            fact.set_all(map(self._node_of_row, range(self.extent.used)))
        return fact

    def node_values(self, values: NodeValues[Any]) -> Input:
        make = partial(ValuesByRow, self.extent, values, self.nodes_log, self._rows.get, self.info_of_row)
        return self.input(values, make)

    def taints(self) -> Input:
        return self._taints

    def unschedulable(self) -> Input:
        return self.input("unschedulable", lambda: CodedPredicate(self._unschedulable, bool))

    def name(self) -> Input:
        return self._names

    def declares(self, features: tuple[str, ...]) -> Input:
        wanted = frozenset(features)
        return self.input(
            ("declares", features),
            lambda: NodePredicate(
                self.extent,
                self.nodes_log,
                self._node_of_row,
                lambda node: wanted.issubset(node.status.declared_features),
            ),
        )

    def host_ports(self, wanted: tuple[HostPort, ...]) -> Input:
        return self.input(("ports", wanted), lambda: PortConflicts(self.extent, self.usage, wanted))

    def nodes_matching(self, matcher: NodeSelectorMatcher) -> Input:
        return self.input(
            ("matching", matcher),
            lambda: NodePredicate(
                self.extent,
                self.labels_log,
                self._node_of_row,
                lambda node: matcher.matches(node.metadata.labels, node.metadata.name),
            ),
        )

    def image_score(self, images: tuple[str, ...]) -> Input:
        return self.input(("images", images), lambda: ImageScore(self.extent, self.images, images))

    def tolerating(self, pod: Pod, effects: tuple[str, ...], *, comparisons: bool = False) -> Input:
        tolerations = pod.spec.tolerations

        def predicate(taints: tuple[Taint, ...]) -> bool:
            return find_untolerated_taint(taints, tolerations, effects, comparisons=comparisons) is None

        key = ("tolerating", tolerations, effects, comparisons)
        return self.input(key, lambda: CodedPredicate(self._taints, predicate))

    def whole_nodes(self) -> NodeInfos:
        """→ the NodeInfos themselves."""
        return self.input("nodes", lambda: NodeInfos(self.extent, self.usage.log, self.info_of_row))

    def pods_matching(
        self, namespaces: frozenset[str] | None, selector: LabelMatcher, key: str, eligible: Input | None
    ) -> DomainInput:
        return self.pods_in_domains(PodQuery(((namespaces, selector),)), key, eligible)

    def pods_in_domains(
        self, query: PodQuery, key: str, eligible: Input | None = None, *, keyless_as_empty: bool = False
    ) -> DomainInput:
        return self._counts.pods_in_domains(query, key, eligible, keyless_as_empty=keyless_as_empty)

    def pods_on_node(self, query: PodQuery) -> Input:
        return self._counts.pods_on_node(query)

    def placed_terms(self, weights: tuple[tuple[TermKind, int | None], ...], target: TermTarget) -> TermInput:
        return self._counts.placed_terms(weights, target)

    def any_terms(self, weights: tuple[tuple[TermKind, int | None], ...]) -> Input:
        return self._counts.any_terms(weights)

    def volume_users(self) -> PodsWithVolumes:
        return self._volume_users

    def eligible(self, keys: tuple[str, ...], matcher: NodeSelectorMatcher | None, tolerating: Input | None) -> Input:
        return self._counts.eligible(keys, matcher, tolerating)

    # --- pickling ---------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Facts and inputs are made again on the other side."""
        derived = (
            "_labels",
            "_annotations",
            "_taints",
            "_unschedulable",
            "_names",
            "_inputs",
            "_groups",
            "_new_inputs",
            "_asked",
            "_counts",
            "_listed",
            "_node_list",
            "_volume_users",
        )
        return {name: value for name, value in self.__dict__.items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._listed = self._node_list = None
        self._make_facts()
        for row in range(self.extent.used):
            self._set_facts(row, self._node_of_row(row))

"""Cache: every pod that has a node, every node, and what changed since the last snapshot.

Rules: docs/semantics/cache.md#pod-states, docs/semantics/cache.md#nodes, docs/semantics/cache.md#snapshot.

A pod is absent, assumed or added. Scheduling reads only the snapshot, into which the changes are replayed at the start
of a cycle; the figures per node are kept there, not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import msgspec

from framework.cache.node_tree import NodeTree
from framework.cache.pod_groups import PodGroups
from framework.columns import Snapshot
from framework.interface.node_info import PodInfo
from framework.objects import Node, Pod


class CacheError(Exception):
    """A call that does not fit the pod's state; the text is upstream's. Callers log it and go on."""


class CacheCorruptedError(Exception):
    """A pod moved between nodes behind our back; upstream's process exits here."""


class PodState(msgspec.Struct, eq=False):
    """It is also what the log of changes says of the pod's arrival on the node."""

    pod: PodInfo
    node_name: str
    assumed: bool

    def replay(self, snapshot: Snapshot) -> None:
        snapshot.add_pod(self.node_name, self.pod)


@dataclass(slots=True)
class CachedNode:
    """``node`` is None for a ghost: pods are left, the node is gone or was never seen."""

    node: Node | None = None
    pods: dict[str, PodState] = field(default_factory=dict)
    last: Node | None = None
    """Of a ghost: the node as it was."""


@dataclass(slots=True)
class _NodeSet:
    node: Node

    def replay(self, snapshot: Snapshot) -> None:
        snapshot.set_node(self.node)


@dataclass(slots=True)
class _NodeRemoved:
    name: str

    def replay(self, snapshot: Snapshot) -> None:
        snapshot.remove_node(self.name)


@dataclass(slots=True)
class _PodRemoved:
    node_name: str
    uid: str

    def replay(self, snapshot: Snapshot) -> None:
        snapshot.remove_pod(self.node_name, self.uid)


CacheChange = _NodeSet | _NodeRemoved | PodState | _PodRemoved
EMPTY_UID: Final = "cannot get cache key for pod with empty UID"


class Cache:
    def __init__(self) -> None:
        self._states: dict[str, PodState] = {}
        self._nodes: dict[str, CachedNode] = {}
        self._tree = NodeTree()
        self._changes: list[CacheChange] = []
        self._last_of_node: dict[str, CacheChange] = {}
        self._listed: tuple[str, ...] = ()
        self._tree_changed = False
        self.pod_groups: PodGroups | None = None
        """Only with the gate GenericWorkload."""
        self.version = 0
        """Counts the changes: while it stays the same, so does what scheduling reads."""

    # --- pods -------------------------------------------------------------------------------------------------------

    def assume_pod(self, pod: PodInfo) -> None:
        uid = pod.uid
        if not uid:
            raise CacheError(EMPTY_UID)
        if uid in self._states:
            raise CacheError(f"pod {uid}({pod.key}) is in the cache, so can't be assumed")
        self._insert(pod, assumed=True)

    def forget_pod(self, pod: Pod) -> None:
        """An absent pod is fine: it was deleted while it was assumed."""
        uid = pod.metadata.uid
        state = self._states.get(uid)
        if state is None:
            return
        if state.node_name != pod.spec.node_name:
            raise CacheError(
                f"pod {uid}({pod.key}) was assumed on {pod.spec.node_name} but assigned to {state.node_name}"
            )
        if not state.assumed:
            raise CacheError(f"pod {uid}({pod.key}) wasn't assumed so cannot be forgotten")
        self._remove(uid, forget=True)

    def add_pod(self, pod: PodInfo) -> None:
        """The informer saw an assigned pod: new to us, or one that we assumed and that is now confirmed."""
        uid = pod.uid
        if not uid:
            raise CacheError(EMPTY_UID)
        state = self._states.get(uid)
        if state is None:
            self._insert(pod, assumed=False)
        elif state.assumed:
            self._confirm(state, pod)
        else:
            raise CacheError(f"pod {uid}({pod.key}) was already in added state")

    def _confirm(self, state: PodState, pod: PodInfo) -> None:
        """Upstream removes the assumed pod and inserts the bound one, which puts it last on its node."""
        if self._last_of_node.get(state.node_name) is state and pod.pod.spec.node_name == state.node_name:
            # Nothing else happened on the node and no snapshot was taken: it is last already.
            if self.pod_groups is not None:
                self.pod_groups.remove(state.pod.pod)
                self.pod_groups.add(pod.pod)
            state.pod, state.assumed = pod, False
            return
        self._remove(pod.uid)
        self._insert(pod, assumed=False)

    def update_pod(self, old: Pod, pod: PodInfo) -> None:
        uid = pod.uid
        state = self._states.get(uid)
        if state is None:
            raise CacheError(f"pod {uid}({old.key}) is not added to scheduler cache, so cannot be updated")
        if state.assumed:
            raise CacheError(f"assumed pod {uid}({old.key}) should not be updated")
        if state.node_name != pod.pod.spec.node_name:
            raise CacheCorruptedError(f"pod {uid}({old.key}) moved from {state.node_name} to {pod.pod.spec.node_name}")
        self._remove(uid)
        self._insert(pod, assumed=False)

    def remove_pod(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        state = self._states.get(uid)
        if state is None:
            raise CacheError(f"pod {uid}({pod.key}) is not found in scheduler cache, so cannot be removed from it")
        if pod.spec.node_name not in ("", state.node_name):
            raise CacheCorruptedError(f"pod {uid}({pod.key}) was on {state.node_name}, not {pod.spec.node_name}")
        self._remove(uid)

    def _insert(self, pod: PodInfo, *, assumed: bool) -> None:
        uid, name = pod.uid, pod.pod.spec.node_name
        state = self._states[uid] = PodState(pod, name, assumed)
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = CachedNode()
        node.pods[uid] = state
        # As ``_log`` does it.
        self.version += 1
        self._changes.append(state)
        self._last_of_node[name] = state
        if self.pod_groups is not None:
            (self.pod_groups.assume if assumed else self.pod_groups.add)(pod.pod)

    def _remove(self, uid: str, *, forget: bool = False) -> None:
        state = self._states.pop(uid)
        name = state.node_name
        cached = self._nodes[name]
        del cached.pods[uid]
        if not cached.pods and cached.node is None:
            del self._nodes[name]
        self._log(name, _PodRemoved(name, uid))
        if self.pod_groups is not None:
            (self.pod_groups.forget if forget else self.pod_groups.remove)(state.pod.pod)

    def is_assumed(self, pod: Pod) -> bool:
        state = self._states.get(pod.metadata.uid)
        return state is not None and state.assumed

    def get_pod(self, uid: str) -> PodInfo | None:
        state = self._states.get(uid)
        return None if state is None else state.pod

    def follow_pod_groups(self, pending: Iterable[Pod]) -> None:
        """From now on; ``pending`` are the pods without a node that the scheduler is responsible for."""
        groups = self.pod_groups = PodGroups()
        for pod in pending:
            groups.add(pod)
        for state in self._states.values():
            (groups.assume if state.assumed else groups.add)(state.pod.pod)

    # --- nodes ------------------------------------------------------------------------------------------------------

    def set_node(self, node: Node) -> None:
        """A node was added or updated; pods that waited as ghosts belong to it now."""
        self._nodes.setdefault(node.metadata.name, CachedNode()).node = node
        self._tree_changed = self._tree_changed or node.metadata.name not in self._tree
        self._tree.add(node)
        self._log(node.metadata.name, _NodeSet(node))

    def remove_node(self, name: str) -> None:
        cached = self._nodes.get(name)
        if cached is None or cached.node is None:
            raise CacheError(f"node {name} is not found")
        cached.node, cached.last = None, cached.node
        if not cached.pods:
            del self._nodes[name]
        self._tree.remove(name)
        self._tree_changed = True
        self._log(name, _NodeRemoved(name))

    def node_names(self) -> list[str]:
        """Nodes that exist, in tree order."""
        return self._tree.list()

    def all_node_names(self) -> list[str]:
        """With those that are gone and still have pods."""
        return list(self._nodes)

    def gone_node(self, name: str) -> Node | None:
        """As it was when it went, while pods are left on it."""
        cached = self._nodes.get(name)
        return None if cached is None else cached.last

    def node(self, name: str) -> Node | None:
        cached = self._nodes.get(name)
        return None if cached is None else cached.node

    def pods_on(self, name: str) -> list[tuple[PodInfo, bool]]:
        """The pods of a node with whether each is only assumed."""
        cached = self._nodes.get(name)
        return [] if cached is None else [(state.pod, state.assumed) for state in cached.pods.values()]

    @property
    def pod_count(self) -> int:
        return len(self._states)

    @property
    def assumed_count(self) -> int:
        return sum(1 for state in self._states.values() if state.assumed)

    # --- snapshot ---------------------------------------------------------------------------------------------------

    def _log(self, node_name: str, change: CacheChange) -> None:
        self.version += 1
        self._changes.append(change)
        self._last_of_node[node_name] = change

    def preload(self, snapshot: Snapshot) -> None:
        """Replays what changed, for the next ``update_snapshot`` to finish: a large cluster is not its first work."""
        self._replay(snapshot)
        snapshot.count_pods()

    def _replay(self, snapshot: Snapshot) -> None:
        for change in self._changes:
            change.replay(snapshot)
        self._changes = []
        self._last_of_node = {}

    def update_snapshot(self, snapshot: Snapshot) -> None:
        """Replays what changed since the last call.

        As upstream, the list is rebuilt only when the set of nodes changed: a node that merely changed its zone, or
        went and came back between two cycles, keeps its place in it.
        """
        if not self._changes and not self._tree_changed and snapshot.is_finished:
            return
        self._replay(snapshot)
        if self._tree_changed:
            if len(self._tree) != len(self._listed) or any(name not in self._tree for name in self._listed):
                self._listed = tuple(self._tree.list())
            # Also for an unchanged list: a node that went and came back may have another row.
            snapshot.set_order(self._listed)
            self._tree_changed = False
        snapshot.finish_refresh()

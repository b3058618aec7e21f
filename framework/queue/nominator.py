"""Nominations: pods that are promised a node but not placed yet (docs/semantics/queue.md#nominations)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from framework.interface.handle import ObjectStore
from framework.interface.node_info import PodInfo
from framework.objects import ObjectMeta, Pod


@dataclass(frozen=True, slots=True)
class Nomination:
    """Upstream ``NominatingInfo`` in mode Override; "" takes the nomination away. None in its place is Noop."""

    node_name: str


CLEAR_NOMINATION: Final = Nomination("")


class PodNominator:
    """Node → uids in order of arrival, and uid → node. The pod objects themselves stay with the queues."""

    __slots__ = ("_node_of", "_objects", "_pods_on", "version")

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._pods_on: dict[str, dict[str, ObjectMeta]] = {}
        self._node_of: dict[str, str] = {}
        self.version = 0
        """Counts nominations that came or went; cleared ones are none."""

    def __len__(self) -> int:
        return len(self._node_of)

    def node_of(self, uid: str) -> str | None:
        return self._node_of.get(uid)

    def nominations(self) -> dict[str, str]:
        """Uid → node, cleared nominations left out."""
        return {uid: node for uid, node in self._node_of.items() if node}

    @property
    def has_nodes(self) -> bool:
        """Whether any pod is promised a node."""
        return bool(self._pods_on) and any(self._pods_on)

    def nodes(self) -> list[str]:
        """Nodes with nominated pods, the parking place "" of cleared nominations left out."""
        return [name for name in self._pods_on if name]

    def add(self, pod: Pod, nomination: Nomination | None) -> None:
        self.delete(pod.metadata.uid)
        node_name = pod.status.nominated_node_name if nomination is None else nomination.node_name
        if nomination is None and not node_name:
            return
        live = self._objects.get(Pod, pod.metadata.namespace, pod.metadata.name)
        if live is None or live.spec.node_name:
            return
        uid = pod.metadata.uid
        self.version += node_name != ""
        self._node_of[uid] = node_name
        self._pods_on.setdefault(node_name, {})[uid] = pod.metadata

    def update(self, old: Pod, new: Pod) -> None:
        """A nomination that only lives here survives an update that does not mention one either."""
        nomination = None
        if not old.status.nominated_node_name and not new.status.nominated_node_name:
            held = self._node_of.get(old.metadata.uid)
            nomination = None if held is None else Nomination(held)
        self.delete(old.metadata.uid)
        self.add(new, nomination)

    def delete(self, uid: str) -> None:
        node_name = self._node_of.pop(uid, None)
        if node_name is None:
            return
        self.version += node_name != ""
        pods = self._pods_on[node_name]
        pods.pop(uid, None)
        if not pods:
            del self._pods_on[node_name]

    def refs(self, node_name: str) -> list[ObjectMeta]:
        return list(self._pods_on.get(node_name, {}).values())


def unresolved(ref: ObjectMeta) -> PodInfo:
    """A nominated pod that is in no queue: upstream then sees only its name, with priority 0 and no requests."""
    return PodInfo(Pod(metadata=ObjectMeta(name=ref.name, namespace=ref.namespace, uid=ref.uid)))

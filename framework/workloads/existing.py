"""The pods that are there already, as controllers count them: added up pod by pod, so that none has to be kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from framework.objects import OwnerReference, Pod
from framework.objects.selectors import field_node_names

FINISHED: Final = ("Succeeded", "Failed")


class Orphan(msgspec.Struct, array_like=True, frozen=True):
    """A pod without a controller. One whose labels a selector matches is adopted."""

    namespace: str
    labels: dict[str, str]
    node: str


class Existing(msgspec.Struct):
    """Controllers are ``kind/namespace/name``. Two of them may be added up, too (``add``)."""

    active: dict[str, int] = {}
    """Pods that are neither finished nor being deleted."""
    succeeded: dict[str, int] = {}
    nodes: dict[str, list[str]] = {}
    """Of DaemonSets: the nodes that have their pod."""
    orphans: list[Orphan] = []

    def take(self, pod: Pod) -> None:
        metadata, phase = pod.metadata, pod.status.phase
        owners = metadata.owner_references
        active = phase not in FINISHED and metadata.deletion_timestamp is None
        if not owners:
            if active and metadata.labels:
                self.orphans.append(Orphan(metadata.namespace, metadata.labels, pod.spec.node_name))
            return
        owner = owners[0] if owners[0].controller else _controller(owners)
        key = f"{owner.kind}/{metadata.namespace}/{owner.name}"
        if active:
            self.active[key] = self.active.get(key, 0) + 1
            if owner.kind == "DaemonSet":
                self.nodes.setdefault(key, []).append(pod.spec.node_name or _meant_for(pod))
        elif phase == "Succeeded":
            self.succeeded[key] = self.succeeded.get(key, 0) + 1

    def add(self, later: Existing) -> None:
        for mine, other in ((self.active, later.active), (self.succeeded, later.succeeded)):
            for key, number in other.items():
                mine[key] = mine.get(key, 0) + number
        for key, nodes in later.nodes.items():
            self.nodes.setdefault(key, []).extend(nodes)
        self.orphans += later.orphans

    def owned_by(self, kind: str) -> Iterator[tuple[str, str, int]]:
        """(namespace, name, active pods) of every controller of that kind."""
        for key, number in self.active.items():
            its_kind, namespace, name = key.split("/", 2)
            if its_kind == kind:
                yield namespace, name, number


def _controller(owners: tuple[OwnerReference, ...]) -> OwnerReference:
    return next((owner for owner in owners if owner.controller), owners[0])


def _meant_for(pod: Pod) -> str:
    """The only node that a DaemonSet's pod may be on; "" when it says none."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    named = [field_node_names(term) for term in required.node_selector_terms] if required else []
    return named[0][0] if len(named) == 1 and named[0] else ""

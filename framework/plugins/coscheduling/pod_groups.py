"""What Coscheduling remembers of its PodGroups: who holds a place, what failed and what was let through before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from framework.interface import Handle, NodeInfo
from framework.objects import Pod, PodGroup
from framework.objects.go_quantity import GoQuantity
from framework.objects.quantity import Format
from framework.objects.resources import Resources

LABEL: Final = "scheduling.x-k8s.io/pod-group"


class ExpiringSet:
    """Names that are forgotten after their time; adding a name that is still there changes nothing."""

    def __init__(self) -> None:
        self._until: dict[str, int] = {}

    def add(self, name: str, now: int, nanoseconds: int) -> None:
        if not self.has(name, now):
            self._until[name] = now + nanoseconds

    def has(self, name: str, now: int) -> bool:
        return now < self._until.get(name, now)

    def discard(self, name: str) -> None:
        self._until.pop(name, None)


class CoschedulingGroups:
    """The state behind one profile's Coscheduling; group names are ``namespace/name``."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._permitted_names: dict[str, set[str]] = {}
        self.last_failed: dict[str, int] = {}
        self.permitted = ExpiringSet()
        self.backed_off = ExpiringSet()

    @staticmethod
    def name_of(pod: Pod) -> str | None:
        """None when the pod is in no group."""
        label = pod.metadata.labels.get(LABEL)
        return f"{pod.metadata.namespace}/{label}" if label else None

    def group_of(self, pod: Pod) -> PodGroup | None:
        label = pod.metadata.labels.get(LABEL)
        return self._handle.objects.get(PodGroup, pod.metadata.namespace, label) if label else None

    def siblings(self, pod: Pod) -> Sequence[Pod]:
        """All existing pods of the group, this one included, in order of creation."""
        return self._handle.objects.pods_with_label(pod.metadata.namespace, LABEL, pod.metadata.labels[LABEL])

    def assign(self, pod: Pod) -> int:
        """Counts this pod in; returns how many members hold a place now."""
        group = self.name_of(pod)
        assert group is not None
        self._permitted_names.setdefault(group, set()).add(pod.metadata.name)
        return self.assigned(pod)

    def unassign(self, pod: Pod) -> None:
        group = self.name_of(pod)
        assert group is not None
        self._permitted_names.get(group, set()).discard(pod.metadata.name)

    def assigned(self, pod: Pod) -> int:
        """Members that are bound, or were let through Permit and still exist."""
        group = self.name_of(pod)
        assert group is not None
        let_through = self._permitted_names.get(group, set())
        return sum(1 for p in self.siblings(pod) if p.spec.node_name or p.metadata.name in let_through)

    def resource_gap(self, group: PodGroup) -> dict[str, GoQuantity]:
        """What the cluster lacks for ``minResources`` of all members; empty when it is enough.

        Places that members hold already count as free.
        """
        need = {name: GoQuantity.parse(amount) for name, amount in (group.spec.min_resources or {}).items()}
        need["pods"] = GoQuantity.of(group.spec.min_member)
        full_name = f"{group.metadata.namespace}/{group.metadata.name}"
        for node in self._handle.snapshot.list():
            for name, free in _free_without(node, full_name, need).items():
                binary = name in ("memory", "pods", "ephemeral-storage") or name.startswith("hugepages-")
                format_ = Format.BINARY_SI if binary else Format.DECIMAL_SI
                need[name].subtract(GoQuantity.of(free, milli=name == "cpu", format_=format_))
            need = {name: amount for name, amount in need.items() if amount.nanos > 0}
            if not need:
                break
        return need


def _free_without(node: NodeInfo, group: str, wanted: Iterable[str]) -> Resources:
    members = [p for p in node.pods if CoschedulingGroups.name_of(p.pod) == group]
    free: Resources = {}
    for name in wanted:
        if name == "pods":
            free[name] = node.allowed_pods - (len(node.pods) - len(members))
        else:
            held = sum(p.requests.get(name, 0) for p in members)
            free[name] = node.allocatable.get(name, 0) - (node.requested.get(name, 0) - held)
    return free

"""Which pods belong to which pod group, and how far each of them is (docs/semantics/cache.md#pod-group-states).

Kept only with the gate GenericWorkload. A cycle works on a copy of its group, as it does on a snapshot of the nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from framework.objects import Pod

GroupKey = tuple[str, str]
"""(namespace, name)."""


def group_of(pod: Pod) -> GroupKey | None:
    """The pod group that a pod names; whether it exists is not asked."""
    group = pod.spec.scheduling_group
    return None if group is None or not group.pod_group_name else (pod.metadata.namespace, group.pod_group_name)


class PodGroupState:
    """Implements ``PodGroupMembers``. Dictionaries stand in for upstream's sets, in order of arrival."""

    __slots__ = ("_all", "_assigned", "_assumed", "_unscheduled")

    def __init__(self) -> None:
        self._all: dict[str, Pod] = {}
        self._unscheduled: dict[str, None] = {}
        self._assumed: dict[str, Pod] = {}
        self._assigned: dict[str, None] = {}

    def copy(self) -> PodGroupState:
        other = PodGroupState()
        other._all, other._unscheduled = dict(self._all), dict(self._unscheduled)
        other._assumed, other._assigned = dict(self._assumed), dict(self._assigned)
        return other

    def add(self, pod: Pod) -> None:
        """A pod that something else bound stays among the unscheduled ones as well, as upstream."""
        self._all[pod.metadata.uid] = pod
        (self._assigned if pod.spec.node_name else self._unscheduled)[pod.metadata.uid] = None

    def update(self, old: Pod, new: Pod) -> None:
        uid = new.metadata.uid
        self._all[uid] = new
        if not old.spec.node_name and new.spec.node_name:
            self._assigned[uid] = None
            self._unscheduled.pop(uid, None)
            self._assumed.pop(uid, None)

    def delete(self, uid: str) -> None:
        for kept in (self._all, self._unscheduled, self._assumed, self._assigned):
            kept.pop(uid, None)

    def assume(self, pod: Pod) -> None:
        """Nothing happens for a pod that has left the cluster meanwhile."""
        uid = pod.metadata.uid
        stored = self._all.get(uid)
        if stored is None:
            return
        if stored.spec.node_name:
            self._assigned[uid] = None
        else:
            self._assumed[uid] = pod
        self._unscheduled.pop(uid, None)

    def forget(self, uid: str) -> None:
        pod = self._all.get(uid)
        if pod is None:
            return
        self._assumed.pop(uid, None)
        (self._assigned if pod.spec.node_name else self._unscheduled)[uid] = None

    @property
    def all_count(self) -> int:
        return len(self._all)

    @property
    def scheduled_count(self) -> int:
        return len(self._assumed) + len(self._assigned)

    def scheduled_pods(self) -> Sequence[Pod]:
        return [*(self._all[uid] for uid in self._assigned), *self._assumed.values()]

    def unscheduled_pods(self) -> Sequence[Pod]:
        return [self._all[uid] for uid in self._unscheduled]

    def assumed_uids(self) -> Collection[str]:
        return list(self._assumed)


class PodGroups:
    """Every group that has a pod."""

    def __init__(self) -> None:
        self._states: dict[GroupKey, PodGroupState] = {}

    def get(self, namespace: str, name: str) -> PodGroupState | None:
        return self._states.get((namespace, name))

    def add(self, pod: Pod) -> None:
        key = group_of(pod)
        if key is not None:
            self._states.setdefault(key, PodGroupState()).add(pod)

    def update(self, old: Pod, new: Pod) -> None:
        key = group_of(new)
        if key is not None and (state := self._states.get(key)) is not None:
            state.update(old, new)

    def remove(self, pod: Pod) -> None:
        key = group_of(pod)
        if key is None or (state := self._states.get(key)) is None:
            return
        state.delete(pod.metadata.uid)
        if not state.all_count:
            del self._states[key]

    def assume(self, pod: Pod) -> None:
        key = group_of(pod)
        if key is None:
            return
        state = self._states.get(key)
        if state is None:
            # All its pods have left the cluster: the assumed one counts as bound, as upstream.
            state = self._states[key] = PodGroupState()
            state.add(pod)
        state.assume(pod)

    def forget(self, pod: Pod) -> None:
        key = group_of(pod)
        if key is not None and (state := self._states.get(key)) is not None:
            state.forget(pod.metadata.uid)

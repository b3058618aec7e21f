"""Events that may help a pod DynamicResources rejected (docs/semantics/devices.md#woken-by)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from framework.interface import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, ObjectStore, QueueingHint
from framework.objects import KubeObject, Pod, ResourceClaim
from framework.plugins.dynamicresources.claims import ClaimProblem, pod_claims

_ADDED_OR_UPDATED: Final = ActionType.ADD | ActionType.UPDATE
_NODE: Final = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE


class Hints:
    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects

    def events(self) -> Sequence[ClusterEventWithHint]:
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, _NODE)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_CLAIM, _ADDED_OR_UPDATED), self.after_claim),
            ClusterEventWithHint(pod, self.after_pod),
            ClusterEventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, _ADDED_OR_UPDATED)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, _ADDED_OR_UPDATED)),
        )

    def after_claim(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """A deallocated claim helps everybody whose own claims exist; any other change only those who use the claim."""
        assert isinstance(new, ResourceClaim)
        try:
            mine = pod_claims(pod, self._objects)
        except ClaimProblem:
            return QueueingHint.SKIP
        if isinstance(old, ResourceClaim) and old.status.allocation is not None and new.status.allocation is None:
            return QueueingHint.QUEUE
        if all(claim.uid != new.uid for claim in mine):
            return QueueingHint.SKIP
        if isinstance(old, ResourceClaim) and old.status == new.status:
            return QueueingHint.SKIP
        return QueueingHint.QUEUE

    def after_pod(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Pod)
        if new.metadata.uid != pod.metadata.uid:
            return QueueingHint.SKIP
        try:
            pod_claims(new, self._objects)
        except ClaimProblem:
            return QueueingHint.SKIP
        return QueueingHint.QUEUE

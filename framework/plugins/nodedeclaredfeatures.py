"""NodeDeclaredFeatures: a pod that needs a kubelet feature goes where the node declares it.

Rules: docs/semantics/plugins.md#nodedeclaredfeatures.

Of the features that kubelets declare in 1.36 only those in ``_NEEDED_BY`` are asked for by a pod that is to be
scheduled; the others only matter to updates of running pods.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    SKIP,
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    ColumnFilterPlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Handle,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    QueueingHint,
    Reason,
    SignPlugin,
    Status,
    View,
    signing,
)
from framework.objects import KubeObject, Node, Pod
from framework.objects.pod import PodSpec
from framework.sentences import noted

REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match Pod's required features",)),
)


def _restarts_all_containers(spec: PodSpec) -> bool:
    return any(
        rule.action == "RestartAllContainers"
        for container in (*spec.containers, *spec.init_containers)
        for rule in container.restart_policy_rules
    )


def _own_users_on_the_hosts_network(spec: PodSpec) -> bool:
    return spec.host_network and spec.host_users is False


_NEEDED_BY: Final[tuple[tuple[str, Callable[[PodSpec], bool]], ...]] = (
    ("RestartAllContainersOnContainerExits", _restarts_all_containers),
    ("UserNamespacesHostNetworkSupport", _own_users_on_the_hosts_network),
)


def required_features(pod: Pod) -> tuple[str, ...]:
    """Names, sorted."""
    return tuple([name for name, needed in _NEEDED_BY if needed(pod.spec)])


def _kernel(declared: NDArray[np.bool_]) -> NDArray[np.int8]:
    return (~declared).astype(np.int8)


class NodeDeclaredFeatures(PreFilterPlugin, ColumnFilterPlugin, EnqueueExtensions, SignPlugin):
    name: ClassVar[str] = "NodeDeclaredFeatures"
    description: ClassVar[str] = noted("Keeps pods off nodes that do not declare a feature the pod needs.")
    repeatable: ClassVar[bool] = True

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self._enabled = handle.feature_gates.enabled("NodeDeclaredFeatures")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        if not self._enabled:
            return ()
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE)
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE)
        return (ClusterEventWithHint(node, self._after_node_change), ClusterEventWithHint(pod, self._after_pod_update))

    def _after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        same = isinstance(old, Node) and old.status.declared_features == new.status.declared_features
        return QueueingHint.SKIP if same else QueueingHint.QUEUE

    def _after_pod_update(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(old, Pod)
        assert isinstance(new, Pod)
        own = pod.metadata.uid == new.metadata.uid
        changed = own and required_features(old) != required_features(new)
        return QueueingHint.QUEUE if changed else QueueingHint.SKIP

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        if not self._enabled or not required_features(pod.pod):
            return None, SKIP
        return None, None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        required = required_features(pod.pod)
        if not self._enabled or not required:
            return None
        return Plan(_kernel, (view.declares(required),), (), REASONS)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return {signing.FEATURES: required_features(pod.pod)}

    def fragment(self, pod: PodInfo) -> Hashable:
        return required_features(pod.pod)

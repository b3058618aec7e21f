"""NodePorts: host ports the pod wants must be free on the node (docs/semantics/plugins.md#nodeports)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

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
    HostPort,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    QueueingHint,
    Reason,
    SignPlugin,
    StateKeyNotFound,
    Status,
    View,
    signing,
)
from framework.interface.node_info import ports_conflict
from framework.objects import KubeObject, Pod
from framework.sentences import noted

STATE_KEY: Final = "PreFilterNodePorts"
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE, ("node(s) didn't have free ports for the requested pod ports",)),
)
NO_STATE: Final = (Reason(Code.SUCCESS, ()), Reason(Code.ERROR, (f'reading "{STATE_KEY}" from cycleState: not found',)))


@dataclass(frozen=True, slots=True)
class WantedPorts:
    ports: tuple[HostPort, ...]

    def clone(self) -> Self:
        return self


def _kernel(conflict: NDArray[np.bool_]) -> NDArray[np.int8]:
    return conflict.astype(np.int8)


def _without_state(conflict: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.ones(len(conflict), dtype=np.int8)


class NodePorts(PreFilterPlugin, ColumnFilterPlugin, EnqueueExtensions, SignPlugin):
    name: ClassVar[str] = "NodePorts"
    description: ClassVar[str] = noted("Keeps pods off nodes where a host port they want is already taken.")
    repeatable: ClassVar[bool] = True

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (
            ClusterEventWithHint(
                ClusterEvent(EventResource.POD, ActionType.DELETE), self._after_pod_deleted, of_equal_pods=True
            ),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
        )

    def _after_pod_deleted(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(old, Pod)
        if not old.spec.node_name and not old.status.nominated_node_name:
            return QueueingHint.SKIP
        freed = set(PodInfo(old).host_ports)
        shared = any(ports_conflict(freed, wanted) for wanted in PodInfo(pod).host_ports)
        return QueueingHint.QUEUE if shared else QueueingHint.SKIP

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        if not pod.host_ports:
            return None, SKIP
        state.write(STATE_KEY, WantedPorts(pod.host_ports))
        return None, None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            wanted = state.read(STATE_KEY, WantedPorts).ports
        except StateKeyNotFound:
            return Plan(_without_state, (view.host_ports(()),), "no state", NO_STATE)
        return Plan(_kernel, (view.host_ports(wanted),), (), REASONS)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signing.host_ports(pod.pod)

    def fragment(self, pod: PodInfo) -> Hashable:
        return pod.host_ports

"""NodeName: spec.nodeName, when set, names the only node (docs/semantics/plugins.md#nodename)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    Codes,
    ColumnFilterPlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Plan,
    PodInfo,
    Reason,
    SignPlugin,
    View,
    signing,
)
from framework.sentences import noted

REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match the requested node name",)),
)


class NodeName(ColumnFilterPlugin, EnqueueExtensions, SignPlugin):
    name: ClassVar[str] = "NodeName"
    description: ClassVar[str] = noted("Keeps a pod that names its node in spec.nodeName on exactly that node.")
    repeatable: ClassVar[bool] = True

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),)

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        wanted = pod.pod.spec.node_name
        if not wanted:
            return None

        def kernel(names: Codes) -> NDArray[np.int8]:
            code = names.values.index(wanted) if wanted in names.values else -2
            elsewhere: NDArray[np.bool_] = names.codes != code
            return elsewhere.astype(np.int8)

        return Plan(kernel, (view.name(),), wanted, REASONS)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return {signing.NODE_NAME: pod.pod.spec.node_name}

    def fragment(self, pod: PodInfo) -> Hashable:
        return pod.pod.spec.node_name

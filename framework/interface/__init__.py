"""What a plugin sees: statuses, cycle state, node and pod infos, extension points, columns and the handle.

Everything here is free of behaviour that runs plugins; that lives in ``framework.profiles`` and ``framework.cycle``.
The names follow kube-scheduler's ``staging/src/k8s.io/kube-scheduler/framework``.
"""

from __future__ import annotations

from framework.interface.columns import ALL_ROWS, Codes, Column, Input, Plan, PodChange, Reason, Rows, View
from framework.interface.cycle_state import CycleState, StateData, StateKeyNotFound
from framework.interface.decisions import ClaimDecision, DeviceDecision, VolumeDecision
from framework.interface.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from framework.interface.handle import (
    ApiWriter,
    DryRun,
    Handle,
    Nominator,
    ObjectStore,
    QueuedPod,
    SnapshotReader,
    WaitingPod,
)
from framework.interface.node_info import HostPort, NodeInfo, PodInfo
from framework.interface.plugin import (
    BindPlugin,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    EnqueueExtensions,
    FilterPlugin,
    NodeStatuses,
    NormalizeScore,
    PermitPlugin,
    PersonPermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
)
from framework.interface.status import SKIP, SUCCESS, Code, Status

__all__ = [
    "ALL_ROWS",
    "SKIP",
    "SUCCESS",
    "ActionType",
    "ApiWriter",
    "BindPlugin",
    "ClaimDecision",
    "ClusterEvent",
    "ClusterEventWithHint",
    "Code",
    "Codes",
    "Column",
    "ColumnFilterPlugin",
    "ColumnScorePlugin",
    "CycleState",
    "DeviceDecision",
    "DryRun",
    "EnqueueExtensions",
    "EventResource",
    "FilterPlugin",
    "Handle",
    "HostPort",
    "Input",
    "NodeInfo",
    "NodeStatuses",
    "Nominator",
    "NormalizeScore",
    "ObjectStore",
    "PermitPlugin",
    "PersonPermitPlugin",
    "Plan",
    "Plugin",
    "PodChange",
    "PodInfo",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterExtensions",
    "PreFilterPlugin",
    "PreFilterResult",
    "PreScorePlugin",
    "QueueSortPlugin",
    "QueuedPod",
    "QueueingHint",
    "Reason",
    "ReservePlugin",
    "Rows",
    "ScorePlugin",
    "SnapshotReader",
    "StateData",
    "StateKeyNotFound",
    "Status",
    "View",
    "VolumeDecision",
    "WaitingPod",
]

"""What a plugin sees: statuses, cycle state, node and pod infos, extension points, columns and the handle.

Everything here is free of behaviour that runs plugins; that lives in ``framework.profiles`` and ``framework.cycle``.
The names follow kube-scheduler's ``staging/src/k8s.io/kube-scheduler/framework``.
"""

from framework.interface.columns import ALL_ROWS, Codes, Column, Input, Plan, PodChange, Reason, Rows, View
from framework.interface.cycle_state import CycleState, StateData, StateKeyNotFound
from framework.interface.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from framework.interface.handle import ApiWriter, DryRun, Handle, Nominator, ObjectStore, QueuedPod, SnapshotReader, WaitingPod
from framework.interface.node_info import HostPort, NodeInfo, PodInfo
from framework.interface.plugin import (
    BindPlugin,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    EnqueueExtensions,
    FilterPlugin,
    NormalizeScore,
    Plugin,
    PermitPlugin,
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
    "ActionType",
    "BindPlugin",
    "ClusterEvent",
    "ClusterEventWithHint",
    "Code",
    "Codes",
    "Column",
    "ColumnFilterPlugin",
    "ColumnScorePlugin",
    "CycleState",
    "EnqueueExtensions",
    "EventResource",
    "FilterPlugin",
    "Handle",
    "HostPort",
    "Input",
    "NodeInfo",
    "Nominator",
    "NormalizeScore",
    "ObjectStore",
    "PermitPlugin",
    "Plan",
    "Plugin",
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
    "QueueingHint",
    "Reason",
    "ReservePlugin",
    "Rows",
    "SKIP",
    "SUCCESS",
    "ScorePlugin",
    "StateData",
    "StateKeyNotFound",
    "Status",
    "View",
    "WaitingPod",
]

"""Cluster events and queueing hints: what may make a rejected pod schedulable (docs/semantics/queue.md#events).

The bit order of ``ActionType`` is upstream's, because matching compares the numbers.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from framework.objects import KubeObject, Pod


class ActionType(enum.IntFlag):
    NONE = 0
    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_POD_LABEL = 1 << 8
    UPDATE_POD_SCALE_DOWN = 1 << 9
    UPDATE_POD_TOLERATION = 1 << 10
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 11
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 12
    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_NODE_ANNOTATION
        | UPDATE_NODE_DECLARED_FEATURE
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATION
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
    )
    ALL = ADD | DELETE | UPDATE


class EventResource(enum.StrEnum):
    """Resources with a name of their own. Others are written ``<plural>.<version>.<group>`` as a plain string."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnschedulablePod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    WILDCARD = "*"


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """``resource``: an EventResource's value or ``<plural>.<version>.<group>``; ``label`` replaces the metric label."""

    resource: str
    action: ActionType
    label: str = ""


class QueueingHint(enum.Enum):
    QUEUE = "Queue"
    SKIP = "QueueSkip"


HintFunction = Callable[[Pod, KubeObject | None, KubeObject | None], QueueingHint]
"""(rejected pod, old object, new object) → hint. An exception counts as QUEUE (upstream logs it and queues)."""


@dataclass(frozen=True, slots=True)
class ClusterEventWithHint:
    """A registration of EnqueueExtensions. ``hint`` None always queues."""

    event: ClusterEvent
    hint: HintFunction | None = None
    of_equal_pods: bool = False
    """A promise: of the rejected pod the hint reads only what equal pods have in common (see ``Plugin.fragment``), and
    whether it is the very pod of the event. Then it is asked once for all equal pods that wait."""

"""The scheduler as one object, and the simulated cluster it works against."""

from __future__ import annotations

from framework.scheduler.cluster import AlreadyExists, Cluster, NotFound, ObjectRefused
from framework.scheduler.observer import ClusterEventRecord, Observer, Observers
from framework.scheduler.options import SchedulerOptions
from framework.scheduler.scheduler import Attempt, Scheduler
from framework.scheduler.state import PointReached, QueuedPodState, QueueState, WaitingPodState
from framework.scheduler.store import InformerEvent, ObjectAdded, ObjectDeleted, ObjectUpdated

__all__ = [
    "AlreadyExists",
    "Attempt",
    "Cluster",
    "ClusterEventRecord",
    "InformerEvent",
    "NotFound",
    "ObjectAdded",
    "ObjectDeleted",
    "ObjectRefused",
    "ObjectUpdated",
    "Observer",
    "Observers",
    "PointReached",
    "QueueState",
    "QueuedPodState",
    "Scheduler",
    "SchedulerOptions",
    "WaitingPodState",
]

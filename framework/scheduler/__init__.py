"""The scheduler as one object, and the simulated cluster it works against."""

from __future__ import annotations

from framework.scheduler.cluster import AlreadyExists, Cluster, NotFound, Refused
from framework.scheduler.informer import InformerEvent, ObjectAdded, ObjectDeleted, ObjectUpdated
from framework.scheduler.observer import ClusterEventRecord, Observer
from framework.scheduler.options import SchedulerOptions
from framework.scheduler.scheduler import Attempt, Scheduler
from framework.scheduler.state import PointReached, QueuedPodState, QueueState, WaitingPodState

__all__ = [
    "AlreadyExists",
    "Attempt",
    "Cluster",
    "ClusterEventRecord",
    "InformerEvent",
    "NotFound",
    "ObjectAdded",
    "ObjectDeleted",
    "ObjectUpdated",
    "Observer",
    "PointReached",
    "QueueState",
    "QueuedPodState",
    "Refused",
    "Scheduler",
    "SchedulerOptions",
    "WaitingPodState",
]

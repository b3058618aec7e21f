"""The scheduling queue: which pending pod is tried next, and what brings a rejected one back (docs/semantics/queue.md).

A pod is in one place: active, backoff, unschedulable (gated pods live there too) or in flight.
"""

from __future__ import annotations

from framework.queue.hints import HintMap, QueueingHintFunction, build_hint_map, default_registrations
from framework.queue.nominator import CLEAR_NOMINATION, Nomination, PodNominator
from framework.queue.options import QueueOptions
from framework.queue.queued_pod import (
    EventForPod,
    HintAnswer,
    IgnoredEvent,
    QueuedPodInfo,
    QueueMove,
    QueueObserver,
    QueueOrder,
    QueuePlace,
)
from framework.queue.scheduling_queue import SchedulingQueue

__all__ = [
    "CLEAR_NOMINATION",
    "EventForPod",
    "HintAnswer",
    "HintMap",
    "IgnoredEvent",
    "Nomination",
    "PodNominator",
    "QueueMove",
    "QueueObserver",
    "QueueOptions",
    "QueueOrder",
    "QueuePlace",
    "QueuedPodInfo",
    "QueueingHintFunction",
    "SchedulingQueue",
    "build_hint_map",
    "default_registrations",
]

"""Observer: everything that happens in a run, told as it happens. Traces and live views are made of it."""

from __future__ import annotations

import msgspec

from framework.interface.status import Status
from framework.objects import KubeObject
from framework.profiles import WaitingPod
from framework.queue import IgnoredEvent, QueueMove
from framework.trace.attempt import AttemptTrace


class ClusterEventRecord(msgspec.Struct, frozen=True):
    """An Event object as ``kubectl get events`` shows it."""

    at: int
    type: str
    reason: str
    pod: str
    """``namespace/name``."""
    note: str


class Observer:
    """Does nothing; override what you want to hear. Called in the order in which things happen.

    An observer must not call back into the scheduler. It is pickled with it unless the scheduler is told otherwise
    (``Scheduler.observer`` may be replaced after unpickling).
    """

    def queue_moved(self, move: QueueMove) -> None:
        """A pod changed its place in the queue."""

    def event_ignored(self, ignored: IgnoredEvent) -> None:
        """An event reached hints of pods that wait for one, and moved none of these pods."""

    def attempt(self, trace: AttemptTrace) -> None:
        """``trace.result``: waiting (the same trace comes again later), bound, or failed (before it is requeued)."""

    def wait_ended(self, trace: AttemptTrace, signal: Status) -> None:
        """A pod that waited on Permit was allowed, rejected, preempted or timed out."""

    def waiting_decided(self, entry: WaitingPod, plugin: str, decision: str) -> None:
        """Somebody outside allowed or rejected through the scheduler; the wait may go on for other plugins."""

    def event(self, record: ClusterEventRecord) -> None:
        """An Event was written."""

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """The cluster changed; None for "not there" before or after."""

    def logged(self, message: str) -> None:
        """What kube-scheduler only writes to its log."""

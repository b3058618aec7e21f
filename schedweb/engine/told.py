"""Pods of a followed run as the API of the real cluster has them: what its scheduler did is told, nothing is tried.

A pending pod stands where its PodScheduled condition and its gates put it, since when they say, with the real
scheduler's message. Our own queue holds it as well, for the day when a fork of the run decides.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from framework.objects import Pod
from framework.objects.timestamps import SECOND, TimestampError, parse_timestamp
from framework.queue import IgnoredEvent, QueueMove
from framework.scheduler import Scheduler
from framework.scheduler.store import FINISHED
from framework.sentences import sentence
from schedweb.engine.pod_view import PodView, owner_of
from schedweb.engine.projection import Projection
from schedweb.engine.shapes import QueueName

KUBELET: Final = "Node"
"""Owns the pods that a kubelet made of files (static pods): no scheduler decides them."""


class Told(NamedTuple):
    column: QueueName
    message: str
    """The scheduler's."""
    since: int | None
    """Nanoseconds since 1970."""


def told(pod: Pod) -> Told:
    """Of a pod without a node. An attempt that failed is a PodScheduled condition that is False."""
    condition = next((each for each in pod.status.conditions if each.type == "PodScheduled"), None)
    try:
        since = parse_timestamp((condition and condition.last_transition_time) or pod.metadata.creation_timestamp or "")
    except TimestampError:
        since = None
    if pod.spec.scheduling_gates:
        return Told("gated", "", since)
    if condition is not None and condition.status == "False" and condition.reason != "SchedulingGated":
        return Told("unschedulable", condition.message, since)
    return Told("active", "", since)


def is_pending(pod: Pod) -> bool:
    return not pod.spec.node_name and pod.status.phase not in FINISHED


def was_bound_since(pod: Pod, start: int) -> bool:
    """Of one that is new in a list and has a node: by its times it got that since ``start``, the run's beginning. Times
    of metadata have whole seconds."""
    if owner_of(pod)[0] == KUBELET:
        return False
    bound = (each for each in pod.status.conditions if each.type == "PodScheduled" and each.status == "True")
    said = next((each.last_transition_time for each in bound), None) or pod.metadata.creation_timestamp or ""
    try:
        return parse_timestamp(said) >= start // SECOND * SECOND
    except TimestampError:
        return True


class ToldProjection(Projection):
    observing = True
    """Of all pods."""
    is_live = False
    """Our scheduler decides about the pods of its profiles; others are told."""

    def _is_told(self, pod: Pod) -> bool:
        return self.observing or (self.is_live and pod.spec.scheduler_name not in self.schedulers)

    def _pod_added(self, pod: Pod, view: PodView) -> None:
        is_new = view.uid not in self.views
        super()._pod_added(pod, view)
        if is_new and self._is_told(pod) and is_pending(pod):
            self._show(view, pod)

    def _pod_changed(self, old: Pod | None, new: Pod) -> None:
        view = self.views.get(new.metadata.uid)
        super()._pod_changed(old, new)
        if view is None:
            return
        if not self._is_told(new):
            if self.is_live and old is not None and is_pending(old) and new.spec.node_name and not view.attempts:
                self._tell_bound(view, new)
            return
        if is_pending(new):
            self._show(view, new)
        elif old is not None and is_pending(old) and new.spec.node_name:
            self._tell_bound(view, new)

    def _tell_bound(self, view: PodView, pod: Pod) -> None:
        view.message, view.gate = "", ""
        words = sentence("{pod} bound to {node}.", node={"t": "node", "v": view.node})
        together = sentence("{pod} bound.")
        self.feed.pod_line(
            self.now, "bound", view, words, together=together, state="bound", nodes=(pod.spec.node_name,)
        )

    def _show(self, view: PodView, pod: Pod) -> None:
        found = told(pod)
        if found.column == "gated":
            view.gate = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
            words = sentence("Held by {gate}", gate=view.gate)
        elif found.column == "unschedulable":
            words = sentence("{scheduler} found no node", scheduler=pod.spec.scheduler_name)
        else:
            words = sentence("To be tried by {scheduler}", scheduler=pod.spec.scheduler_name)
        if view.column != found.column:
            self.enter(view, found.column, words)
            if found.column == "unschedulable":
                line = sentence("{pod} found no node. {message}", message=found.message)
                self.feed.pod_line(self.now, "unschedulable", view, line, state="unschedulable")
        if found.since is not None:
            view.since = min(found.since, self.now)
        view.message = found.message
        self.touch(view)

    def _unknown_profile(self, pod: Pod, view: PodView) -> None:
        # Somebody else's scheduler tries it.
        if self.is_live:
            self._show(view, pod)
        elif not self.observing:
            super()._unknown_profile(pod, view)

    def queue_moved(self, move: QueueMove) -> None:
        if not self.observing:
            super().queue_moved(move)

    def event_ignored(self, ignored: IgnoredEvent) -> None:
        if not self.observing:
            super().event_ignored(ignored)

    def play_on(self, scheduler: Scheduler, *, tells_others: bool) -> None:
        """From here on the queue says where pods stand. ``tells_others``: pods without a profile are told as before."""
        was_live, self.is_live = self.is_live, tells_others
        if was_live:
            self.configured(scheduler.profiles)
            return
        self.observing = False
        state = scheduler.queue_state()
        for queued in state.gated:
            view = self.views[queued.uid]
            namespace, _, name = queued.key.partition("/")
            pod = self.cluster.get(Pod, namespace, name)
            assert pod is not None
            view.gate = self._gate(queued.gating_plugin, pod)
            self._enter_queue(view, "gated")
        for queued in state.active:
            self._enter_queue(self.views[queued.uid], "active")
        self.configured(scheduler.profiles)

    def _enter_queue(self, view: PodView, column: QueueName) -> None:
        view.message = ""
        self.enter(view, column, sentence("Followed up to here"))
        self.touch(view)

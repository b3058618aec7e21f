"""The metrics of a scheduler as kube-scheduler's ``/metrics`` tells them: an observer that counts.

Rules: docs/semantics/log.md#metrics. Durations are of the run's clock, which stands still within a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from framework.interface.events import ActionType, ClusterEvent, EventResource
from framework.interface.status import Code, Status
from framework.objects import KubeObject, Node, Pod
from framework.objects.catalogue import LoadMetrics
from framework.objects.timestamps import SECOND
from framework.profiles.batch import HintTold, KeptTold
from framework.queue import IgnoredEvent, QueueMove
from framework.queue.changes import NODE_ADD, NODE_DELETE, POD_ADD, POD_DELETE, node_update_events, pod_update_events
from framework.queue.hints import event_label
from framework.queue.queued_pod import QueuedPodInfo, QueuePlace
from framework.queue.scheduling_queue import (
    BACKOFF_COMPLETE,
    FORCE_ACTIVATE,
    POP_FROM_BACKOFF,
    SCHEDULE_ATTEMPT_FAILURE,
    UNSCHEDULABLE_TIMEOUT,
)
from framework.reports.attempt_metrics import AttemptMetrics, Batching
from framework.reports.feature_metrics import FeatureMetrics
from framework.reports.log_entries import why_unsigned
from framework.reports.metric_families import Registry
from framework.scheduler import Observer, Scheduler
from framework.scheduler.event_handlers import change_of
from framework.trace.attempt import AttemptTrace

ADDED, UPDATED, DELETED = "UnschedulablePodAdd", "UnschedulablePodUpdate", "UnschedulablePodDelete"
_QUEUES: Final = {
    QueuePlace.ACTIVE: "active",
    QueuePlace.BACKOFF: "backoff",
    QueuePlace.UNSCHEDULABLE: "unschedulable",
    QueuePlace.GATED: "unschedulable",
}
_MOST_ATTEMPTS: Final = 15
_SIGNING: Final = frozenset({
    "DynamicResources", "InterPodAffinity", "NodeAffinity", "NodeDeclaredFeatures", "NodePorts", "NodeResourcesFit",
    "NodeVolumeLimits", "PodTopologySpread", "VolumeBinding", "VolumeRestrictions", "VolumeZone",
})  # fmt: skip
"""PreFilter plugins that sign pods: upstream asks them first, in their order."""
_SPREAD: Final = "PodTopologySpread"


class SchedulerMetrics(Observer):
    """Is told everything from the beginning, and pickled with the scheduler it hears."""

    def __init__(self) -> None:
        self.registry = Registry()
        self._attempts = AttemptMetrics(self.registry)
        self._features = FeatureMetrics(self.registry)
        self._scheduler: Scheduler | None = None
        self._flushed: set[str] = set()
        """Uids of pods that no event but the time-out brought back, until their next attempt ends."""
        self._in_flight: dict[str, QueuedPodInfo] = {}
        self._early: list[QueueMove] = []
        """What the queue did while the scheduler was made."""
        self._last: AttemptTrace | None = None
        self._unsigned: frozenset[str] = frozenset()
        """Profiles of which no pod is signed, so that batching has nothing for it."""

    def __getstate__(self) -> dict[str, Any]:
        """Between cycles."""
        self._attempts.fold()
        return self.__dict__ | {"_last": None}

    def start(self, scheduler: Scheduler) -> None:
        """Names the scheduler that is heard, and counts what its cluster holds already."""
        self._scheduler = scheduler
        self.configured()
        for obj in scheduler.cluster.all():
            self._changed(None, obj)
        early, self._early = self._early, []
        for move in early:
            self.queue_moved(move)

    def configured(self) -> None:
        """The profiles that play from now on: their series are there before anything is counted."""
        assert self._scheduler is not None
        gates = self._scheduler.configuration.feature_gates
        self.registry.begin(gates.enabled)
        self._attempts.asynchronous = gates.enabled("SchedulerAsyncPreemption")
        configuration = self._scheduler.configuration
        self._unsigned = frozenset(
            name
            for name in self._scheduler.profiles
            if not configuration.extenders and why_unsigned(None, configuration.profile(name))
        )
        is_tried = gates.enabled("OpportunisticBatching") and not configuration.extenders
        for name, profile in self._scheduler.profiles.items():
            batching: Batching = "never" if profile.batch is None else "sometimes"
            self._attempts.configured(name, profile.enabled, batching if is_tried else "off")

    # --- the cluster ------------------------------------------------------------------------------------------------

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if self._scheduler is None:
            return  # ``start`` counts what is there then
        self._features.object_changed(old, new)
        self._changed(old, new)

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        assert self._scheduler is not None
        if isinstance(new, Pod) or isinstance(old, Pod):
            self._pod_changed(old if isinstance(old, Pod) else None, new if isinstance(new, Pod) else None)
        elif isinstance(new, Node) or isinstance(old, Node):
            self._node_changed(old, new)
        elif not isinstance(new or old, LoadMetrics):
            event = change_of(old, new)
            # There is a handler for what some plugin waits for.
            if any(profile.hints.matching(event) for profile in self._scheduler.profiles.values()):
                self._handled(event_label(event))

    def _handled(self, label: str, times: int = 1) -> None:
        self.registry.observe("event_handling_duration_seconds", (label,), 0.0, times)

    def _node_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if isinstance(old, Node) and isinstance(new, Node):
            for event in node_update_events(old, new):
                self._handled(event_label(event))
        else:
            self._handled(event_label(NODE_ADD if old is None else NODE_DELETE))

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        was, is_now = self._handler(old), self._handler(new)
        if was == is_now == "assigned":
            assert old is not None
            assert new is not None
            self._handled("AssignedPodUpdate")
            for event in pod_update_events(old, new):
                self._handled(event_label(event))
            return
        if is_now == "assigned":
            self._handled(event_label(POD_ADD))
        if was == is_now == "pending":
            assert old is not None
            assert new is not None
            self._handled(UPDATED)
            for label in (event_label(event) for event in pod_update_events(old, new)):
                if label != UPDATED:
                    self._handled(label)
            self._signed(new)
        elif is_now == "pending":
            assert new is not None
            self._handled(ADDED)
            self._signed(new)
        elif was == "pending":
            self._handled(DELETED)
        if was == "assigned":
            self._handled(event_label(POD_DELETE))

    def _handler(self, pod: Pod | None) -> str:
        """Which of upstream's handlers has the pod: pending pods of other schedulers have none."""
        if pod is None or pod.status.phase in ("Succeeded", "Failed"):
            return ""
        if pod.spec.node_name:
            return "assigned"
        is_ours = self._scheduler is not None and pod.spec.scheduler_name in self._scheduler.profiles
        return "pending" if is_ours else ""

    def _signed(self, pod: Pod) -> None:
        assert self._scheduler is not None
        name = pod.spec.scheduler_name
        profile = self._scheduler.profiles.get(name)
        if profile is None or name not in self._unsigned:
            return
        self.registry.observe("framework_extension_point_duration_seconds", ("Sign", name, Code.SUCCESS.name_))
        for plugin in profile.enabled.pre_filter:
            if plugin.name not in _SIGNING:
                continue
            code = Code.UNSCHEDULABLE if plugin.name == _SPREAD else Code.SUCCESS
            self.registry.observe("plugin_execution_duration_seconds", ("Sign", plugin.name, code.name_))
            if plugin.name == _SPREAD:
                break

    # --- the queue --------------------------------------------------------------------------------------------------

    def queue_moved(self, move: QueueMove) -> None:
        if self._scheduler is None:
            self._early.append(move)
            return
        uid = move.pod.pod_info.uid
        if move.to is QueuePlace.IN_FLIGHT:
            self._in_flight[uid] = move.pod
            if move.event == POP_FROM_BACKOFF:
                self._came("active", move.event)
            return
        self._in_flight.pop(uid, None)
        if move.to not in _QUEUES:
            self._flushed.discard(uid)
            return
        if move.event == SCHEDULE_ATTEMPT_FAILURE:
            self._failed(move)
        else:
            self._came(_QUEUES[move.to], move.event)
            self._asked_before(move)
            if move.event not in (BACKOFF_COMPLETE, SCHEDULE_ATTEMPT_FAILURE):
                self._entering(move.pod)
            if move.event == UNSCHEDULABLE_TIMEOUT.label:
                self._flushed.add(uid)

    def _failed(self, move: QueueMove) -> None:
        """An eviction is played within the cycle; upstream hears of it when the pod is back."""
        evicted = self._last is not None and any(each.victims for each in self._last.post_filter)
        if not evicted or move.to is QueuePlace.UNSCHEDULABLE:
            self._came(_QUEUES[move.to], SCHEDULE_ATTEMPT_FAILURE)
            if move.to is not QueuePlace.UNSCHEDULABLE:
                self._entering(move.pod)
            return
        self._came("unschedulable", SCHEDULE_ATTEMPT_FAILURE)
        self._entering(move.pod)
        if move.plugin:
            self._came(_QUEUES[move.to], event_label(POD_DELETE))
            self._hint(event_label(POD_DELETE), "Queue", move.plugin)
        else:
            self._came("active", FORCE_ACTIVATE.label)

    def _came(self, queue: str, event: str) -> None:
        self.registry.add("queue_incoming_pods_total", (event, queue))

    def _entering(self, pod: QueuedPodInfo) -> None:
        """PreEnqueue was run: its plugins in their order, up to the one that gates."""
        assert self._scheduler is not None
        name = pod.pod.spec.scheduler_name
        profile = self._scheduler.profiles.get(name)
        if profile is None:
            return
        # Also of a pod that is gated: upstream's status is a variable that nobody sets.
        self.registry.observe("framework_extension_point_duration_seconds", ("PreEnqueue", name, Code.SUCCESS.name_))
        for plugin in profile.enabled.pre_enqueue:
            gates = plugin.name == pod.gating_plugin
            code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if gates else Code.SUCCESS
            self.registry.observe("plugin_execution_duration_seconds", ("PreEnqueue", plugin.name, code.name_))
            if gates:
                self._attempts.rejected(name, (plugin.name,))
                break

    def _hint(self, event: str, hint: str, plugin: str, times: int = 1) -> None:
        self.registry.observe("queueing_hint_execution_duration_seconds", (event, hint, plugin), 0.0, times)

    def _asked_before(self, move: QueueMove) -> None:
        """The hint that said Queue, and those of rejectors before it that did not."""
        if not move.plugin:
            return
        assert self._scheduler is not None
        profile = self._scheduler.profiles.get(move.pod.pod.spec.scheduler_name)
        event = _EVENTS.get(move.event)
        for plugin in () if event is None or profile is None else profile.hints.plugins_hearing(event):
            if plugin == move.plugin:
                break
            if plugin in move.pod.unschedulable_plugins or plugin in move.pod.pending_plugins:
                self._hint(move.event, "QueueSkip", plugin)
        self._hint(move.event, "Queue", move.plugin)

    def event_ignored(self, ignored: IgnoredEvent) -> None:
        label = event_label(ignored.event)
        for pod in ignored.pods:
            for plugin in ignored.asked.get(pod.pod.spec.scheduler_name, ()):
                if plugin in pod.unschedulable_plugins or plugin in pod.pending_plugins:
                    self._hint(label, "QueueSkip", plugin)

    # --- attempts ---------------------------------------------------------------------------------------------------

    def attempt(self, trace: AttemptTrace) -> None:
        self._last = trace
        queued = self._in_flight.get(trace.uid)
        nominated = "" if queued is None else queued.pod.status.nominated_node_name
        self._attempts.tell(trace, nominated)
        if self._scheduler is not None:
            self._features.attempt(trace, self._scheduler)
        if trace.result == "failed":
            self._flushed.discard(trace.uid)
        elif trace.result == "bound":
            self._bound(trace, queued)

    def _bound(self, trace: AttemptTrace, queued: QueuedPodInfo | None) -> None:
        registry = self.registry
        if trace.uid in self._flushed:
            self._flushed.discard(trace.uid)
            registry.add("pod_scheduled_after_flush_total")
        registry.observe("pod_scheduling_attempts", (), trace.attempt)
        began = trace.at if queued is None else queued.initial_attempt_timestamp or trace.at
        attempts = str(trace.attempt) if trace.attempt < _MOST_ATTEMPTS else f"{_MOST_ATTEMPTS}+"
        waited = (trace.finished_at - began) / SECOND
        registry.observe("pod_scheduling_sli_duration_seconds", (attempts,), waited)

    def batched(self, told: HintTold | KeptTold) -> None:
        self._attempts.batched(told)

    def wait_ended(self, trace: AttemptTrace, signal: Status) -> None:
        waited = 0.0 if self._scheduler is None else (self._scheduler.now - trace.at) / SECOND
        self.registry.observe("permit_wait_duration_seconds", (signal.code.name_,), waited)

    # --- telling ----------------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        """What a scrape answers now."""
        assert self._scheduler is not None
        self._attempts.fold()
        self._gauges(self._scheduler)
        return self.registry.lines()

    def _gauges(self, scheduler: Scheduler) -> None:
        queue, cache, registry = scheduler.core.queue, scheduler.core.cache, self.registry
        counts = queue.counts()
        for place in (QueuePlace.ACTIVE, QueuePlace.BACKOFF, QueuePlace.GATED, QueuePlace.UNSCHEDULABLE):
            registry.set("pending_pods", (place.value,), counts[place])
        registry.set("cache_size", ("assumed_pods",), cache.assumed_count)
        registry.set("cache_size", ("nodes",), len(cache.all_node_names()))
        registry.set("cache_size", ("pods",), cache.pod_count)
        registry.set("inflight_events", ("PodPopped",), counts[QueuePlace.IN_FLIGHT])
        for labels in registry.values.get("goroutines", ()):
            registry.set("goroutines", labels, 0)
        if ("binding",) in registry.values.get("goroutines", ()):
            at_work = counts[QueuePlace.IN_FLIGHT] - int(scheduler.mid_cycle)
            registry.set("goroutines", ("binding",), max(0, at_work))
        for labels in registry.values.get("unschedulable_pods", ()):
            registry.set("unschedulable_pods", labels, 0)
        for pod in queue.waiting():
            for plugin in pod.unschedulable_plugins | pod.pending_plugins:
                registry.add("unschedulable_pods", (plugin, pod.pod.spec.scheduler_name))


def _labelled() -> dict[str, ClusterEvent]:
    found: dict[str, ClusterEvent] = {}
    for resource in EventResource:
        for action in ActionType:
            event = ClusterEvent(resource, action)
            found.setdefault(event_label(event), event)
    return found


_EVENTS: Final = _labelled()
"""By label, of the kinds that upstream has a name of its own for."""

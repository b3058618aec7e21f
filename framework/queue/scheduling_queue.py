"""SchedulingQueue: activeQ, backoffQ, unschedulable pods and the moves between them.

Rules: docs/semantics/queue.md#operations, docs/semantics/queue.md#requeueing.

new → active → (Pop) in flight → bound | backoff | unschedulable; events, timers and Activate bring pods back.
There are no locks and no waiting: Pop returns None where upstream blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from framework.interface.events import ActionType, ClusterEvent, EventResource
from framework.interface.handle import ObjectStore
from framework.interface.node_info import PodInfo
from framework.interface.plugin import PreEnqueuePlugin
from framework.objects import KubeObject, Pod
from framework.queue.changes import pod_update_events
from framework.queue.hints import HintMap, event_label, is_wildcard
from framework.queue.listening import hears_of, tell_ignored, tell_others
from framework.queue.nominator import PodNominator, unresolved
from framework.queue.options import DEFAULT_OPTIONS, QueueOptions
from framework.queue.queued_pod import (
    EventForPod,
    QueuedPodInfo,
    QueueMove,
    QueueObserver,
    QueueOrder,
    QueuePlace,
)
from framework.queue.queues import BackoffQueue, InFlight, KeyedHeap, UnschedulablePods
from framework.queue.requeue import SKIP, EqualPods, RequeueDecision, Strategy, judge

POD_ADD: Final = "UnschedulablePodAdd"
POD_UPDATE: Final = "UnschedulablePodUpdate"
SCHEDULE_ATTEMPT_FAILURE: Final = "ScheduleAttemptFailure"
BACKOFF_COMPLETE: Final = "BackoffComplete"
POP_FROM_BACKOFF: Final = "PopFromBackoffQ"
POP: Final = "Pop"
FORCE_ACTIVATE: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate")
ONCE_BACK: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivateOnceBack")
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout")
MANY: Final = 16
"""With so many pods to wake it pays to see which of them are equal."""


class SchedulingQueue:
    def __init__(
        self,
        *,
        order: QueueOrder,
        pre_enqueue: Mapping[str, Sequence[PreEnqueuePlugin]],
        hints: Mapping[str, HintMap],
        objects: ObjectStore,
        observer: QueueObserver,
        start: int,
        options: QueueOptions = DEFAULT_OPTIONS,
    ) -> None:
        self.options = options
        self._observer = observer
        self._active: KeyedHeap[QueuedPodInfo] = KeyedHeap(order)
        self._backoff = BackoffQueue(
            options.initial_backoff, options.max_backoff, order, start=start, pops_early=options.pops_early
        )
        self._unschedulable = UnschedulablePods()
        self._in_flight = InFlight()
        self.nominator = PodNominator(objects)
        self._pre_enqueue = pre_enqueue
        self._hints = hints
        self._start = start
        self._timeout_recorded = 0
        self._entries = 0
        self.scheduling_cycle = 0

    def __getstate__(self) -> dict[str, Any]:
        """Hints are functions; ``reconnect`` brings them back."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_hints", "_pre_enqueue")}

    def reconnect(self, pre_enqueue: Mapping[str, Sequence[PreEnqueuePlugin]], hints: Mapping[str, HintMap]) -> None:
        """After unpickling."""
        self._pre_enqueue, self._hints = pre_enqueue, hints

    def set_observer(self, observer: QueueObserver) -> None:
        self._observer = observer

    def reconfigure(
        self,
        *,
        order: QueueOrder,
        pre_enqueue: Mapping[str, Sequence[PreEnqueuePlugin]],
        hints: Mapping[str, HintMap],
        options: QueueOptions,
    ) -> None:
        """Another configuration; every pod keeps its place."""
        self.options = options
        self._pre_enqueue = pre_enqueue
        self._hints = hints
        self._active.rebuild(order)
        self._backoff.reconfigure(options.initial_backoff, options.max_backoff, order, pops_early=options.pops_early)

    # --- PreEnqueue and the two ways in -----------------------------------------------------------------------------

    def _run_pre_enqueue(self, pod: QueuedPodInfo) -> None:
        """The gating plugin first, then the others; every code but Success gates.

        Rules: docs/semantics/queue.md#operations.
        """
        plugins = self._pre_enqueue.get(pod.pod.spec.scheduler_name, ())
        gating = pod.gating_plugin
        ordered = [p for p in plugins if p.name == gating] + [p for p in plugins if p.name != gating]
        for plugin in ordered:
            status = plugin.pre_enqueue(pod.pod)
            if status is not None and not status.is_success:
                pod.unschedulable_plugins.add(plugin.name)
                pod.gating_plugin = plugin.name
                pod.gating_events = tuple(
                    each for hints in self._hints.values() for each in hints.events_of(plugin.name)
                )
                return
        pod.gating_plugin = ""

    def _move_to_active(self, pod: QueuedPodInfo, event: str, now: int, *, from_backoff: bool, plugin: str) -> bool:
        if not (from_backoff and self.options.pops_early):
            self._run_pre_enqueue(pod)
        if pod.gated:
            if pod.key not in self._active and pod.key not in self._backoff:
                self._to_unschedulable(pod, event, plugin)
            return False
        if pod.initial_attempt_timestamp is None:
            pod.initial_attempt_timestamp = now
        self._unschedulable.delete(pod.key)
        self._backoff.delete(pod.key)
        self._active.add_or_update(pod.key, pod)
        self._moved(pod, QueuePlace.ACTIVE, event, plugin)
        if event in (POD_ADD, POD_UPDATE):
            self.nominator.add(pod.pod, None)
        return True

    def _move_to_backoff(self, pod: QueuedPodInfo, event: str, plugin: str) -> bool:
        if self.options.pops_early:
            # Pop takes it from there without asking again.
            self._run_pre_enqueue(pod)
            if pod.gated:
                self._to_unschedulable(pod, event, plugin)
                return False
        self._unschedulable.delete(pod.key)
        self._backoff.add(pod)
        self._moved(pod, QueuePlace.BACKOFF, event, plugin)
        return True

    def _to_unschedulable(self, pod: QueuedPodInfo, event: str, plugin: str = "") -> None:
        self._unschedulable.add_or_update(pod)
        self._moved(pod, QueuePlace.GATED if pod.gated else QueuePlace.UNSCHEDULABLE, event, plugin)

    def _moved(self, pod: QueuedPodInfo, to: QueuePlace, event: str, plugin: str = "") -> None:
        origin, pod.place = pod.place, to
        if origin is not to:
            self._observer.queue_moved(QueueMove(pod, origin, to, event, plugin))

    # --- operations -------------------------------------------------------------------------------------------------

    def _entered(self, pod: QueuedPodInfo, now: int) -> QueuedPodInfo:
        self._entries += 1
        pod.timestamp, pod.sequence = now, self._entries
        return pod

    def add(self, pod: PodInfo, now: int) -> None:
        self._move_to_active(self._entered(QueuedPodInfo(pod, now), now), POD_ADD, now, from_backoff=False, plugin="")

    def pop(self) -> QueuedPodInfo | None:
        """The next pod to try; None where upstream's Pop blocks.

        With an empty activeQ the head of the backoff heap goes early; never one of the error heap.
        """
        while True:
            pod, event = self._active.pop(), POP
            if pod is None:
                pod, event = self._backoff.pop_rejected(), POP_FROM_BACKOFF
            if pod is None:
                return None
            if self._take_off(pod, event):
                return pod

    def _take_off(self, pod: QueuedPodInfo, event: str) -> bool:
        pod.attempts += 1
        uid = pod.pod_info.uid
        if uid in self._in_flight.pods:
            # "the same pod is tracked in multiple places in the scheduler": discarded, as upstream
            self._moved(pod, QueuePlace.NOWHERE, event)
            return False
        self._in_flight.add_pod(uid)
        self.scheduling_cycle += 1
        self._moved(pod, QueuePlace.IN_FLIGHT, event)
        return True

    def pop_specific(self, pod: Pod, now: int) -> QueuedPodInfo | None:
        """This pod, activated first wherever it is; None for one that is gated or in no queue."""
        self._activate(pod, now)
        found = self._active.delete(pod.key)
        return found if found is not None and self._take_off(found, POP) else None

    def done(self, uid: str) -> None:
        self._in_flight.done(uid)

    def update(self, old: Pod, new: PodInfo, now: int) -> None:
        events = pod_update_events(old, new.pod)
        uid, key = new.uid, new.key
        if uid in self._in_flight:
            for event in events:
                self._in_flight.add_event(event, old, new.pod)
            return
        if (active := self._active.get(key)) is not None:
            active.pod_info = new
            self._active.add_or_update(key, active)
            self.nominator.update(old, new.pod)
            return
        if (waiting := self._backoff.get(key)) is not None:
            waiting.pod_info = new
            self._backoff.reorder(waiting)
            self.nominator.update(old, new.pod)
            return
        pod = self._unschedulable.get(key)
        if pod is None:
            entered = self._entered(QueuedPodInfo(new, now), now)
            self._move_to_active(entered, POD_UPDATE, now, from_backoff=False, plugin="")
            return
        pod.pod_info = new
        self.nominator.update(old, new.pod)
        for event in events:
            verdict = self._judge(pod, event, old, new.pod)
            place = self._requeue(pod, verdict, event_label(event), now)
            if place is QueuePlace.ACTIVE or (place is QueuePlace.BACKOFF and self.options.pops_early):
                break

    def delete(self, pod: Pod) -> None:
        self.nominator.delete(pod.metadata.uid)
        key = pod.key
        found = self._active.delete(key)
        if found is None and (found := self._backoff.get(key)) is not None:
            self._backoff.delete(key)
        if found is None:
            found = self._unschedulable.delete(key)
        if found is not None:
            self._moved(found, QueuePlace.NOWHERE, "Delete")

    def activate(self, pods: Iterable[Pod], now: int) -> None:
        """Backoff is ignored. A pod in flight gets the wildcard event instead, aimed at itself."""
        for pod in pods:
            if not self._activate(pod, now) and pod.metadata.uid in self._in_flight:
                self._in_flight.add_event(FORCE_ACTIVATE, None, pod)

    def activate_once_back(self, pod: Pod, now: int) -> None:
        """A pod in flight is active as soon as its attempt is over, whatever else happened meanwhile."""
        if pod.metadata.uid in self._in_flight:
            self._in_flight.add_event(ONCE_BACK, None, pod)
        else:
            self._activate(pod, now)

    def _activate(self, pod: Pod, now: int) -> bool:
        key = pod.key
        queued = self._unschedulable.get(key)
        from_backoff = queued is None
        if queued is None:
            queued = self._backoff.get(key)
            if queued is not None:
                self._backoff.delete(key)
        return queued is not None and self._move_to_active(
            queued, FORCE_ACTIVATE.label, now, from_backoff=from_backoff, plugin=""
        )

    def add_unschedulable_if_not_present(self, pod: QueuedPodInfo, now: int) -> str | None:
        """A failed attempt comes back; its rejectors decide where. Returns upstream's error if it is queued already."""
        uid, key = pod.pod.metadata.uid, pod.key
        try:
            if key in self._unschedulable:
                return f"Pod {key} is already present in unschedulable queue"
            if key in self._active:
                return f"Pod {key} is already present in the active queue"
            if key in self._backoff:
                return f"Pod {key} is already present in the backoff queue"
            if pod.has_rejectors:
                pod.unschedulable_count += 1
                pod.consecutive_errors_count = 0
            else:
                pod.consecutive_errors_count += 1
            self._entered(pod, now)
            pod.backoff_expiration = None
            pod.was_flushed = False
            self._requeue(pod, self._judge_in_flight(pod), SCHEDULE_ATTEMPT_FAILURE, now)
            return None
        finally:
            self.done(uid)

    def put_back(self, pod: QueuedPodInfo) -> None:
        """Among the unschedulable pods again, as if no event had moved it: what-ifs ask for one event after another."""
        self._active.delete(pod.key)
        if self._backoff.get(pod.key) is not None:
            self._backoff.delete(pod.key)
        self._to_unschedulable(pod, "PutBack")

    def leave(self, pod: QueuedPodInfo, event: str) -> None:
        """The pod is in flight no more and does not come back: bound, or gone."""
        self._moved(pod, QueuePlace.NOWHERE, event)

    def move_all(
        self,
        event: ClusterEvent,
        old: KubeObject | None,
        new: KubeObject | None,
        now: int,
        pre_check: Callable[[Pod], bool] | None = None,
    ) -> None:
        """Upstream ``MoveAllToActiveOrBackoffQueue``: an event that may help rejected pods."""
        if not self._unschedulable.pods and not self._in_flight.pods:
            return
        plugins = [hint.plugin for hints in self._hints.values() for hint in hints.matching(event)]
        if not plugins and not is_wildcard(event):
            return
        pods = list(self._unschedulable) if is_wildcard(event) else self._unschedulable.rejected_by(plugins)
        if pre_check is not None:
            pods = [pod for pod in pods if pre_check(pod.pod)]
        if self._observer.hears_hints:
            told = EventForPod("helps not", None, event, old, new)
            tell_others(self._observer, pods, self._unschedulable, told, pre_check)
        self._move(pods, event, old, new, now)

    def _move(
        self,
        pods: Sequence[QueuedPodInfo],
        event: ClusterEvent,
        old: KubeObject | None,
        new: KubeObject | None,
        now: int,
    ) -> None:
        label = ""
        ignoring: list[QueuedPodInfo] = []
        hears = self._observer.hears_hints
        judge_one = self._judge if len(pods) < MANY or hears else EqualPods(self._hints, self._unschedulable.likeness)
        for pod in pods:
            if not hears_of(pod, event):
                continue
            verdict = judge_one(pod, event, old, new)
            if verdict.strategy is Strategy.SKIP:
                ignoring.append(pod)
                if hears:
                    self._observer.event_for_pod(EventForPod("helps not", pod, event, old, new))
                continue
            label = label or event_label(event)
            self._unschedulable.delete(pod.key)
            self._requeue(pod, verdict, label, now)
        if ignoring and not is_wildcard(event):
            tell_ignored(self._observer, self._hints, event, old, new, ignoring)
        if len(self._in_flight):
            self._in_flight.add_event(event, old, new)
            if hears:
                self._observer.event_for_pod(EventForPod("kept", None, event, old, new))

    def _judge(
        self, pod: QueuedPodInfo, event: ClusterEvent, old: KubeObject | None, new: KubeObject | None
    ) -> RequeueDecision:
        answered = self._observer.hint_answered if self._observer.hears_hints else None
        return judge(self._hints.get(pod.pod.spec.scheduler_name), pod, event, old, new, answered)

    def _judge_in_flight(self, pod: QueuedPodInfo) -> RequeueDecision:
        """Every event since the pod was popped is looked at, now that its rejectors are known."""
        uid = pod.pod.metadata.uid
        if not pod.has_rejectors or uid not in self._in_flight:
            return RequeueDecision(Strategy.AFTER_BACKOFF)
        if self.options.pod_groups and pod.pod.spec.scheduling_group is not None:
            # Members of a group come back by backoff alone (docs/semantics/queue.md#operations).
            return RequeueDecision(Strategy.AFTER_BACKOFF)
        events = self._in_flight.events_since(uid)
        if any(each.event == ONCE_BACK and each.new is not None and each.new.metadata.uid == uid for each in events):
            return RequeueDecision(Strategy.IMMEDIATELY)
        result = SKIP
        for record in events:
            if self._observer.hears_hints:
                self._observer.event_for_pod(EventForPod("checked", pod, record.event, record.old, record.new))
            verdict = self._judge(pod, record.event, record.old, record.new)
            if verdict.strategy is Strategy.IMMEDIATELY:
                return verdict
            if verdict.strategy is Strategy.AFTER_BACKOFF:
                if not pod.pending_plugins:
                    return verdict
                result = verdict
        return result

    def _requeue(self, pod: QueuedPodInfo, verdict: RequeueDecision, event: str, now: int) -> QueuePlace:
        strategy, plugin = verdict.strategy, verdict.plugin
        if strategy is Strategy.SKIP:
            self._to_unschedulable(pod, event)
        elif strategy is Strategy.AFTER_BACKOFF and self._backoff.is_backing_off(pod, now):
            self._move_to_backoff(pod, event, plugin)
        else:
            self._move_to_active(pod, event, now, from_backoff=False, plugin=plugin)
        return pod.place

    # --- flushes ----------------------------------------------------------------------------------------------------

    def next_backoff_flush(self, now: int) -> int | None:
        return self._backoff.next_completion(now)

    def flush_backoff(self, now: int) -> None:
        for pod in self._backoff.pop_completed(now):
            self._move_to_active(pod, BACKOFF_COMPLETE, now, from_backoff=True, plugin="")

    def next_leftover_flush(self, now: int) -> int | None:
        """The next flush that moves a pod, or that pods in flight have to hear of.

        The flush also counts gated pods, which it cannot move; its wildcard event still sends pods that are in flight
        to backoff when they come back (upstream ``flushUnschedulablePodsLeftover``). Once per pod is as good as often.
        """
        ages = [self._unschedulable.oldest(gated=False)]
        if len(self._in_flight) and self._in_flight.newest_pod() > self._timeout_recorded:
            ages.append(self._unschedulable.oldest(gated=True))
        return self.options.next_leftover_flush(self._start, ages, now)

    def flush_leftovers(self, now: int) -> None:
        limit = self.options.max_in_unschedulable
        if limit is None:
            return
        pods = [pod for pod in self._unschedulable if now - pod.timestamp > limit]
        for pod in pods:
            pod.was_flushed = True
        if pods:
            self._move(pods, UNSCHEDULABLE_TIMEOUT, None, None, now)
            self._timeout_recorded = self._in_flight.newest_pod()

    # --- reading ----------------------------------------------------------------------------------------------------

    def nominated_pods_for_node(self, node_name: str) -> list[PodInfo]:
        if not self.nominator.has_nodes:
            return []
        infos = []
        for ref in self.nominator.refs(node_name):
            key = f"{ref.namespace}/{ref.name}"
            queued = self._active.get(key) or self._unschedulable.get(key) or self._backoff.get(key)
            infos.append(unresolved(ref) if queued is None else queued.pod_info)
        return infos

    def nominated_nodes(self) -> list[str]:
        return self.nominator.nodes()

    def get(self, key: str) -> QueuedPodInfo | None:
        """A queued pod; None for one that is in flight or unknown."""
        return self._active.get(key) or self._backoff.get(key) or self._unschedulable.get(key)

    def has_active(self) -> bool:
        """Whether Pop has something to give."""
        return len(self._active) > 0 or self._backoff.has_rejected

    def counts(self) -> dict[QueuePlace, int]:
        gated = sum(1 for pod in self._unschedulable if pod.gated)
        return {
            QueuePlace.ACTIVE: len(self._active),
            QueuePlace.BACKOFF: len(self._backoff),
            QueuePlace.UNSCHEDULABLE: len(self._unschedulable) - gated,
            QueuePlace.GATED: gated,
            QueuePlace.IN_FLIGHT: len(self._in_flight),
        }

    @property
    def backing_off(self) -> int:
        """How many pods are backing off while none is active: time alone brings them back. Else 0."""
        return 0 if len(self._active) else len(self._backoff)

    def is_backing_off(self, key: str) -> bool:
        return key in self._backoff

    def active(self) -> list[QueuedPodInfo]:
        """In the order in which Pop will give them."""
        return self._active.in_pop_order()

    def backoff(self) -> list[QueuedPodInfo]:
        """Rejected pods in pop order, then pods whose attempt ended in an error."""
        return self._backoff.rejected_in_pop_order() + self._backoff.errors_in_pop_order()

    def backoff_expiration(self, pod: QueuedPodInfo) -> int:
        return self._backoff.expiration(pod)

    def unschedulable(self) -> list[QueuedPodInfo]:
        """In order of entry, gated pods among them."""
        return list(self._unschedulable)

    def waiting(self) -> Iterator[QueuedPodInfo]:
        """Active, in backoff, unschedulable and gated, in no order."""
        yield from self._active
        yield from self._backoff
        yield from self._unschedulable

    @property
    def in_flight_size(self) -> int:
        """Pods in flight, and the events that are kept for them."""
        return self._in_flight.size

    def in_flight(self) -> list[str]:
        """Uids in order of their Pop."""
        return self._in_flight.uids()

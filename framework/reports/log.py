"""The log of a scheduler as kube-scheduler prints it at ``-v=2`` to ``-v=10``: an observer that writes lines.

Levels and texts are upstream's (pkg/scheduler, kube-scheduler 1.36.2); docs/semantics/log.md says which there are
and which not. A simulated cycle evicts before it ends; the lines of an eviction come after it, as those of upstream
asynchronous preemption do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from framework.configuration.effective import EffectivePoint, EffectiveProfile
from framework.interface.events import ClusterEvent
from framework.interface.status import SUCCESS
from framework.objects import KubeObject, Node, Pod
from framework.profiles.batch import HintTold, KeptTold
from framework.queue import EventForPod, HintAnswer, QueueMove
from framework.queue.hints import event_label, is_wildcard
from framework.queue.queued_pod import QueuePlace
from framework.queue.scheduling_queue import POD_UPDATE, UNSCHEDULABLE_TIMEOUT
from framework.reports import klog
from framework.reports.hint_lines import hint_entries
from framework.reports.log_entries import (
    Entry,
    Known,
    ends_of,
    entries_of,
    evicting,
    plugins_that_sign_nothing,
    unsigned_by,
    updated,
    why_unsigned,
)
from framework.reports.resource_scores import LEVEL as RESOURCES_LEVEL
from framework.reports.resource_scores import resource_scores
from framework.scheduler import Observer, Scheduler
from framework.trace.attempt import AttemptTrace, PostFilterOutcome

QUEUES: Final = {
    QueuePlace.ACTIVE: "Active",
    QueuePlace.BACKOFF: "Backoff",
    QueuePlace.UNSCHEDULABLE: "Unschedulable",
    QueuePlace.GATED: "Unschedulable",
}
HINTS_LEVEL: Final = 4
"""Below it nothing is written of single pods and events."""
KEPT: Final = "Event received while pods are in flight"
IDLE: Final = "Event is not making pod schedulable"
SIGN_LEVEL: Final = 5
BINDING: Final = "AssignedPodAdd"
FAILURE: Final = "ScheduleAttemptFailure"
CLAIMS: Final = "DynamicResources"
FIT: Final = "NodeResourcesFit"
FIT_POINTS: Final = ("preFilter", "filter", "preScore", "score")
REGION: Final = "topology.kubernetes.io/region"
ZONE: Final = "topology.kubernetes.io/zone"
_POINTS: Final = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "multiPoint",
    "placementGenerate",
    "placementScore",
)


@dataclass(slots=True)
class _Group:
    """Lines about one change of the cluster, ``event`` where they are of a pod that was in flight then."""

    old: KubeObject | None = None
    new: KubeObject | None = None
    lines: list[str] = field(default_factory=list)
    event: ClusterEvent | None = None


@dataclass(slots=True)
class _Eviction:
    pod: str
    """The preemptor."""
    found: PostFilterOutcome
    during: list[_Group]
    """What was written while its cycle evicted."""


class SchedulerLog(Observer):
    """``write`` gets one entry at a time, without a line break at its end; an entry may have several lines."""

    def __init__(self, write: Callable[[str], object], verbosity: int) -> None:
        self.verbosity = verbosity
        self.hears_hints = verbosity >= HINTS_LEVEL
        self._write = write
        self._scheduler: Scheduler | None = None
        self._open = False
        """A cycle is under way: its lines come when it is known what became of it."""
        self._during: list[_Group] = []
        self._checked: list[_Group] = []
        """What was said of events for the pod that comes back from its attempt, until it is told where it goes."""
        self._left_pending = ""
        """The key of a pod that was bound: that it is none of the pending pods any more is written when the queue has
        heard of the binding."""
        self._last: AttemptTrace | None = None
        self._eviction: _Eviction | None = None
        self._batching: dict[int, list[HintTold | KeptTold]] = {}
        """Of cycles whose attempt is still to be told."""

    def start(self, scheduler: Scheduler) -> None:
        """Names the scheduler that is heard, and begins with the plugins of its profiles."""
        self._scheduler = scheduler
        for profile in scheduler.configuration.profiles:
            self._signing_disabled(scheduler, profile.scheduler_name)
            self._say(
                2, "framework.go:502", "the scheduler starts to work with those plugins", Plugins=_plugins(profile)
            )

    def _signing_disabled(self, scheduler: Scheduler, name: str) -> None:
        """Upstream ``computeBatchablePlugins``; its names of plugins are in the order of a Go set."""
        configuration = scheduler.configuration
        if not configuration.feature_gates.enabled("OpportunisticBatching"):
            return
        if configuration.extenders:
            message = "Disabling signatures for profile because it has extenders configured."
            self._say(0, "framework.go:825", message, profile=name)
        unable = plugins_that_sign_nothing(scheduler.profiles[name].enabled)
        if configuration.extenders or unable:
            message = "Disabling signatures for profile because plugins do not support it."
            self._say(0, "framework.go:862", message, profile=name, plugins=unable)

    # --- what happens -------------------------------------------------------------------------------------------------

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        self._leave_pending()
        if self._open:
            self._during.append(_Group(old, new))
        if isinstance(new, Node) or isinstance(old, Node):
            self._node_changed(old, new)
        elif isinstance(new, Pod) or isinstance(old, Pod):
            self._pod_changed(old if isinstance(old, Pod) else None, new if isinstance(new, Pod) else None)

    def _node_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        known = old if new is None else new
        assert isinstance(known, Node)
        name = known.metadata.name
        if old is None:
            self._say(3, "eventhandlers.go:63", "Add event for node", node=name)
            self._say(2, "node_tree.go:65", "Added node to NodeTree", node=name, zone=_zone(known))
        elif new is None:
            self._say(3, "eventhandlers.go:122", "Delete event for node", node=name)
            self._say(2, "node_tree.go:79", "Removed node from NodeTree", node=name, zone=_zone(known))
        else:
            self._say(4, "eventhandlers.go:82", "Update event for node", node=name)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        was, is_now = _handled(old), _handled(new)
        known = old if new is None else new
        assert known is not None
        key = known.key
        if was == is_now == "scheduled":
            self._say(4, "eventhandlers.go:407", "Update event for scheduled pod", pod=key)
            return
        if is_now == "scheduled":
            self._say(3, "eventhandlers.go:374", "Add event for scheduled pod", pod=key)
            if was == "unscheduled":
                self._left_pending = key
                return
        if was == is_now == "unscheduled":
            self._say(4, "eventhandlers.go:316", "Update event for unscheduled pod", pod=key)
            self._sign(known)
            if self._eviction is not None and self._eviction.pod == key and not self._open:
                self._evicted()
        elif is_now == "unscheduled":
            self._say(3, "eventhandlers.go:214", "Add event for unscheduled pod", pod=key)
            self._sign(known)
        elif was == "unscheduled":
            self._say(3, "eventhandlers.go:335", "Delete event for unscheduled pod", pod=key)
        if was == "scheduled":
            self._say(3, "eventhandlers.go:443", "Delete event for scheduled pod", pod=key)

    def _leave_pending(self) -> None:
        key, self._left_pending = self._left_pending, ""
        if key:
            self._say(3, "eventhandlers.go:335", "Delete event for unscheduled pod", pod=key)

    def queue_moved(self, move: QueueMove) -> None:
        pod = move.pod.key
        if move.event != BINDING:
            self._leave_pending()
        if move.to is QueuePlace.IN_FLIGHT:
            self._evicted()
            self._say(4, "schedule_one.go:107", "About to try and schedule pod", pod=pod)
            self._say(3, "schedule_one.go:123", "Attempting to schedule pod", pod=pod)
            self._open = True
        elif move.to is QueuePlace.GATED:
            self._gated(move)
        elif move.event == FAILURE:
            self._failed(move)
        elif move.to in QUEUES:
            if move.event == UNSCHEDULABLE_TIMEOUT.label:
                self._wildcard(pod, move.event)
            self._moved(pod, move.event, move.to)
            if move.origin in (QueuePlace.UNSCHEDULABLE, QueuePlace.GATED) and move.event.startswith(POD_UPDATE):
                self._say(
                    5,
                    "scheduling_queue.go:1160",
                    "Pod moved to an internal scheduling queue because the Pod is updated",
                    pod=pod,
                    event=move.event,
                    queue=QUEUES[move.to],
                )

    def hint_answered(self, answer: HintAnswer) -> None:
        assert self._scheduler is not None
        for entry in hint_entries(answer, self._scheduler):
            self._say(entry.level, entry.place, entry.message, **entry.values)

    def event_for_pod(self, told: EventForPod) -> None:
        label = event_label(told.event)
        if told.pod is None:
            # Upstream evicts when nothing of the cycle is in flight any more.
            self._say(5, "scheduling_queue.go:1343", KEPT, event=label)
            return
        pod = told.pod.key
        if told.what == "helps not":
            self._say(5, "scheduling_queue.go:1325", IDLE, pod=pod, event=label)
            return
        self._checked.append(_Group(told.old, told.new, event=told.event))
        if self._eviction is None:
            self._say(5, "scheduling_queue.go:841", "Checking event for in-flight pod", pod=pod, event=label)
        if is_wildcard(told.event):
            self._wildcard(pod, label)

    def _wildcard(self, pod: str, label: str) -> None:
        message = "Worth requeuing because the event is wildcard"
        self._say(6, "scheduling_queue.go:511", message, pod=pod, event=label)

    def _gated(self, move: QueueMove) -> None:
        pod, plugin = move.pod.pod, move.pod.gating_plugin
        status = _why_gated(self._scheduler, pod, plugin)
        self._say(
            4,
            "scheduling_queue.go:654",
            "Status after running PreEnqueue plugin",
            pod=pod.key,
            plugin=plugin,
            status=status,
        )
        self._say(
            5,
            "scheduling_queue.go:694",
            "Pod moved to an internal scheduling queue, because the pod is gated",
            pod=pod.key,
            event=move.event,
            queue=QUEUES[QueuePlace.GATED],
        )

    def _moved(self, pod: str, event: str, to: QueuePlace) -> None:
        entry = _moved_entry(pod, event, to)
        self._say(entry.level, entry.place, entry.message, **entry.values)

    def _moved_line(self, pod: str, event: str, to: QueuePlace) -> Iterator[str]:
        return self._lines([_moved_entry(pod, event, to)])

    def _failed(self, move: QueueMove) -> None:
        """The pod of the last attempt goes back to the queue; then come the victims' lines."""
        checked, self._checked = self._checked, []
        trace = self._last
        if trace is None or trace.pod != move.pod.key:
            return
        queue, hint = QUEUES[move.to], int(move.to is not QueuePlace.UNSCHEDULABLE)
        if self._eviction is not None:
            # What an eviction brings about, upstream hears of only after it asked for it.
            self._add_to_eviction(checked, move)
            queue, hint, checked = QUEUES[QueuePlace.UNSCHEDULABLE], 0, []
        values: dict[str, Any] = {
            "schedulingCycle": trace.cycle,
            "hint": hint,
            "unschedulable_plugins": {
                name: {} for name in sorted((*trace.unschedulable_plugins, *trace.pending_plugins))
            },
        }
        if self._scheduler is not None and (trace.unschedulable_plugins or trace.pending_plugins):
            queue_ = self._scheduler.core.queue
            pods_in_flight = len(queue_.in_flight())
            # The events of an eviction come when its preemptor is not in flight any more.
            in_flight = pods_in_flight if self._eviction is not None else queue_.in_flight_size
            self._say(
                5,
                "active_queue.go:403",
                "Checking events for in-flight pod",
                pod=trace.pod,
                unschedulablePlugins={name: {} for name in trace.unschedulable_plugins},
                inFlightEventsSize=in_flight,
                inFlightPodsSize=pods_in_flight,
            )
            for group in checked:
                self._write_all(group.lines)
        self._say(
            3,
            "scheduling_queue.go:958",
            "Pod moved to an internal scheduling queue",
            pod=trace.pod,
            event=FAILURE,
            queue=queue,
            **values,
        )
        entry = updated(trace)
        self._say(entry.level, entry.place, entry.message, **entry.values)

    def _add_to_eviction(self, checked: list[_Group], move: QueueMove) -> None:
        """What the events of the eviction mean to its preemptor, among what else was written of each of them."""
        assert self._eviction is not None
        wakes = move.to in (QueuePlace.ACTIVE, QueuePlace.BACKOFF)
        for group in checked:
            assert group.event is not None
            if wakes and group is checked[-1]:
                ends = self._moved_line(move.pod.key, event_label(group.event), move.to)
            else:
                values = {"pod": move.pod.key, "event": event_label(group.event)}
                ends = self._lines([Entry(5, "scheduling_queue.go:1325", IDLE, values)])
            among = [each for each in self._eviction.during if each.old is group.old and each.new is group.new]
            if among:
                among[-1].lines += [*group.lines, *ends]
            else:
                self._eviction.during.append(_Group(group.old, group.new, [*group.lines, *ends]))

    def batched(self, told: HintTold | KeptTold) -> None:
        self._batching.setdefault(told.cycle, []).append(told)

    def attempt(self, trace: AttemptTrace) -> None:
        self._leave_pending()
        self._open, during, self._during = False, self._during, []
        self._last = trace
        found = evicting(trace)
        self._write_all(self._lines(self._entries(trace)))
        if found is None:
            for group in during:
                self._write_all(group.lines)
        else:
            for group in during:
                group.lines = [line for line in group.lines if f'"{KEPT}"' not in line]
            self._eviction = _Eviction(trace.pod, found, during)
        self._write_all(self._lines(ends_of(trace)))

    def finish(self) -> None:
        """Nothing more is to come."""
        self._leave_pending()
        self._evicted()

    def _evicted(self) -> None:
        """Upstream evicts in a goroutine: what it does is written when the cycle has ended."""
        eviction, self._eviction = self._eviction, None
        if eviction is None:
            return
        node, victims = eviction.found.nominated_node or "", eviction.found.victims
        common: dict[str, Any] = {"preemptor": eviction.pod, "node": node}
        self._say(
            2,
            "executor.go:251",
            "Start the preemption asynchronously",
            **common,
            numVictims=len(victims),
            numVictimsToDelete=len(victims),
        )
        for group in eviction.during:
            self._write_all(group.lines)
        for victim in victims:
            self._say(
                2,
                "executor.go:152",
                "Preemptor Pod preempted victim Pod",
                preemptor=eviction.pod,
                victim=victim,
                node=node,
            )
        self._say(2, "executor.go:303", "Async Preemption finished completely", **common, result="success")

    # --- writing ------------------------------------------------------------------------------------------------------

    def _profile(self, name: str) -> EffectiveProfile | None:
        return None if self._scheduler is None else self._scheduler.configuration.profile(name)

    def _sign(self, pod: Pod) -> None:
        scheduler, name = self._scheduler, pod.spec.scheduler_name
        if scheduler is None or name not in scheduler.profiles or self.verbosity < SIGN_LEVEL:
            return
        configuration = scheduler.configuration
        if configuration.extenders or not configuration.feature_gates.enabled("OpportunisticBatching"):
            return
        found = unsigned_by(pod, scheduler.profiles[name].enabled, self._profile(name))
        if found is not None:
            plugin, status = found
            message = "SignPod can't sign pod due to plugin"
            self._say(SIGN_LEVEL, "framework.go:898", message, plugin=plugin, status=status)

    def _entries(self, trace: AttemptTrace) -> Iterator[Entry]:
        pod = None if self._scheduler is None else self._scheduler.cluster.get(Pod, *trace.pod.split("/", 1))
        known = Known(
            pod,
            is_never_batched=bool(why_unsigned(pod, self._profile(trace.profile))),
            has_claims_plugin=_is_enabled(self._profile(trace.profile), "preFilter", CLAIMS),
            batching=self._batching.pop(trace.cycle, ()),
        )
        amounts: Iterable[Entry] = ()
        if self.verbosity >= RESOURCES_LEVEL and self._scheduler is not None and pod is not None:
            amounts = resource_scores(self._scheduler, pod, trace)
        return entries_of(trace, known, amounts)

    def _lines(self, entries: Iterable[Entry]) -> Iterator[str]:
        for entry in entries:
            if entry.level <= self.verbosity:
                yield klog.line(self._now(), entry.place, entry.message, **entry.values)

    def _say(self, level: int, place: str, message: str, **values: object) -> None:
        if level > self.verbosity:
            return
        written = klog.line(self._now(), place, message, **values)
        if self._checked:
            self._checked[-1].lines.append(written)
        elif self._open:
            if not self._during:
                self._during.append(_Group())
            self._during[-1].lines.append(written)
        else:
            self._write(written)

    def _write_all(self, lines: Iterable[str]) -> None:
        for each in lines:
            self._write(each)

    def _now(self) -> int:
        return 0 if self._scheduler is None else self._scheduler.now


def _moved_entry(pod: str, event: str, to: QueuePlace) -> Entry:
    places = {QueuePlace.ACTIVE: "active_queue.go:111", QueuePlace.BACKOFF: "backoff_queue.go:321"}
    values = {"pod": pod, "event": event, "queue": QUEUES[to]}
    return Entry(5, places.get(to, "scheduling_queue.go:727"), "Pod moved to an internal scheduling queue", values)


def _handled(pod: Pod | None) -> str:
    """Which of upstream's informers has the pod: those that ended have left both."""
    if pod is None or pod.status.phase in ("Succeeded", "Failed"):
        return ""
    return "scheduled" if pod.spec.node_name else "unscheduled"


def _zone(node: Node) -> str:
    """Upstream component-helpers/node/topology GetZoneKey."""
    labels = node.metadata.labels or {}
    region, zone = labels.get(REGION, ""), labels.get(ZONE, "")
    return f"{region}:\0:{zone}" if region or zone else ""


def _plugins(profile: EffectiveProfile) -> dict[str, Any]:
    listed = {f"{name[:1].upper()}{name[1:]}": _listed(profile.point(name)) for name in _POINTS}
    if not listed["PlacementScore"]["Enabled"] and all(FIT in profile.point(name).names for name in FIT_POINTS):
        # Enabled at multiPoint; upstream lists it there whatever TopologyAwareWorkloadScheduling says.
        listed["PlacementScore"]["Enabled"] = [{"Name": FIT, "Weight": profile.weights.get(FIT, 1)}]
    return listed


def _listed(point: EffectivePoint) -> dict[str, Any]:
    enabled = [{"Name": each.name, "Weight": each.weight or 0} for each in point.plugins]
    return {"Enabled": enabled or None, "Disabled": None}


def _is_enabled(profile: EffectiveProfile | None, point: str, plugin: str) -> bool:
    return profile is not None and plugin in profile.point(point).names


def _why_gated(scheduler: Scheduler | None, pod: Pod, plugin: str) -> str:
    if scheduler is None or (profile := scheduler.profiles.get(pod.spec.scheduler_name)) is None:
        return ""
    for each in profile.enabled.pre_enqueue:
        if each.name == plugin:
            return (each.pre_enqueue(pod) or SUCCESS).message
    return ""

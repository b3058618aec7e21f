"""One case's scheduler, and the attempts of its pods.

Ties go to the smallest name, every node is looked at, nothing takes time but waiting for devices in vain. After a
preemption the victims are gone at once and the pod is tried once more; a second nomination is recorded, not followed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
from msgspec.structs import replace

from framework.cli.cases import CaseObjects, Unreadable
from framework.cli.extender_script import ScriptedExtender, ScriptedExtenders
from framework.cli.report import (
    Report,
    attempt_report,
    broken_off,
    device_claims_report,
    empty_report,
    extender_report,
    status_report,
)
from framework.configuration import EffectiveConfiguration, FeatureGates
from framework.interface import VolumeDecision
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.status import SUCCESS, Status
from framework.objects import KubeObject, PersistentVolumeClaim, Pod
from framework.objects.admission import AdmissionError, admit
from framework.objects.defaults import with_defaults
from framework.objects.quantity import FORMAT_WRONG, NUMERIC_WRONG, SUFFIX_WRONG
from framework.objects.validation import validate_object
from framework.plugins.registry import Registry
from framework.profiles import Profile
from framework.profiles.pod_class import FeasibleNodes, PodClass
from framework.profiles.scoring import NodeByNode
from framework.reuse.columns import Work
from framework.scheduler import Attempt, Cluster, Observer, Scheduler, options
from framework.scheduler.controllers import DECIDED_ONLY
from framework.trace.attempt import AttemptTrace

O = TypeVar("O", bound=KubeObject)  # noqa: E741
ALL_NODES: Final = 100
OLDER_GATES: Final = FeatureGates({"NominatedNodeNameForExpectation": False})
"""Kubernetes 1.35, on which scheduler-plugins is built, tells nobody where a pod that waits is about to go."""
OUT_OF_RANGE: Final = "applying score defaultWeights"
NO_QUANTITY: Final = (FORMAT_WRONG, NUMERIC_WRONG, SUFFIX_WRONG)


class CaseCluster(Cluster):
    """``follow`` False: preemption may choose victims, but nobody is deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.set_controllers(DECIDED_ONLY)
        self.follow = True
        self.cleared: list[str] = []
        """Keys of pods whose nomination somebody else took away."""

    def clear_nomination(self, pod: Pod) -> str | None:
        self.cleared.append(pod.key)
        return super().clear_nomination(pod)

    def delete_pod(self, pod: Pod) -> str | None:
        return super().delete_pod(pod) if self.follow else None


@dataclass
class Ended:
    """A wait on Permit that is over, in the how manieth round: ends may set off others."""

    trace: AttemptTrace
    round: int


@dataclass
class CaseObserver(Observer):
    """What an attempt sets off beside its own outcome."""

    activated_pods: list[str] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    signalled: int = 0
    """Of the round under way, how many waits are still to be followed up."""
    round: int = 0
    still_signalled: Callable[[], int] = lambda: 0
    """How many other waits are decided and not yet followed up; ``CaseRun`` knows."""

    def begin(self) -> None:
        self.activated_pods, self.ended, self.signalled, self.round = [], [], 0, 0

    def activated(self, keys: Sequence[str]) -> None:
        self.activated_pods += keys

    def wait_ended(self, trace: AttemptTrace, signal: Status) -> None:
        if self.signalled == 0:
            self.round += 1
            self.signalled = 1 + self.still_signalled()
        self.signalled -= 1
        self.ended.append(Ended(trace, self.round))


class CaseRun:
    """One case's scheduler."""

    def __init__(
        self,
        objects: CaseObjects,
        configuration: EffectiveConfiguration,
        registry: Registry,
        start: int,
        scripted: Sequence[ScriptedExtender] = (),
    ) -> None:
        self._cluster = CaseCluster()
        self._scripted = ScriptedExtenders(scripted) if scripted else None
        enabled = {name for profile in configuration.profiles for name in profile.plugins}
        self._whole = any(entry.origin == "scheduler-plugins" for entry in registry.entries() if entry.name in enabled)
        """Cases of scheduler-plugins show every node that passes, also where nobody had to look at it."""
        self._observer = CaseObserver()
        self._created: dict[str, Pod] = {}
        """Pods that were there before the first attempt, by key."""
        # Pods last: they may name priority and runtime classes that are listed after them.
        for obj in sorted(objects.cluster, key=lambda each: isinstance(each, Pod)):
            admitted = self._admitted(obj)
            if self._cluster.find(admitted) is None:
                self._cluster.create_admitted(admitted)
        if self._whole:
            configuration = replace(configuration, feature_gates=OLDER_GATES)
        self.scheduler = Scheduler(
            _all_nodes(configuration),
            registry,
            start=start,
            seed=0,
            ties="smallest",
            observer=self._observer,
            cluster=self._cluster,
            options=dataclasses.replace(options.DEFAULT, takes_first_fit=not self._whole),
        )
        if self._scripted is not None:
            self._scripted.extenders = self.scheduler.core.extenders
            self._scripted.node_info = self.scheduler.core.snapshot.get
            self.scheduler.core.answerer = self._scripted
        waiting = self.scheduler.core.waiting_pods
        self._observer.still_signalled = lambda: sum(each.signal is not None for each in waiting.entries())

    def admitted(self, pod: Pod) -> Pod:
        """As it is in the cluster once it was created."""
        admitted = _admit(pod, self._cluster)
        return with_defaults(pod) if isinstance(admitted, AdmissionError) else admitted

    def create(self, pod: Pod | Unreadable) -> None:
        """Before the first attempt; a pod that admission refuses is refused when it is tried."""
        if isinstance(pod, Unreadable):
            return
        admitted = _admit(pod, self._cluster)
        if not isinstance(admitted, AdmissionError) and self._cluster.find(admitted) is None:
            self._created[pod.key] = self._cluster.create_admitted(admitted)

    def cannot_be_tried(self, pod: Pod | Unreadable) -> str | None:
        """Why there is no attempt of a pod that was created; None when there is."""
        if isinstance(pod, Unreadable) or pod.key not in self._created:
            return None
        live = self._cluster.get(Pod, pod.namespace, pod.name)
        if live is None:
            return "the pod is gone"
        if live.spec.node_name:
            return "bound"
        return "waiting" if self.scheduler.core.waiting_pods.get(live.uid) is not None else None

    def _admitted(self, obj: KubeObject) -> KubeObject:
        """Objects of the cluster are not validated; one that admission refuses is there all the same."""
        admitted = _admit(obj, self._cluster)
        return with_defaults(obj) if isinstance(admitted, AdmissionError) else admitted

    def attempts(self, pod: Pod | Unreadable) -> Iterator[Report]:
        if isinstance(pod, Unreadable):
            yield empty_report(pod.key, None, 0, {}) | {"admissionError": pod.message}
            return
        admitted = _admit(pod, self._cluster)
        created = pod.key in self._created
        if not created and not isinstance(admitted, AdmissionError) and self._cluster.find(admitted) is not None:
            admitted = AdmissionError(f'pods "{pod.metadata.name}" already exists')
        complaints: list[str] = []
        if not isinstance(admitted, AdmissionError):
            complaints = [error.text for error in validate_object(admitted, comparisons=self._cluster.comparisons)]
            unreadable = [text for text in complaints if text.endswith(NO_QUANTITY)]
            if unreadable:  # a real API server fails to decode it, before it validates anything
                admitted = AdmissionError(unreadable[0])
        if isinstance(admitted, AdmissionError):
            refused = with_defaults(pod)
            yield empty_report(refused.key, None, refused.spec.priority or 0, {}) | {"admissionError": str(admitted)}
            return
        first = True
        for report in self._attempts(admitted):
            if first and complaints:
                report["apiErrors"] = complaints
            first = False
            yield report

    def _attempts(self, admitted: Pod) -> Iterator[Report]:
        priority = admitted.spec.priority or 0
        name = admitted.spec.scheduler_name
        profile = self.scheduler.profiles.get(name)
        if profile is None:
            reason = f"no profile for schedulerName {name}"
            yield empty_report(admitted.key, None, priority, {}) | {"skipped": reason}
            return
        pod = self._pod(admitted)
        weights = self._weights(name)
        gate = pre_enqueue_status(profile, pod)
        if gate is not None:
            report = empty_report(pod.key, name, priority, weights)
            yield report | {"preEnqueue": status_report(gate), "unschedulablePlugins": [gate.plugin]}
            return
        trace, filtered = self._try(profile, pod)
        yield self._report(pod, trace, weights, filtered)
        if any(outcome.nominated_node and outcome.status.is_success for outcome in trace.post_filter):
            self._cluster.follow = self._whole
            pod = self._cluster.get(Pod, pod.metadata.namespace, pod.metadata.name) or pod
            self.scheduler.activate([pod])
            trace, filtered = self._try(profile, pod)
            yield self._report(pod, trace, weights, filtered)
            self._cluster.follow = True

    def _pod(self, admitted: Pod) -> Pod:
        """In the cluster, and to be tried next."""
        if admitted.key not in self._created:
            return self._cluster.create_admitted(admitted)
        pod = self._cluster.get(Pod, admitted.namespace, admitted.name)
        assert pod is not None, f"{admitted.key} is gone"
        self.scheduler.activate([pod])
        return pod

    def _try(self, profile: Profile, pod: Pod) -> tuple[AttemptTrace, dict[str, Status]]:
        """One cycle of this pod, with every node's status.

        The clock stands still, so all pods that were tried before back off. Pods without a node among the cluster's
        objects are there, and count where they are nominated, but nobody tries them.
        """
        queue = self.scheduler.core.queue
        for queued in list(queue.active()):
            if queued.pod.metadata.uid != pod.metadata.uid:
                queue.put_back(queued)
        self._observer.begin()
        self._cluster.cleared.clear()
        if self._scripted is not None:
            self._scripted.calls = []
        filtered: dict[str, Status] = {}

        def passed(point: str, trace: AttemptTrace) -> None:
            # Before anything is reserved or bound, while the snapshot is still the attempt's.
            if point == "Filter":
                filtered.update(self._filtered(profile, pod, trace))

        attempt: Attempt | None = self.scheduler.step(passed)
        if attempt is None or attempt.uid != pod.metadata.uid:
            raise AssertionError(f"tried {attempt and attempt.pod} instead of {pod.key}")
        # Nobody says during a case that a device is ready: its time runs out.
        while (due := self.scheduler.core.pre_binding.next_timer()) is not None:
            self.scheduler.advance(due)
        return attempt, filtered

    def _weights(self, profile: str) -> dict[str, int]:
        effective = self.scheduler.configuration.profile(profile)
        assert effective is not None
        return effective.weights

    def _report(self, pod: Pod, trace: AttemptTrace, weights: dict[str, int], filtered: dict[str, Status]) -> Report:
        report = attempt_report(trace, weights, filtered)
        if trace.result == "bound":
            bound = self._cluster.get(Pod, pod.metadata.namespace, pod.metadata.name)
            if bound is not None and (claims := device_claims_report(bound, self._cluster)):
                report["claims"] = claims
        if volumes := self._volumes(trace):
            report["volumes"] = volumes
        if self._scripted is not None:
            report |= extender_report(trace, self._scripted.calls)
        if self._whole:
            report |= self._all_nodes_report(pod, trace, report)
        return report | self._set_off(pod, trace, report)

    def _all_nodes_report(self, pod: Pod, trace: AttemptTrace, report: Report) -> Report:
        found: Report = {}
        if trace.tried_alone:
            found["feasible"] = sorted(node for node, status in report["filter"].items() if status is None)
            found["candidates"] = [trace.selected] if trace.selected else []
        if trace.message.startswith(OUT_OF_RANGE):
            found |= self._refused_scores(pod, trace, report["feasible"])
        return found

    def _refused_scores(self, pod: Pod, trace: AttemptTrace, feasible: list[str]) -> Report:
        """Scores that ended the attempt, asked for again: nothing has changed since."""
        snapshot = self.scheduler.core.snapshot
        profile, state, info = self.scheduler.profiles[trace.profile], CycleState(), PodInfo(pod)
        scratch = AttemptTrace(trace.pod, trace.uid, trace.profile, trace.attempt, trace.cycle, trace.at)
        profile.filtering.run_pre_filter(state, info, scratch)
        rows = np.array([snapshot.row(name) for name in feasible], dtype=np.intp)
        profile.scoring.ask_pre_score(state, info, rows, scratch)
        parts = profile.scoring.parts(state, info, kept=False)
        found = FeasibleNodes(PodClass(frozenset(), frozenset()), snapshot.order, 0, rows)
        scores = NodeByNode(state, info, snapshot, found, Work()).ask(parts)
        if isinstance(scores, Status):
            return {}
        return {
            "score": {each.plugin: dict(zip(feasible, each.raw.tolist(), strict=True)) for each in scores},
            "normalized": {each.plugin: dict(zip(feasible, each.normalized.tolist(), strict=True)) for each in scores},
        }

    def _set_off(self, pod: Pod, trace: AttemptTrace, report: Report) -> Report:
        """What else became of the attempt, as far as there is anything to tell."""
        found: Report = {}
        if trace.waiting_for:
            asked = {each.plugin: each.timeout_seconds for each in trace.permit if each.plugin in trace.waiting_for}
            found["permit"] = {"plugin": next(iter(asked)), "code": "Wait", "waitingFor": asked}
        if self._observer.activated_pods:
            found["activated"] = sorted(self._observer.activated_pods)
        ended = [each for each in self._observer.ended if each.trace.uid != pod.uid]
        if ended:
            ended.sort(key=lambda each: (each.round, each.trace.pod))
            found["ended"] = [ended_report(each.trace) for each in ended]
        live = self._cluster.get(Pod, pod.namespace, pod.name)
        if live is not None and live.status.nominated_node_name and self._scripted is None:
            found["nominatedNodeName"] = live.status.nominated_node_name
        cleared = sorted(key for key in self._cluster.cleared if key != pod.key)
        if cleared and report["postFilter"]:
            found["postFilter"] = {**report["postFilter"], "clearedNominations": cleared}
        return found

    def _volumes(self, trace: AttemptTrace) -> Report:
        """Claims that this attempt bound, with their volumes."""
        volumes: Report = {}
        for decision in trace.decisions if trace.result == "bound" else ():
            if not isinstance(decision, VolumeDecision) or decision.action == "bound":
                continue
            namespace, _, name = decision.claim.partition("/")
            claim = self._cluster.get(PersistentVolumeClaim, namespace, name)
            assert claim is not None
            report: Report = {"pv": claim.spec.volume_name}
            if decision.action == "provision":
                report |= {"provisioned": True, "selectedNode": trace.selected}
            volumes[decision.claim] = report
        return volumes

    def _filtered(self, profile: Profile, pod: Pod, trace: AttemptTrace) -> dict[str, Status]:
        """Every node's status. A nominated node that passes ends the search, and so do an error and the first feasible
        node of a profile without scores: the others are asked here."""
        assert trace.filter is not None
        incomplete = trace.tried_alone or broken_off(trace)
        absent = None if incomplete else trace.absent_status
        statuses = {node: trace.filter.status(position) or absent for position, node in enumerate(trace.filter.nodes)}
        if incomplete:
            statuses |= self._asked_again(profile, pod, trace, statuses)
        elif self._scripted is not None:
            # The recorder leaves out that a nominated node is asked about even where PreFilter's lists exclude it.
            lists = [outcome.node_names for outcome in trace.pre_filter if outcome.node_names is not None]
            statuses |= {n: absent for n in statuses if absent is not None and any(n not in names for names in lists)}
        return {node: status for node, status in statuses.items() if status is not None}

    def _asked_again(
        self, profile: Profile, pod: Pod, trace: AttemptTrace, known: dict[str, Status | None]
    ) -> dict[str, Status]:
        snapshot = self.scheduler.core.snapshot
        state, info = CycleState(), PodInfo(pod)
        scratch = AttemptTrace(trace.pod, trace.uid, trace.profile, trace.attempt, trace.cycle, trace.at)
        answer = profile.filtering.run_pre_filter(state, info, scratch)
        run = profile.filtering.make_run(state, info)
        only = answer.result.node_names
        outside = Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(answer.limiting))}]")
        statuses = {}
        for node in snapshot.list():
            if known[node.name] is None:
                listed = only is None or node.name in only
                statuses[node.name] = run.with_nominated(snapshot.row(node.name), node) if listed else outside
        return statuses


def _admit(obj: O, cluster: Cluster) -> O | AdmissionError:
    """A pod without a priority class keeps its preemptionPolicy in the recorded cases; an API server refuses one."""
    if not isinstance(obj, Pod) or obj.spec.priority_class_name or obj.spec.preemption_policy is None:
        return admit(obj, cluster, validate=False)
    admitted = admit(replace(obj, spec=replace(obj.spec, preemption_policy=None)), cluster, validate=False)
    if isinstance(admitted, AdmissionError) or admitted.spec.priority_class_name:
        return admit(obj, cluster, validate=False)
    return replace(admitted, spec=replace(admitted.spec, preemption_policy=obj.spec.preemption_policy))


def ended_report(trace: AttemptTrace) -> Report:
    """Of a pod whose wait another attempt ended."""
    report: Report = {"pod": trace.pod, "node": trace.selected}
    if trace.result == "bound":
        return report | {"result": "bound"}
    signal = trace.wait_on_permit
    report |= {
        "result": "failed",
        "message": trace.message,
        "unschedulablePlugins": sorted(trace.unschedulable_plugins),
    }
    return report if signal is None else report | {"status": status_report(signal)}


def pre_enqueue_status(profile: Profile, pod: Pod) -> Status | None:
    """The gate that keeps the pod out of the queue; None when nothing does."""
    for plugin in profile.enabled.pre_enqueue:
        status = plugin.pre_enqueue(pod) or SUCCESS
        if not status.is_success:
            return status.with_plugin(plugin.name)
    return None


def _all_nodes(configuration: EffectiveConfiguration) -> EffectiveConfiguration:
    profiles = tuple(replace(profile, percentage_of_nodes_to_score=ALL_NODES) for profile in configuration.profiles)
    return replace(configuration, profiles=profiles, percentage_of_nodes_to_score=ALL_NODES)

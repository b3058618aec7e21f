"""``decide``: what the scheduler decides for a cluster and a list of pods, tried one after the other.

Ties go to the smallest name, every node is looked at, nothing takes time but waiting for devices in vain. After a
preemption the victims are gone at once and the pod is tried once more; a second nomination is recorded, not followed.
"""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final, TextIO

import msgspec
from msgspec.structs import replace

from framework.cli.cases import START, Case, CaseObjects, Unreadable, parse_case, prepare, read_lines
from framework.cli.errors import InputError
from framework.cli.report import Report, attempt_report, broken_off, device_claims_report, empty_report, status_report
from framework.cli.requeue import Requeue
from framework.configuration import EffectiveConfiguration, FeatureGates, load_value
from framework.configuration.feature_gates import DEFAULT_GATES
from framework.interface import VolumeDecision
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.status import SUCCESS, Status
from framework.objects import KubeObject, PersistentVolumeClaim, Pod
from framework.objects.admission import AdmissionError, admit
from framework.objects.defaults import with_defaults
from framework.objects.quantity import FORMAT_WRONG, NUMERIC_WRONG, SUFFIX_WRONG
from framework.objects.validation import validate_object
from framework.plugins.registry import Registry, built_in_registry
from framework.profiles import Profile, ProfileError
from framework.scheduler import Attempt, Cluster, Observer, Scheduler
from framework.scheduler.controllers import DECIDED_ONLY
from framework.trace.attempt import AttemptTrace

ALL_NODES: Final = 100
FAILED: Final = 2
NO_QUANTITY: Final = (FORMAT_WRONG, NUMERIC_WRONG, SUFFIX_WRONG)


class CaseCluster(Cluster):
    """``follow`` False: preemption may choose victims, but nobody is deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.set_controllers(DECIDED_ONLY)
        self.follow = True

    def delete_pod(self, pod: Pod) -> str | None:
        return super().delete_pod(pod) if self.follow else None


def decide(case: Case, registry: Registry, feature_gates: FeatureGates = DEFAULT_GATES) -> Report:
    """The result of one case. Raises InputError for objects that cannot be decoded."""
    loaded = load_value(case.config, registry, feature_gates)
    if loaded.effective is None:
        return {"name": case.name, "configError": loaded.config_error, "results": []}
    objects = prepare(case)
    try:
        decision = Decision(objects, loaded.effective, registry)
    except ProfileError as error:
        return {"name": case.name, "configError": str(error), "results": []}
    report: Report = {"name": case.name}
    if loaded.warnings:
        report["warnings"] = [warning.text for warning in loaded.warnings]
    report["results"] = [attempt for pod in objects.pods for attempt in decision.attempts(pod)]
    if case.events is not None:
        first_index = len(case.objects) + len(case.pods)
        tried = {pod.key for pod in objects.pods}
        report["events"] = Requeue(decision.scheduler, case.name, first_index, tried).run(case.events)
    return report


class Decision:
    """One case's scheduler."""

    def __init__(self, objects: CaseObjects, configuration: EffectiveConfiguration, registry: Registry) -> None:
        self._cluster = CaseCluster()
        # Pods last: they may name priority and runtime classes that are listed after them.
        for obj in sorted(objects.cluster, key=lambda each: isinstance(each, Pod)):
            admitted = self._admitted(obj)
            if self._cluster.find(admitted) is None:
                self._cluster.create_admitted(admitted)
        self.scheduler = Scheduler(
            _all_nodes(configuration),
            registry,
            start=START,
            seed=0,
            ties="smallest",
            observer=Observer(),
            cluster=self._cluster,
        )

    def _admitted(self, obj: KubeObject) -> KubeObject:
        """Objects of the cluster are not validated; one that admission refuses is there all the same."""
        admitted = admit(obj, self._cluster, validate=False)
        return with_defaults(obj) if isinstance(admitted, AdmissionError) else admitted

    def attempts(self, pod: Pod | Unreadable) -> Iterator[Report]:
        if isinstance(pod, Unreadable):
            yield empty_report(pod.key, None, 0, {}) | {"admissionError": pod.message}
            return
        admitted = admit(pod, self._cluster, validate=False)
        if not isinstance(admitted, AdmissionError) and self._cluster.find(admitted) is not None:
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
        pod = self._cluster.create_admitted(admitted)
        weights = self._weights(name)
        gate = pre_enqueue_status(profile, pod)
        if gate is not None:
            report = empty_report(pod.key, name, priority, weights)
            yield report | {"preEnqueue": status_report(gate), "unschedulablePlugins": [gate.plugin]}
            return
        trace, filtered = self._try(profile, pod)
        yield self._report(pod, trace, weights, filtered)
        if any(outcome.nominated_node and outcome.status.is_success for outcome in trace.post_filter):
            self._cluster.follow = False
            pod = self._cluster.get(Pod, pod.metadata.namespace, pod.metadata.name) or pod
            self.scheduler.activate([pod])
            trace, filtered = self._try(profile, pod)
            yield self._report(pod, trace, weights, filtered)
            self._cluster.follow = True

    def _try(self, profile: Profile, pod: Pod) -> tuple[AttemptTrace, dict[str, Status]]:
        """One cycle of this pod, with every node's status.

        The clock stands still, so all pods that were tried before back off. Pods without a node among the cluster's
        objects are there, and count where they are nominated, but nobody tries them.
        """
        queue = self.scheduler.core.queue
        for queued in list(queue.active()):
            if queued.pod.metadata.uid != pod.metadata.uid:
                queue.put_back(queued)
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
        return report

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
        incomplete = bool(trace.nominated_node_used) or broken_off(trace)
        absent = None if incomplete else trace.absent_status
        statuses = {node: trace.filter.status(position) or absent for position, node in enumerate(trace.filter.nodes)}
        if incomplete:
            statuses |= self._asked_again(profile, pod, trace, statuses)
        return {node: status for node, status in statuses.items() if status is not None}

    def _asked_again(
        self, profile: Profile, pod: Pod, trace: AttemptTrace, known: dict[str, Status | None]
    ) -> dict[str, Status]:
        snapshot = self.scheduler.core.snapshot
        state, info = CycleState(), PodInfo(pod)
        scratch = AttemptTrace(trace.pod, trace.uid, trace.profile, trace.attempt, trace.cycle, trace.at)
        answer = profile.run_pre_filter(state, info, scratch)
        run = profile.make_filter_run(state, info)
        only = answer.result.node_names
        outside = Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(answer.limiting))}]")
        statuses = {}
        for node in snapshot.list():
            if known[node.name] is None:
                listed = only is None or node.name in only
                statuses[node.name] = run.with_nominated(snapshot.row(node.name), node) if listed else outside
        return statuses


def pre_enqueue_status(profile: Profile, pod: Pod) -> Status | None:
    """The gate that keeps the pod out of the queue; None when nothing does."""
    for plugin in profile.pre_enqueue:
        status = plugin.pre_enqueue(pod) or SUCCESS
        if not status.is_success:
            return status.with_plugin(plugin.name)
    return None


def _all_nodes(configuration: EffectiveConfiguration) -> EffectiveConfiguration:
    profiles = tuple(replace(profile, percentage_of_nodes_to_score=ALL_NODES) for profile in configuration.profiles)
    return replace(configuration, profiles=profiles, percentage_of_nodes_to_score=ALL_NODES)


_registry: Registry | None = None
Result = tuple[bytes, str]
"""The line of output, and what went wrong: "" when nothing did."""


def decide_line(numbered: tuple[str, str], feature_gates: FeatureGates = DEFAULT_GATES) -> Result:
    """(where the line stands, the line) → its result. The registry is made once per process."""
    global _registry
    if _registry is None:
        _registry = built_in_registry()
    source, line = numbered
    case = parse_case(line, source)
    try:
        return msgspec.json.encode(decide(case, _registry, feature_gates)), ""
    except InputError as error:
        wrong = str(error)
    except Exception as error:  # noqa: BLE001 - the other cases are still to be decided
        wrong = f"{case.name}: {''.join(traceback.format_exception(error))}"
    return msgspec.json.encode({"name": case.name, "error": wrong, "results": []}), wrong


def decide_lines(lines: Iterable[tuple[str, str]], workers: int, feature_gates: FeatureGates) -> Iterator[Result]:
    """In the order of the lines, on that many processes."""
    decided = partial(decide_line, feature_gates=feature_gates)
    if workers <= 1:
        yield from map(decided, lines)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(decided, lines, chunksize=4)


def numbered_lines(path: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield f"{path}:{number}", line


def run(
    paths: list[str], workers: int, output: TextIO, notes: TextIO, feature_gates: FeatureGates = DEFAULT_GATES
) -> int:
    """0, or 2 when a case could not be decided; the others are."""
    decided = failed = 0
    for line, wrong in decide_lines((line for path in paths for line in numbered_lines(path)), workers, feature_gates):
        output.write(line.decode() + "\n")
        decided += 1
        if wrong:
            failed += 1
            notes.write(wrong.rstrip() + "\n")
    if not decided:
        raise InputError(", ".join(paths), "no cases")
    return FAILED if failed else 0

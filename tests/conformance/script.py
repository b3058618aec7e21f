"""Plays the cases of scripted plugins: ``python -m tests.conformance.script CASES``; results to stdout.

Their form: tests/conformance/SCRIPT.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from framework.configuration.catalogue import POD_POINTS, CatalogueEntry
from framework.configuration.effective import EffectiveConfiguration
from framework.configuration.expansion import expand
from framework.configuration.types import KubeSchedulerConfiguration, KubeSchedulerProfile, Plugins, PluginSet
from framework.configuration.types import Plugin as EnabledPlugin
from framework.objects import Container, Node, NodeCondition, NodeStatus, ObjectMeta, Pod, PodSpec, Taint, Toleration
from framework.objects.node import NodeSpec
from framework.plugins.defaultbinder import DefaultBinder
from framework.plugins.prioritysort import PrioritySort
from framework.plugins.registry import Registry
from framework.profiles import ProfileError
from framework.queue import QueueMove, QueuePlace
from framework.scheduler import Attempt, Cluster, ClusterEventRecord, NotFound, Observer, Scheduler
from tests.conformance.compressed import read_lines
from tests.conformance.script_results import attempt_outcome, queue_of, sorted_calls
from tests.conformance.scripted_plugins import scripted_class, uid_of

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
START = 1_767_225_600 * SECOND  # a whole second, as tests/conformance/SCRIPT.md#time says
IMPLIED = {"addPod": "preFilter", "unreserve": "reserve", "preBindPreFlight": "preBind", "normalize": "score"}


class BindingsSeen(Cluster):
    """Notes every binding that the API gets."""

    calls: list[list[str]]

    def bind(self, pod: Pod, node_name: str) -> str | None:
        self.calls.append(["Binding", "", pod.metadata.name, node_name])
        return super().bind(pod, node_name)


class Play(Observer):
    """One case: the stage of its plugins, the observer of its scheduler."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.case = case
        self.action_number = 0
        self.calls: list[list[str]] = []
        self.attempts: list[dict[str, Any]] = []
        self.events: list[list[str]] = []
        self._attempt_of: dict[str, int] = {}
        self._pre_enqueue_calls: dict[tuple[str, str], int] = {}
        self._announced: set[tuple[str, int, int]] = set()
        quiet = sum("preEnqueue" in plugin["points"] for plugin in case["plugins"]) > 1
        self.classes = [
            scripted_class(plugin, self, quiet) if plugin["points"] else CatalogueEntry(plugin["name"], frozenset())
            for plugin in case["plugins"]
        ]

    # --- what plugins ask and tell ----------------------------------------------------------------------------------

    def attempt_of(self, pod: str) -> int:
        return self._attempt_of.get(pod, 0)

    def pre_enqueue_calls(self, plugin: str, pod: str) -> int:
        count = self._pre_enqueue_calls.get((plugin, pod), 0) + 1
        self._pre_enqueue_calls[plugin, pod] = count
        return count

    def log(self, point: str, plugin: str, pod: str, *more: str) -> None:
        self.calls.append([point, plugin, pod, *more])

    def do(self, actions: Sequence[Mapping[str, Any]], *, in_scheduling_cycle: bool | None) -> None:
        scheduling = not self.scheduler.in_binding_cycle if in_scheduling_cycle is None else in_scheduling_cycle
        for action in actions:
            self.perform(action)
            if scheduling:
                self.scheduler.run_bindings()
                self.tick()

    # --- what the scheduler tells -----------------------------------------------------------------------------------

    def queue_moved(self, move: QueueMove) -> None:
        if move.to is QueuePlace.IN_FLIGHT:
            self._attempt_of[move.pod.pod.metadata.name] = move.pod.attempts

    def attempt(self, trace: Attempt) -> None:
        key = (trace.pod, trace.attempt, trace.cycle)
        self.attempts.append(attempt_outcome(trace, first=key not in self._announced))
        self._announced.add(key)

    def event(self, record: ClusterEventRecord) -> None:
        self.events.append([record.type, record.reason, record.pod.partition("/")[2], record.note])

    # --- the case ---------------------------------------------------------------------------------------------------

    def result(self) -> dict[str, Any]:
        name = self.case["name"]
        try:
            cluster = BindingsSeen()
            cluster.calls = self.calls
            registry = Registry([*self.classes, PrioritySort, DefaultBinder])
            self.scheduler = Scheduler(
                self._configuration(registry),
                registry,
                start=START,
                seed=0,
                ties="smallest",
                observer=self,
                cluster=cluster,
            )
        except ProfileError as error:
            return {"name": name, "configError": str(error), "steps": []}
        for node in self.case["nodes"]:
            self.tick()
            self.perform({"addNode": node})
        for pod in self.case["pods"]:
            self.tick()
            self.perform({"addPod": pod})
        steps = [self._step()]
        for action in self.case["actions"]:
            self.action_number += 1
            self.tick()
            result = self.perform(action)
            steps.append(self._step(action, result))
        return {"name": name, "steps": steps}

    def _configuration(self, registry: Registry) -> EffectiveConfiguration:
        config = self.case.get("config") or {}
        written = KubeSchedulerConfiguration(
            percentage_of_nodes_to_score=100,
            pod_initial_backoff_seconds=config.get("podInitialBackoffSeconds", 1),
            pod_max_backoff_seconds=config.get("podMaxBackoffSeconds", 10),
            profiles=(KubeSchedulerProfile(scheduler_name="default-scheduler", plugins=self._plugins()),),
        )
        self._refuse_constructors()
        expansion = expand(written, registry)
        if expansion.effective is None:
            raise ProfileError(expansion.errors[0].text)
        return expansion.effective

    def _refuse_constructors(self) -> None:
        """Upstream constructs the plugins before it looks at what they extend."""
        enabled = {plugin.name for each in msgspec.structs.astuple(self._plugins()) for plugin in each.enabled}
        for plugin in self.case["plugins"]:
            if plugin["name"] in enabled and "initError" in plugin:
                prefix = "initializing profiles: creating profile for scheduler name default-scheduler: "
                raise ProfileError(f'{prefix}initializing plugin "{plugin["name"]}": {plugin["initError"]}')

    def _plugins(self) -> Plugins:
        order, weights = self.case.get("order") or {}, self.case.get("weights") or {}
        sets = {}
        for each in POD_POINTS:
            field, point = each.field, each.value
            names = order.get(point)
            if names is None:
                names = [plugin["name"] for plugin in self.case["plugins"] if point in extended_points(plugin)]
                fallback = {"queueSort": PrioritySort.name, "bind": DefaultBinder.name}.get(point)
                if not names and fallback is not None:
                    names = [fallback]
            weight = weights if point == "score" else {}
            enabled = tuple(EnabledPlugin(name=n, weight=weight.get(n)) for n in names)
            sets[field] = PluginSet(enabled=enabled, disabled=(EnabledPlugin(name="*"),))
        return Plugins(**sets)

    def tick(self, nanoseconds: int = MILLISECOND) -> None:
        self.scheduler.advance(self.scheduler.now + nanoseconds)

    def _step(self, action: Mapping[str, Any] | None = None, result: Any = None) -> dict[str, Any]:
        step: dict[str, Any] = {} if action is None else {"action": action}
        step["at"] = round((self.scheduler.now - START) / SECOND, 3)
        if result is not None:
            step["result"] = result
        step["calls"] = sorted_calls(self.calls)
        for name, entries in (("attempts", self.attempts), ("events", self.events)):
            if entries:
                step[name] = list(entries)
        step["queue"] = queue_of(self.scheduler, START)
        for entries in (self.calls, self.attempts, self.events):
            entries.clear()
        return step

    # --- actions ----------------------------------------------------------------------------------------------------

    def perform(self, action: Mapping[str, Any]) -> Any:
        (kind, what), *_ = action.items()
        match kind:
            case "scheduleOne":
                return self._schedule(what)
            case "advanceSeconds":
                self.tick(round(what * SECOND))
            case "allow" | "reject" | "preempt":
                return self._decide(what["pod"], [{"kind": kind, **what}], single=True)
            case "decide":
                return self._decide(what["pod"], what["decisions"], single=False)
            case "rejectWaitingPod":
                return self.scheduler.reject_waiting_pod(uid_of(what))
            case "addNode":
                return self._create(node_named(what))
            case "deleteNode":
                return self._delete(node_named(what))
            case "updateNode":
                return self._update_node(what["name"], what["change"])
            case "addPod":
                return self._create(pod_named(what["name"], what.get("priority", 0)))
            case "deletePod":
                return self._delete(pod_named(what, 0))
            case "updatePod":
                return self._update_pod(what["name"], what["change"])
            case "activate":
                pod = self.scheduler.cluster.get(Pod, "default", what)
                if pod is None:
                    return "not found"
                self.scheduler.activate([pod])
            case _:
                raise ValueError(f"unknown action {kind}")
        return None

    def _schedule(self, times: int) -> int:
        done = 0
        for i in range(times):
            if i:
                self.tick()
            if self.scheduler.step() is None:
                break
            done += 1
        return done

    def _decide(self, pod: str, decisions: Sequence[Mapping[str, Any]], *, single: bool) -> Any:
        entry = self.scheduler.core.waiting_pods.get(uid_of(pod))
        if entry is None:
            return "not waiting"
        results: list[bool | None] = []
        for decision in decisions:
            plugin, message = decision.get("plugin", ""), decision.get("message", "")
            match decision["kind"]:
                case "allow":
                    entry.allow(plugin)
                    results.append(None)
                case "reject":
                    results.append(entry.reject(plugin, message))
                case _:
                    results.append(entry.preempt(plugin, message))
        self.scheduler.run_bindings()
        return results[0] if single else results

    def _create(self, obj: Node | Pod) -> str | None:
        if self.scheduler.cluster.find(obj) is not None:
            return "already exists"
        if isinstance(obj, Pod):
            self._attempt_of[obj.metadata.name] = 0
        self.scheduler.cluster.create_admitted(obj)
        return None

    def _delete(self, obj: Node | Pod) -> str | None:
        try:
            self.scheduler.cluster.delete(obj)
        except NotFound:
            return "not found"
        return None

    def _update_node(self, name: str, changes: Sequence[str]) -> str | None:
        node = self.scheduler.cluster.get(Node, "", name)
        if node is None:
            return "not found"
        number = str(self.action_number)
        for change in changes:
            metadata, spec, status = node.metadata, node.spec, node.status
            match change:
                case "label":
                    metadata = replace(metadata, labels={**metadata.labels, "changed": number})
                case "annotation":
                    metadata = replace(metadata, annotations={**metadata.annotations, "changed": number})
                case "taint":
                    taint = Taint(key="changed", value=number, effect="PreferNoSchedule")
                    spec = replace(spec, taints=(taint,))
                case "allocatable":
                    status = replace(status, allocatable={**(status.allocatable or {}), "example.com/changed": number})
                case "condition":
                    ready = any(c.status == "True" for c in status.conditions)
                    conditions = (NodeCondition(type="Ready", status="False" if ready else "True"),)
                    status = replace(status, conditions=conditions)
                case _:
                    raise ValueError(f"unknown change {change}")
            node = replace(node, metadata=metadata, spec=spec, status=status)
        self.scheduler.cluster.replace(node)
        return None

    def _update_pod(self, name: str, changes: Sequence[str]) -> str | None:
        pod = self.scheduler.cluster.get(Pod, "default", name)
        if pod is None:
            return "not found"
        number = str(self.action_number)
        for change in changes:
            metadata, spec = pod.metadata, pod.spec
            match change:
                case "label":
                    metadata = replace(metadata, labels={**metadata.labels, "changed": number})
                case "annotation":
                    metadata = replace(metadata, annotations={**metadata.annotations, "changed": number})
                case "toleration":
                    added = Toleration(key=f"t{len(spec.tolerations)}", operator="Exists")
                    spec = replace(spec, tolerations=(*spec.tolerations, added))
                case _:
                    raise ValueError(f"unknown change {change}")
            pod = replace(pod, metadata=metadata, spec=spec)
        self.scheduler.cluster.replace(pod)
        return None


def extended_points(plugin: Mapping[str, Any]) -> set[str]:
    """Including points that another behaviour brings along."""
    return {IMPLIED.get(point, point) for point in plugin["points"]}


def node_named(name: str) -> Node:
    amounts: dict[str, str | int | float] = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return Node(
        metadata=ObjectMeta(name=name, uid=f"uid-{name}", labels={"kubernetes.io/hostname": name}),
        spec=NodeSpec(),
        status=NodeStatus(capacity=amounts, allocatable=amounts),
    )


def pod_named(name: str, priority: int) -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default", uid=uid_of(name)),
        spec=PodSpec(scheduler_name="default-scheduler", priority=priority, containers=(Container(name="c"),)),
    )


def play(case: Mapping[str, Any]) -> dict[str, Any]:
    return Play(case).result()


def results(path: Path) -> Iterator[dict[str, Any]]:
    for line in read_lines(path):
        yield play(msgspec.json.decode(line))


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m tests.conformance.script CASES", file=sys.stderr)
        return 2
    for result in results(Path(arguments[0])):
        print(msgspec.json.encode(result).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Plugins that only say what a case scripts, and do what it lists, as in tests/conformance/SCRIPT.md#behaviour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    ActionType,
    BindPlugin,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    CycleState,
    EnqueueExtensions,
    FilterPlugin,
    NodeInfo,
    NormalizeScore,
    PermitPlugin,
    Plugin,
    PodInfo,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueuedPod,
    QueueingHint,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
    Status,
    View,
)
from framework.interface.plugin import NodeStatuses
from framework.objects import KubeObject, Pod

Behaviour = Any
ACTIONS = {
    "Add": ActionType.ADD,
    "Delete": ActionType.DELETE,
    "Update": ActionType.UPDATE,
    "All": ActionType.ALL,
    "UpdateNodeAllocatable": ActionType.UPDATE_NODE_ALLOCATABLE,
    "UpdateNodeLabel": ActionType.UPDATE_NODE_LABEL,
    "UpdateNodeTaint": ActionType.UPDATE_NODE_TAINT,
    "UpdateNodeCondition": ActionType.UPDATE_NODE_CONDITION,
    "UpdateNodeAnnotation": ActionType.UPDATE_NODE_ANNOTATION,
    "UpdateNodeDeclaredFeature": ActionType.UPDATE_NODE_DECLARED_FEATURE,
    "UpdatePodLabel": ActionType.UPDATE_POD_LABEL,
    "UpdatePodScaleDown": ActionType.UPDATE_POD_SCALE_DOWN,
    "UpdatePodToleration": ActionType.UPDATE_POD_TOLERATION,
    "UpdatePodSchedulingGatesEliminated": ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
    "UpdatePodGeneratedResourceClaim": ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
}


class Stage(Protocol):
    """The running case, as its plugins see it."""

    action_number: int

    def attempt_of(self, pod: str) -> int: ...

    def pre_enqueue_calls(self, plugin: str, pod: str) -> int:
        """How often this was called before, counting this call in."""
        ...

    def log(self, point: str, plugin: str, pod: str, *more: str) -> None: ...

    def do(self, actions: Sequence[Mapping[str, Any]], *, in_scheduling_cycle: bool | None) -> None: ...


def parse_action(text: str) -> ActionType:
    action = ActionType.NONE
    for name in text.split("|"):
        action |= ACTIONS[name]
    return action


class Script:
    """One plugin of a case: its behaviours, resolved against the stage."""

    def __init__(self, plugin: Mapping[str, Any], stage: Stage, quiet_pre_enqueue: bool) -> None:
        self.name: str = plugin["name"]
        self.points: Mapping[str, Behaviour] = plugin["points"]
        self.plugin = plugin
        self.stage = stage
        self.quiet_pre_enqueue = quiet_pre_enqueue

    def resolve(self, behaviour: Behaviour, pod: str, index: int) -> Behaviour:
        """Down to a code, a number or an object that is neither list, byPod nor until."""
        while True:
            if isinstance(behaviour, list):
                behaviour = behaviour[min(index, len(behaviour) - 1)] if behaviour else "Success"
            elif isinstance(behaviour, dict) and "byPod" in behaviour:
                behaviour = behaviour["byPod"].get(pod, behaviour.get("else", "Success"))
            elif isinstance(behaviour, dict) and "until" in behaviour:
                first = self.stage.action_number < behaviour["until"]
                behaviour = behaviour["first" if first else "then"]
            else:
                return "Success" if behaviour is None else behaviour

    def at(self, point: str, pod: str) -> Behaviour:
        return self.resolve(self.points.get(point), pod, self._index(pod))

    def _index(self, pod: str) -> int:
        return max(self.stage.attempt_of(pod) - 1, 0)

    def on_node(self, behaviour: Behaviour, pod: str, node: str, otherwise: Behaviour) -> Behaviour:
        if isinstance(behaviour, dict) and ("default" in behaviour or "byNode" in behaviour):
            chosen = behaviour.get("byNode", {}).get(node, behaviour.get("default", otherwise))
            return self.resolve(chosen, pod, self._index(pod))
        return behaviour

    def status(self, behaviour: Behaviour) -> Status:
        if isinstance(behaviour, str):
            return Status(Code.parse(behaviour))
        return Status(Code.parse(behaviour.get("code", "Success")), tuple(behaviour.get("reasons", ())))

    def run(self, point: str, shown: str, state: CycleState, pod: str, *more: str, binding: bool | None) -> Behaviour:
        """Logs the call, performs its ``do`` and ``activate``; gives the behaviour."""
        self.stage.log(shown, self.name, pod, *more)
        behaviour = self.at(point, pod)
        if isinstance(behaviour, dict):
            for name in behaviour.get("activate", ()):
                state.pods_to_activate[f"default/{name}"] = uid_of(name)
            if behaviour.get("do"):
                self.stage.do(behaviour["do"], in_scheduling_cycle=None if binding is None else not binding)
        return behaviour


def uid_of(pod: str) -> str:
    return f"uid-{pod}"


class Scripted(Plugin):
    script: ClassVar[Script]

    def __init__(self, args: Any, handle: Any) -> None:
        super().__init__(args, handle)
        if "initError" in self.script.plugin:
            raise ValueError(self.script.plugin["initError"])


class _PreEnqueue(Scripted, PreEnqueuePlugin):
    def pre_enqueue(self, pod: Pod) -> Status | None:
        script, name = self.script, pod.metadata.name
        earlier = script.stage.pre_enqueue_calls(script.name, name) - 1
        status = script.status(script.resolve(script.points["preEnqueue"], name, earlier))
        if not (script.quiet_pre_enqueue and status.is_success):
            script.stage.log("PreEnqueue", script.name, name)
        return status


class _Enqueue(Scripted, EnqueueExtensions):
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        if "eventsError" in self.script.plugin:
            raise RuntimeError(self.script.plugin["eventsError"])
        return [self._registration(entry) for entry in self.script.plugin.get("events") or ()]

    def _registration(self, entry: Mapping[str, Any]) -> ClusterEventWithHint:
        event = ClusterEvent(entry["resource"], parse_action(entry["action"]))
        return ClusterEventWithHint(event, self._hint(entry["hint"]) if "hint" in entry else None)

    def _hint(self, behaviour: Behaviour) -> Callable[[Pod, KubeObject | None, KubeObject | None], QueueingHint]:
        def hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
            name = pod.metadata.name
            said = self.script.resolve(behaviour, name, max(self.script.stage.attempt_of(name) - 1, 0))
            if said == "error":
                raise RuntimeError("scripted hint error")
            if isinstance(said, dict):
                about = new if new is not None else old
                named = about is not None and about.metadata.name in said["onlyObjects"]
                return QueueingHint.QUEUE if named else QueueingHint.SKIP
            return QueueingHint(said)

        return hint


class _QueueSort(Scripted, QueueSortPlugin):
    def less(self, a: QueuedPod, b: QueuedPod) -> bool:
        first, second = a.pod.metadata.name, b.pod.metadata.name
        mine, theirs = a.pod.spec.priority or 0, b.pod.spec.priority or 0
        match self.script.points["queueSort"]:
            case "fifo":
                return a.timestamp < b.timestamp
            case "lifo":
                return a.timestamp > b.timestamp
            case "name":
                return first < second
            case "nameReverse":
                return first > second
            case "lowestPriority":
                return mine < theirs or (mine == theirs and a.timestamp < b.timestamp)
            case "priority":
                return mine > theirs or (mine == theirs and a.timestamp < b.timestamp)
            case other:
                raise ValueError(f"unknown queueSort behaviour {other!r}")


class _AddPod(PreFilterExtensions):
    def __init__(self, script: Script) -> None:
        self._script = script

    def add_pod(self, state: CycleState, pod: Pod, added: PodInfo, node: NodeInfo) -> Status | None:
        name = pod.metadata.name
        self._script.stage.log("AddPod", self._script.name, name, node.name, added.pod.metadata.name)
        behaviour = self._script.on_node(self._script.at("addPod", name), name, node.name, "Success")
        return self._script.status(behaviour)

    def remove_pod(self, state: CycleState, pod: Pod, removed: PodInfo, node: NodeInfo) -> Status | None:
        return None


class _PreFilter(Scripted, PreFilterPlugin):
    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        name = pod.pod.metadata.name
        behaviour = self.script.run("preFilter", "PreFilter", state, name, binding=False)
        result = None
        if isinstance(behaviour, dict) and behaviour.get("nodeNames") is not None:
            result = PreFilterResult(frozenset(behaviour["nodeNames"]))
        return result, self.script.status(behaviour)

    def pre_filter_extensions(self) -> PreFilterExtensions | None:
        return _AddPod(self.script) if "addPod" in self.script.points else None


class _Filter(Scripted, FilterPlugin):
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        name = pod.metadata.name
        self.script.stage.log("Filter", self.script.name, name, node.name)
        return self.script.status(self.script.on_node(self.script.at("filter", name), name, node.name, "Success"))


class _PostFilter(Scripted, PostFilterPlugin):
    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        behaviour = self.script.run("postFilter", "PostFilter", state, pod.pod.metadata.name, binding=False)
        result = None
        if isinstance(behaviour, dict) and behaviour.get("nominatedNode") is not None:
            result = PostFilterResult(nominated_node=behaviour["nominatedNode"])
        return result, self.script.status(behaviour)


class _PreScore(Scripted, PreScorePlugin):
    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        names = sorted(self.handle.snapshot.name_of_row(row) for row in feasible.tolist())
        shown = ",".join(names)
        return self.script.status(
            self.script.run("preScore", "PreScore", state, pod.pod.metadata.name, shown, binding=False)
        )


class _Score(Scripted, ScorePlugin):
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[int, Status | None]:
        name = pod.metadata.name
        self.script.stage.log("Score", self.script.name, name, node.name)
        said = self.script.on_node(self.script.at("score", name), name, node.name, 0)
        return (said, None) if isinstance(said, int) else (0, self.script.status(said))


class _Normalize(Scripted, NormalizeScore):
    def normalize_score(
        self, state: CycleState, pod: Pod, scores: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], Status | None]:
        name = pod.metadata.name
        self.script.stage.log("NormalizeScore", self.script.name, name)
        said = self.script.at("normalize", name)
        highest = int(scores.max()) if len(scores) else 0
        if said in ("max100", "reverse"):
            values = [_go_quotient(int(score) * 100, highest) if highest else int(score) for score in scores]
            if said == "reverse":
                values = [100 - value for value in values] if highest else [100] * len(values)
            return np.array(values, dtype=np.int64), None
        if isinstance(said, dict) and "value" in said:
            return np.full_like(scores, said["value"]), None
        return scores, self.script.status(said)


def _go_quotient(dividend: int, divisor: int) -> int:
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


class _Reserve(Scripted, ReservePlugin):
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self.script.status(
            self.script.run("reserve", "Reserve", state, pod.metadata.name, node_name, binding=False)
        )

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.script.run("unreserve", "Unreserve", state, pod.metadata.name, node_name, binding=None)


class _Permit(Scripted, PermitPlugin):
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, float]:
        said = self.script.run("permit", "Permit", state, pod.metadata.name, node_name, binding=False)
        return self.script.status(said), said.get("timeoutSeconds", 0) if isinstance(said, dict) else 0


class _PreBind(Scripted, PreBindPlugin):
    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, bool]:
        said = self.script.run(
            "preBindPreFlight", "PreBindPreFlight", state, pod.metadata.name, node_name, binding=True
        )
        return self.script.status(said), isinstance(said, dict) and bool(said.get("allowParallel"))

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        return self.script.status(
            self.script.run("preBind", "PreBind", state, pod.metadata.name, node_name, binding=True)
        )


class _Bind(Scripted, BindPlugin):
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        status = self.script.status(self.script.run("bind", "Bind", state, pod.metadata.name, node_name, binding=True))
        if not status.is_success:
            return status
        error = self.handle.api.bind(pod, node_name)
        return None if error is None else Status.as_error(error)


class _PostBind(Scripted, PostBindPlugin):
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self.script.run("postBind", "PostBind", state, pod.metadata.name, node_name, binding=True)


_BASES: dict[str, type[Scripted]] = {
    "preEnqueue": _PreEnqueue,
    "queueSort": _QueueSort,
    "preFilter": _PreFilter,
    "addPod": _PreFilter,
    "filter": _Filter,
    "postFilter": _PostFilter,
    "preScore": _PreScore,
    "score": _Score,
    "reserve": _Reserve,
    "unreserve": _Reserve,
    "permit": _Permit,
    "preBindPreFlight": _PreBind,
    "preBind": _PreBind,
    "bind": _Bind,
    "postBind": _PostBind,
}


def scripted_class(plugin: Mapping[str, Any], stage: Stage, quiet_pre_enqueue: bool) -> type[Plugin]:
    """A class that extends exactly the points the case names."""
    bases: dict[type[Scripted], None] = {}
    for point in plugin["points"]:
        if point in _BASES:
            bases[_BASES[point]] = None
    if plugin["points"].get("normalize", "none") != "none":
        bases[_Normalize] = None
    if "events" in plugin or "eventsError" in plugin:
        bases[_Enqueue] = None
    script = Script(plugin, stage, quiet_pre_enqueue)
    return type(f"Scripted{plugin['name']}", tuple(bases), {"name": plugin["name"], "script": script})

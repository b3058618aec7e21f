"""Random cases of scripted plugins, and a player that checks after every action that no pod got lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from framework.columns import Snapshot
from framework.objects import Pod
from framework.scheduler import Attempt
from tests.conformance.script import Play

CODES = ["Success"] * 6 + ["Unschedulable", "UnschedulableAndUnresolvable", "Error", "Pending"]
NODES = ["n1", "n2", "n3"]
PODS = ["p1", "p2", "p3", "p4"]
PLUGINS = ["A", "B", "C"]

_codes = st.sampled_from(CODES)
_statuses = st.builds(
    lambda code, reasons: {"code": code, "reasons": reasons}, _codes, st.lists(st.just("no"), max_size=1)
)
_per_attempt = st.one_of(_statuses, st.lists(_statuses, min_size=1, max_size=3))
_filters = st.one_of(
    _per_attempt,
    st.builds(lambda d, n: {"default": d, "byNode": n}, _statuses, st.dictionaries(st.sampled_from(NODES), _statuses)),
)
_waits = st.builds(
    lambda code, seconds: {"code": code, "timeoutSeconds": seconds},
    st.sampled_from([*CODES, *["Wait"] * 6]),
    st.integers(0, 20),
)
_points: dict[str, st.SearchStrategy[Any]] = {
    "preEnqueue": st.one_of(st.just("Success"), _per_attempt),
    "preFilter": st.one_of(
        _per_attempt,
        st.builds(lambda n: {"code": "Success", "nodeNames": n}, st.lists(st.sampled_from(NODES), unique=True)),
    ),
    "filter": _filters,
    "postFilter": st.builds(
        lambda code, node: {"code": code, "nominatedNode": node}, _codes, st.sampled_from([*NODES, "", "gone"])
    ),
    "preScore": _per_attempt,
    "score": st.one_of(st.integers(0, 100), st.integers(-3, 120), _statuses),
    "reserve": _per_attempt,
    "permit": st.one_of(_waits, st.lists(_waits, min_size=1, max_size=2)),
    "preBindPreFlight": st.one_of(_per_attempt, st.just("Skip")),
    "preBind": _per_attempt,
    "bind": st.one_of(_per_attempt, _per_attempt, _per_attempt, st.just("Skip")),
    "postBind": st.just("Success"),
}
_registrations = st.lists(
    st.builds(
        lambda pair, hint: {"resource": pair[0], "action": pair[1], "hint": hint},
        st.sampled_from(
            [("Node", "Add"), ("Node", "UpdateNodeLabel"), ("Pod", "Delete"), ("Pod", "All"), ("Pod", "Update")]
        ),
        st.sampled_from(["Queue", "Queue", "QueueSkip", "error"]),
    ),
    max_size=2,
)


@st.composite
def plugins(draw: st.DrawFn, name: str) -> dict[str, Any]:
    chosen = draw(st.lists(st.sampled_from(sorted(_points)), min_size=1, max_size=3, unique=True))
    plugin: dict[str, Any] = {"name": name, "points": {point: draw(_points[point]) for point in chosen}}
    if draw(st.booleans()):
        plugin["points"].setdefault("reserve", "Success")
    if draw(st.integers(0, 2)) == 0:
        plugin["points"].setdefault("permit", {"code": "Wait", "timeoutSeconds": 9})
    if draw(st.booleans()):
        plugin["events"] = draw(_registrations)
    return plugin


_pods = st.sampled_from(PODS)
_by = st.sampled_from(PLUGINS)
_actions = st.one_of(
    st.builds(lambda n: {"scheduleOne": n}, st.integers(1, 4)),
    st.builds(lambda n: {"scheduleOne": n}, st.integers(1, 4)),
    st.builds(lambda x: {"advanceSeconds": x}, st.sampled_from([0.5, 1, 2, 11, 31, 331])),
    st.builds(lambda p, by: {"allow": {"pod": p, "plugin": by}}, _pods, _by),
    st.builds(lambda p, by: {"reject": {"pod": p, "plugin": by, "message": "make room"}}, _pods, _by),
    st.builds(lambda p, by: {"preempt": {"pod": p, "plugin": by, "message": "make room"}}, _pods, _by),
    st.builds(lambda p: {"rejectWaitingPod": p}, _pods),
    st.builds(lambda n: {"addNode": n}, st.sampled_from(NODES)),
    st.builds(lambda n: {"deleteNode": n}, st.sampled_from(NODES)),
    st.builds(lambda n: {"updateNode": {"name": n, "change": ["label", "taint"]}}, st.sampled_from(NODES)),
    st.builds(lambda p: {"addPod": {"name": p, "priority": 3}}, _pods),
    st.builds(lambda p: {"deletePod": p}, _pods),
    st.builds(lambda p: {"deletePod": p}, _pods),
    st.builds(lambda p: {"updatePod": {"name": p, "change": ["label"]}}, _pods),
    st.builds(lambda p: {"activate": p}, _pods),
)


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    names = PLUGINS[: draw(st.integers(1, 3))]
    return {
        "name": "random",
        "nodes": draw(st.lists(st.sampled_from(NODES), min_size=1, unique=True)),
        "plugins": [draw(plugins(name)) for name in names],
        "pods": [
            {"name": p, "priority": draw(st.integers(0, 2))} for p in draw(st.lists(_pods, min_size=2, unique=True))
        ],
        "actions": [{"scheduleOne": 4}, *draw(st.lists(_actions, min_size=3, max_size=14))],
        "config": {"podMaxBackoffSeconds": draw(st.sampled_from([0, 4, 10]))},
    }


class CheckedPlay(Play):
    """Asserts what must hold after every action, whatever the plugins say."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        super().__init__(case)
        self.traces: list[Attempt] = []

    def attempt(self, trace: Attempt) -> None:
        if trace.result != "waiting":
            self.traces.append(trace)
        super().attempt(trace)

    def _step(self, action: Mapping[str, Any] | None = None, result: Any = None) -> dict[str, Any]:
        step = super()._step(action, result)
        self.check_places()
        self.check_cache()
        self.check_traces()
        return step

    def places(self) -> Counter[str]:
        state = self.scheduler.queue_state()
        queued = [pod.uid for pods in (state.active, state.backoff, state.unschedulable, state.gated) for pod in pods]
        bound = [pod.metadata.uid for pod in self.scheduler.cluster.list(Pod) if pod.spec.node_name]
        return Counter([*queued, *state.in_flight, *bound])

    def check_places(self) -> None:
        """Every pod is in exactly one place, and no place holds a pod that is not there."""
        assert self.places() == Counter(pod.metadata.uid for pod in self.scheduler.cluster.list(Pod))

    def check_cache(self) -> None:
        """The cache holds bound pods and those that wait on Permit; a snapshot of it is what counting gives."""
        cache = self.scheduler.core.cache
        bound = {pod.metadata.uid: pod for pod in self.scheduler.cluster.list(Pod) if pod.spec.node_name}
        in_flight = set(self.scheduler.queue_state().in_flight)
        for uid, pod in bound.items():
            info = cache.get_pod(uid)
            assert info is not None
            assert info.pod == pod
            assert not cache.is_assumed(info.pod)
        assert cache.pod_count == len(bound) + cache.assumed_count
        assert cache.assumed_count == len(in_flight)
        cache.update_snapshot(self.scheduler.core.snapshot)
        fresh = Snapshot()
        for name in cache.node_names():
            node = cache.node(name)
            assert node is not None
            fresh.set_node(node)
            for info, _ in cache.pods_on(name):
                fresh.add_pod(name, info)
        fresh.set_order(cache.node_names())
        fresh.finish_refresh()
        mine = {
            node.name: (sorted(p.uid for p in node.pods), node.requested)
            for node in self.scheduler.core.snapshot.list()
        }
        assert mine == {node.name: (sorted(p.uid for p in node.pods), node.requested) for node in fresh.list()}

    def check_traces(self) -> None:
        """Unreserve mirrors Reserve: all plugins in reverse order after a failure, none after success."""
        reserving = tuple(p.name for p in self.scheduler.profiles["default-scheduler"].enabled.reserve)
        for trace in self.traces:
            failed_later = trace.result == "failed" and trace.selected != ""
            assert trace.unreserve == (reserving[::-1] if failed_later else ())
            if trace.selected and trace.filter is not None:
                status = trace.filter.status(trace.filter.nodes.index(trace.selected))
                assert status is not None
                assert status.is_success
        self.traces.clear()

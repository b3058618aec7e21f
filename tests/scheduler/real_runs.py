"""Random runs of the real plugins: operations from outside in any order, and what must hold after each of them."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any, Literal

from hypothesis import strategies as st
from msgspec.structs import replace

from framework.configuration import load
from framework.objects import Node, Pod
from framework.objects.resources import node_allocatable, placed_requests
from framework.plugins.registry import built_in_registry
from framework.queue import QueueMove, QueuePlace
from framework.scheduler import Attempt, Observer, PointReached, Scheduler
from framework.trace.digest import START, digest
from tests.builders import make_node, make_pod

SECOND = 1_000_000_000
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins: {multiPoint: {enabled: [{name: ManualApproval}]}}
    pluginConfig:
      - name: ManualApproval
        args: {podSelector: {matchLabels: {approval: needed}}, timeoutSeconds: 20}
"""
Operation = tuple[str, Any]
_index = st.integers(0, 30)
_pods = st.fixed_dictionaries(
    {
        "app": st.sampled_from(["web", "db"]),
        "cpu": st.sampled_from([100, 700, 1500]),
        "priority": st.sampled_from([0, 0, 50]),
        "extra": st.sampled_from(["", "", "approval", "spread", "apart", "gate", "port", "tolerates"]),
    }
)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("pod"), _pods),
        st.tuples(st.just("pod"), _pods),
        st.tuples(st.just("node"), st.sampled_from(["a", "b", "tainted"])),
        st.tuples(st.just("delete pod"), _index),
        st.tuples(st.just("delete node"), _index),
        st.tuples(st.just("cordon"), _index),
        st.tuples(st.just("ungate"), _index),
        st.tuples(st.just("approve"), _index),
        st.tuples(st.just("reject"), _index),
        st.tuples(st.just("activate"), _index),
        st.tuples(st.just("steps"), st.integers(1, 4)),
        st.tuples(st.just("steps"), st.integers(1, 4)),
        st.tuples(st.just("seconds"), st.sampled_from([0, 1, 3, 25, 320])),
    ),
    min_size=4,
    max_size=30,
)
Mode = Literal["steps", "points", "pickled"]


class Traces(Observer):
    def __init__(self) -> None:
        self.digest = START
        self.moves: list[tuple[str, QueuePlace, QueuePlace]] = []
        self.place: dict[int, QueuePlace] = {}

    def attempt(self, trace: Attempt) -> None:
        self.digest = digest(trace, self.digest)

    def queue_moved(self, move: QueueMove) -> None:
        self.moves.append((move.pod.key, move.origin, move.to))


class RealRun:
    def __init__(self, mode: Mode) -> None:
        loaded = load(CONFIG, built_in_registry())
        assert loaded.effective is not None
        self.mode = mode
        self.made = 0
        self.scheduler = Scheduler(
            loaded.effective, built_in_registry(), start=SECOND // 3, seed=11, ties="seeded", observer=Traces()
        )
        for zone in ("a", "b"):
            self.do(("node", zone))

    @property
    def traces(self) -> Traces:
        observer = self.scheduler.observer
        assert isinstance(observer, Traces)
        return observer

    def play(self, listed: list[Operation]) -> str:
        for operation in listed:
            self.do(operation)
            self.check()
            if self.mode == "pickled":
                self.scheduler = pickle.loads(pickle.dumps(self.scheduler))
        return self.traces.digest

    def do(self, operation: Operation) -> None:
        kind, what = operation
        cluster, scheduler = self.scheduler.cluster, self.scheduler
        self.made += 1
        match kind:
            case "pod":
                cluster.create_admitted(self._pod(what))
            case "node":
                taints = [{"key": "spot", "effect": "NoSchedule"}] if what == "tainted" else []
                labels = {"topology.kubernetes.io/zone": what, "kubernetes.io/hostname": f"n{self.made}"}
                cluster.create(make_node(f"n{self.made}", labels=labels, taints=taints, cpu="2", pods="4"))
            case "delete pod":
                if pod := self._any(Pod, what):
                    cluster.delete(pod)
            case "delete node":
                if node := self._any(Node, what):
                    cluster.delete(node)
            case "cordon":
                if node := self._any(Node, what):
                    spec = replace(node.spec, unschedulable=not node.spec.unschedulable)
                    cluster.replace(replace(node, spec=spec))
            case "ungate":
                if (pod := self._any(Pod, what)) and pod.spec.scheduling_gates:
                    cluster.replace(replace(pod, spec=replace(pod.spec, scheduling_gates=())))
            case "approve" | "reject":
                if waiting := scheduler.waiting_pods():
                    entry = waiting[what % len(waiting)]
                    if kind == "approve":
                        scheduler.allow(entry.uid, "ManualApproval")
                    else:
                        scheduler.reject(entry.uid, "ManualApproval", "not today", by_person=True)
            case "activate":
                if pod := self._any(Pod, what):
                    scheduler.activate([pod], by_person=True)
            case "steps":
                for _ in range(what):
                    self._cycle()
                    scheduler.advance(scheduler.now + SECOND // 1000)
            case "seconds":
                scheduler.advance(scheduler.now + what * SECOND)

    def _cycle(self) -> None:
        if self.mode != "points":
            self.scheduler.step()
            return
        before = self.scheduler.points
        while isinstance(self.scheduler.step_point(), PointReached):
            assert self.scheduler.points == (before := before + 1)

    def _any(self, kind: Any, index: int) -> Any:
        objects = self.scheduler.cluster.list(kind)
        return objects[index % len(objects)] if objects else None

    def _pod(self, what: dict[str, Any]) -> Pod:
        labels, spec = {"app": what["app"]}, dict[str, Any]()
        own = {"labelSelector": {"matchLabels": {"app": what["app"]}}}
        match what["extra"]:
            case "approval":
                labels["approval"] = "needed"
            case "spread":
                zone = {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1}
                spec["topologySpreadConstraints"] = [{**zone, **own, "whenUnsatisfiable": "DoNotSchedule"}]
            case "apart":
                term = {"topologyKey": "kubernetes.io/hostname", **own}
                spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
            case "gate":
                spec["schedulingGates"] = [{"name": "quota"}]
            case "tolerates":
                spec["tolerations"] = [{"operator": "Exists"}]
        ports = [{"containerPort": 80, "hostPort": 80}] if what["extra"] == "port" else []
        return make_pod(
            f"p{self.made}",
            labels=labels,
            requests={"cpu": f"{what['cpu']}m"},
            ports=ports,
            priority=what["priority"],
            schedulerName="default-scheduler",
            **spec,
        )

    # --- what must hold ---------------------------------------------------------------------------------------------

    def check(self) -> None:
        self.check_places()
        self.check_room()
        self.check_timer()

    def check_places(self) -> None:
        """Every pod is in exactly one place."""
        state = self.scheduler.queue_state()
        queued = [pod.uid for pods in (state.active, state.backoff, state.unschedulable, state.gated) for pod in pods]
        pods = self.scheduler.cluster.list(Pod)
        bound = [pod.metadata.uid for pod in pods if pod.spec.node_name]
        assert Counter([*queued, *state.in_flight, *bound]) == Counter(pod.metadata.uid for pod in pods)
        assert {entry.uid for entry in state.waiting} == set(state.in_flight)

    def check_room(self) -> None:
        """No node has more on it than it can take, waiting pods counted in."""
        cache = self.scheduler.core.cache
        for name in cache.node_names():
            node = cache.node(name)
            assert node is not None
            room = dict(node_allocatable(node))
            placed = [info for info, _ in cache.pods_on(name)]
            assert len(placed) <= room["pods"]
            assert sum(placed_requests(info.pod).get("cpu", 0) for info in placed) <= room["cpu"]

    def check_timer(self) -> None:
        """The next timer lies ahead, and a flush of pods that can move moves some."""
        due = self.scheduler.next_timer()
        assert due is None or due > self.scheduler.now
        wakes = self.scheduler.next_timer(wakes_only=True)
        assert wakes is None or (due is not None and due <= wakes)

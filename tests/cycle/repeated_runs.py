"""Random runs in which pods fail again and again, with everything that can be seen of them written down."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.configuration import load
from framework.cycle.repetition import RepeatRule
from framework.interface import (
    Code,
    CycleState,
    FilterPlugin,
    Handle,
    NodeInfo,
    NodeStatuses,
    PermitPlugin,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    PreFilterPlugin,
    PreFilterResult,
    Status,
)
from framework.interface.columns import View
from framework.objects import KubeObject, Namespace, Node, ObjectMeta, Pod
from framework.plugins.registry import built_in_registry
from framework.queue import QueueMove
from framework.scheduler import Attempt, ClusterEventRecord, Observer, Scheduler, SchedulerOptions
from framework.trace.digest import OWN, SHARED, START, digest
from framework.trace.encoding import decode_attempts, encode_attempts
from tests.builders import make_node, make_pod

SECOND = 1_000_000_000


class Census(PreFilterPlugin, FilterPlugin, PostFilterPlugin):
    """Says at every point how many namespaces there are: a change between two points has to show."""

    name: ClassVar[str] = "Census"
    repeatable: ClassVar[bool] = True

    def count(self) -> int:
        return len(self.handle.objects.list(Namespace))

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        if pod.pod.metadata.labels.get("app") == "two" and self.count() % 3 == 2:
            return None, Status.unresolvable(f"{self.count()} namespaces are too many")
        if pod.pod.metadata.labels.get("app") == "one":
            return PreFilterResult(frozenset(sorted(node.name for node in self.handle.snapshot.list())[:2])), None
        return None, None

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        if pod.metadata.labels.get("app") == "two":
            return Status.unschedulable(f"{self.count()} namespaces and {len(node.pods)} pods")
        return None

    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        return None, Status.unschedulable(f"{self.count()} namespaces after all")


class Diary(PostFilterPlugin):
    """Keeps its promise only for pods without a label: for the others it looks at the clock, or throws a die."""

    name: ClassVar[str] = "Diary"
    repeatable: ClassVar[bool] = True

    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        match pod.pod.metadata.labels.get("diary"):
            case "clock":
                return None, Status.unschedulable(f"at {self.handle.now()}")
            case "die":
                return None, Status.unschedulable(f"threw {self.handle.random_below(6)}")
        return None, Status.unschedulable("nothing to note")


class Tally(PostFilterPlugin):
    """Promises nothing, and counts: every third attempt gets another answer."""

    name: ClassVar[str] = "Tally"

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        self.calls = 0

    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None]:
        self.calls += 1
        return None, Status.unschedulable(f"call {self.calls // 3}")


class Hold(PermitPlugin):
    """Makes pods with the label wait longer than the leftovers do; then their place is free again."""

    name: ClassVar[str] = "Hold"

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, float]:
        if pod.metadata.labels.get("diary") == "hold":
            return Status(Code.WAIT), 500.0
        return None, 0.0


CONFIGURATIONS = {
    "built-in": ["Hold"],
    "Census": ["Census", "Hold"],
    "Diary": ["Diary"],
    "Tally": ["Tally"],
}
Operation = tuple[str, Any]
_index = st.integers(0, 30)
_pods = st.fixed_dictionaries(
    {
        "app": st.sampled_from(["one", "two", "three"]),
        "diary": st.sampled_from(["", "", "clock", "die", "hold", "hold"]),
        "cpu": st.sampled_from(["100m", "1500m", "9", "9"]),
        "priority": st.sampled_from([0, 0, 50]),
        "extra": st.sampled_from(["", "", "", "apart", "picky", "nominated"]),
    }
)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("pod"), _pods),
        st.tuples(st.just("node"), _index),
        st.tuples(st.just("delete pod"), _index),
        st.tuples(st.just("delete node"), _index),
        st.tuples(st.just("cordon"), _index),
        st.tuples(st.just("label"), _index),
        st.tuples(st.just("namespace"), st.integers(0, 3)),
        st.tuples(st.just("namespace"), st.integers(0, 3)),
        st.tuples(st.just("activate"), _index),
        st.tuples(st.just("points"), st.integers(1, 7)),
        st.tuples(st.just("interrupted"), st.integers(1, 12)),
        st.tuples(st.just("interrupted"), st.integers(1, 12)),
        st.tuples(st.just("flush"), st.integers(0, 12)),
        st.tuples(st.just("flush"), st.integers(0, 12)),
        st.tuples(st.just("flush"), st.integers(0, 12)),
        st.tuples(st.just("seconds"), st.sampled_from([1, 3, 25])),
    ),
    min_size=3,
    max_size=30,
)
"""They follow ``BEGINNING``."""


def pod(**what: Any) -> Operation:
    return "pod", {"app": "three", "diary": "", "cpu": "9", "priority": 0, "extra": "", **what}


BEGINNING: list[Operation] = [pod(app="two"), pod(), pod(cpu="1500m"), ("flush", 9), ("flush", 9), ("flush", 9)]


class Record(Observer):
    """Everything that is told, as text, in its order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.digest = START
        self.ended: list[Attempt] = []

    def attempt(self, trace: Attempt) -> None:
        self.digest = digest(trace, self.digest)
        self.ended.append(trace)
        self.lines.append(picture(trace))

    def queue_moved(self, move: QueueMove) -> None:
        pod = move.pod
        about = (pod.key, pod.attempts, pod.timestamp, pod.unschedulable_count, sorted(pod.unschedulable_plugins))
        self.lines.append(f"{about} {move.origin} → {move.to}: {move.event} {move.plugin}")

    def event(self, record: ClusterEventRecord) -> None:
        self.lines.append(repr(record))

    def object_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        self.lines.append(repr(new))

    def logged(self, message: str) -> None:
        self.lines.append(message)


def picture(trace: Attempt) -> str:
    said = {name: getattr(trace, name) for name in (*OWN, *SHARED)}
    parts = [msgspec.json.encode(said, enc_hook=tuple).decode()]
    if trace.filter is not None:
        parts.append(f"{trace.filter.nodes} {trace.filter.verdict.tolist()} {trace.filter.verdicts}")
    if trace.scores is not None:
        parts.append(f"{trace.scores.positions.tolist()} {trace.scores.total.tolist()}")
        parts += [f"{s.plugin} {s.raw.tolist()} {s.normalized.tolist()}" for s in trace.scores.plugins]
    return "\n".join(parts)


class RepeatedRun:
    def __init__(self, rule: RepeatRule, plugins: Sequence[str], *, pickled: bool = False) -> None:
        enabled = ", ".join(f"{{name: {name}}}" for name in plugins)
        text = f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins: {{multiPoint: {{enabled: [{enabled}]}}}}
"""
        registry = built_in_registry().with_plugins([Census, Diary, Tally, Hold])
        loaded = load(text, registry)
        assert loaded.effective is not None, loaded.errors
        self.pickled = pickled
        self.made = 0
        self.repeated = 0
        self.scheduler = Scheduler(
            loaded.effective,
            registry,
            start=SECOND // 3,
            seed=3,
            ties="seeded",
            observer=Record(),
            options=SchedulerOptions(repeats=rule, verify_reuse=1),
        )
        self.do(("node", 0))
        self.do(("node", 1))

    @property
    def record(self) -> Record:
        observer = self.scheduler.observer
        assert isinstance(observer, Record)
        return observer

    def play(self, listed: Sequence[Operation]) -> list[Any]:
        for operation in listed:
            self.do(operation)
            if self.pickled and not self.scheduler.mid_cycle:
                self.repeated += self.scheduler.core.repeats.count
                self.scheduler = pickle.loads(pickle.dumps(self.scheduler))
        self.finish()
        self.repeated += self.scheduler.core.repeats.count
        return self.outcome()

    def outcome(self) -> list[Any]:
        """Everything by which two runs could differ."""
        scheduler, record = self.scheduler, self.record
        return [
            *record.lines,
            record.digest,
            # Not their bytes: columns that were worked out anew are written anew.
            [picture(trace) for trace in decode_attempts(encode_attempts(record.ended))],
            scheduler.queue_state(),
            scheduler.points,
            scheduler.attempts,
            scheduler.now,
            scheduler.core.next_start_node_index,
            scheduler.core.services.generator.next(),
            [repr(obj) for obj in scheduler.cluster.all()],
        ]

    def finish(self) -> None:
        while self.scheduler.step() is not None:
            self.scheduler.advance(self.scheduler.now + SECOND // 1000)

    def do(self, operation: Operation) -> None:
        kind, what = operation
        cluster, scheduler = self.scheduler.cluster, self.scheduler
        self.made += 1
        match kind:
            case "pod":
                cluster.create_admitted(self.pod(what))
            case "node":
                labels = {"kubernetes.io/hostname": f"n{self.made}"}
                cluster.create(make_node(f"n{self.made}", labels=labels, cpu="2", pods="4"))
            case "delete pod":
                if pod := self.any(Pod, what):
                    cluster.delete(pod)
            case "delete node":
                if node := self.any(Node, what):
                    cluster.delete(node)
            case "cordon":
                if node := self.any(Node, what):
                    spec = replace(node.spec, unschedulable=not node.spec.unschedulable)
                    cluster.replace(replace(node, spec=spec))
            case "label":
                if pod := self.any(Pod, what):
                    labels = {**pod.metadata.labels, "made": str(self.made)}
                    cluster.replace(replace(pod, metadata=replace(pod.metadata, labels=labels)))
            case "namespace":
                namespace = Namespace(metadata=ObjectMeta(name=f"ns{what}", uid=f"ns{what}"))
                if cluster.find(namespace) is None:
                    cluster.create_admitted(namespace)
                else:
                    cluster.delete(namespace)
            case "activate":
                if pod := self.any(Pod, what):
                    scheduler.activate([pod])
            case "points":
                for _ in range(what):
                    scheduler.step_point()
            case "interrupted":
                scheduler.advance(scheduler.now + 330 * SECOND)
                for _ in range(what):
                    scheduler.step_point()
                self.do(("namespace", 0))
            case "flush":
                # Time for the flush of leftovers, and some of the cycles that follow.
                scheduler.advance(scheduler.now + 330 * SECOND)
                for _ in range(what):
                    scheduler.step()
            case "seconds":
                scheduler.advance(scheduler.now + what * SECOND)

    def any(self, kind: Any, index: int) -> Any:
        objects = self.scheduler.cluster.list(kind)
        return objects[index % len(objects)] if objects else None

    def pod(self, what: dict[str, Any]) -> Pod:
        labels, spec = {"app": what["app"]}, dict[str, Any]()
        if what["diary"]:
            labels["diary"] = what["diary"]
        if what["extra"] == "apart":
            own = {"labelSelector": {"matchLabels": {"app": what["app"]}}, "topologyKey": "kubernetes.io/hostname"}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [own]}}
        elif what["extra"] == "picky":
            spec["nodeSelector"] = {"nobody": "has this"}
        pod = make_pod(
            f"p{self.made}",
            labels=labels,
            requests={"cpu": what["cpu"]},
            priority=what["priority"],
            schedulerName="default-scheduler",
            **spec,
        )
        if what["extra"] == "nominated" and (node := self.any(Node, self.made)) is not None:
            pod = replace(pod, status=replace(pod.status, nominated_node_name=node.metadata.name))
        return pod

"""What is reused changes nothing: runs with and without it are the same, and a broken promise is found."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from framework.configuration import load_value
from framework.interface import (
    Code,
    Codes,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    Reason,
    Status,
    View,
)
from framework.interface.plugin import Plugin
from framework.objects import Namespace, Node, ObjectMeta, Pod
from framework.plugins.registry import built_in_registry
from framework.profiles.services import ReuseRule
from framework.profiles.verify import ReuseDiffers
from framework.scheduler import Observer, Scheduler, SchedulerOptions
from framework.trace.attempt import AttemptTrace
from framework.trace.digest import START, digest
from tests.builders import make_node, make_pod
from tests.cycle.small import FILTERS, SmallCluster
from tests.plugins.domain_worlds import HOSTNAME, RACK, ZONE, random_pod_affinity, random_selector

PRE_FILTERS = ("NodeAffinity", "NodePorts", "NodeResourcesFit")
SETTINGS = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Digests(Observer):
    def __init__(self) -> None:
        self.digest = START
        self.attempts: list[str] = []

    def attempt(self, trace: AttemptTrace) -> None:
        self.digest = digest(trace, self.digest)
        if trace.scores is not None:
            # Told by the cycle as it goes, and as worked out from every node's scores.
            assert trace.scores.margin == trace.scores.whole().margin
        self.attempts.append(
            f"{trace.pod} {trace.attempt} {trace.result} {trace.selected} {trace.message} {self.digest}"
        )


class RandomRun:
    """Some templates of pods in random order over a cluster that changes."""

    def __init__(
        self, seed: int, reuse: ReuseRule, percentage: int, ties: Any = "seeded", more: Sequence[type[Plugin]] = ()
    ) -> None:
        """``more``: plugins beside those of the default profile."""
        self.rng = rng = random.Random(seed)
        registry = built_in_registry().with_plugins(more)
        enabled = {"multiPoint": {"enabled": [{"name": plugin.name, "weight": 3} for plugin in more]}}
        loaded = load_value(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "percentageOfNodesToScore": percentage,
                "profiles": [{"plugins": enabled}],
            },
            registry,
        )
        assert loaded.effective is not None
        self.observer = Digests()
        self.scheduler = Scheduler(
            loaded.effective,
            registry,
            start=0,
            seed=3,
            ties=ties,
            observer=self.observer,
            options=SchedulerOptions(reuse=reuse, verify_reuse=1),
        )
        self.made = 0
        for name in ("default", "dev"):
            labels = {"kubernetes.io/metadata.name": name, "env": name}
            self.scheduler.cluster.create(Namespace(metadata=ObjectMeta(name=name, labels=labels)), stored=True)
        for number in range(rng.choice([3, 12, 60, 130])):
            self.scheduler.cluster.create_admitted(self.node(number))
        self.templates = [self.template() for _ in range(rng.randint(1, 6))]

    def node(self, number: int) -> Node:
        rng = self.rng
        labels = {HOSTNAME: f"n{number}", RACK: rng.choice("12")}
        if rng.random() < 0.9:
            labels[ZONE] = rng.choice("abc")
        effect = rng.choice(["NoSchedule", "PreferNoSchedule"])
        taints = [{"key": "spot", "value": rng.choice("xy"), "effect": effect}] if rng.random() < 0.2 else []
        return make_node(f"n{number}", labels=labels, taints=taints, cpu=rng.choice(["1", "2", "4"]), pods="6")

    def template(self) -> dict[str, Any]:
        rng = self.rng
        spec: dict[str, Any] = {"priority": rng.choice([0, 0, 5]), "schedulerName": "default-scheduler"}
        affinity = random_pod_affinity(rng, 0.25)
        if rng.random() < 0.3:
            expression = {"key": ZONE, "operator": "In", "values": rng.choices("abc", k=2)}
            preference = {"weight": rng.randint(1, 50), "preference": {"matchExpressions": [expression]}}
            affinity["nodeAffinity"] = {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}
        if affinity:
            spec["affinity"] = affinity
        if rng.random() < 0.6:
            spec["topologySpreadConstraints"] = [
                {
                    "maxSkew": rng.randint(1, 3),
                    "topologyKey": rng.choice([HOSTNAME, ZONE, RACK]),
                    "whenUnsatisfiable": rng.choice(["DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway"]),
                    "labelSelector": random_selector(rng) or {"matchLabels": {"app": "web"}},
                }
                for _ in range(rng.randint(1, 2))
            ]
        if rng.random() < 0.2:
            spec["tolerations"] = [{"operator": "Exists"}]
        if rng.random() < 0.2:
            spec["nodeSelector"] = {RACK: "1"}
        return {
            "namespace": rng.choice(["default", "dev"]),
            "labels": {"app": rng.choice(["web", "db"])},
            "requests": {"cpu": rng.choice(["100m", "400m", "900m", "9"]), "memory": "200Mi"},
            "ports": [{"containerPort": 80, "hostPort": 80}] if rng.random() < 0.15 else [],
            **spec,
        }

    def happen(self) -> None:
        rng, cluster = self.rng, self.scheduler.cluster
        what = rng.random()
        if what < 0.75:
            self.made += 1
            template = rng.choice(self.templates) if rng.random() < 0.9 else self.template()
            cluster.create_admitted(make_pod(f"p{self.made}", **template))
        elif what < 0.83:
            bound = [pod for pod in cluster.list(Pod) if pod.spec.node_name]
            if bound:
                cluster.delete(rng.choice(bound))
        elif what < 0.9:
            node = rng.choice(cluster.list(Node))
            changed = self.node(int(node.metadata.name[1:]))
            cluster.replace(replace(node, metadata=replace(node.metadata, labels=changed.metadata.labels)))
        elif what < 0.93:
            node = rng.choice(cluster.list(Node))
            cluster.replace(replace(node, spec=replace(node.spec, unschedulable=not node.spec.unschedulable)))
        elif what < 0.95:
            cluster.create_admitted(self.node(1000 + self.made))
        elif what < 0.97 and len(cluster.list(Node)) > 2:
            cluster.delete(rng.choice(cluster.list(Node)))
        else:
            namespace = cluster.list(Namespace)[0]
            labels = {**namespace.metadata.labels, "env": rng.choice(["default", "dev"])}
            cluster.replace(replace(namespace, metadata=replace(namespace.metadata, labels=labels)))
        self.made += 1
        for _ in range(rng.randint(0, 2)):
            self.scheduler.step()
            self.scheduler.advance(self.scheduler.now + rng.choice([1, 700]) * 1_000_000)

    def play(self, steps: int) -> list[str]:
        for _ in range(steps):
            self.happen()
        return self.observer.attempts


@SETTINGS
@given(
    seed=st.integers(0, 10**6), percentage=st.sampled_from([100, 100, 60]), ties=st.sampled_from(["seeded", "upstream"])
)
def test_runs_with_and_without_reuse_are_the_same(seed: int, percentage: int, ties: str) -> None:
    used = RandomRun(seed, "used", percentage, ties).play(60)
    assert used == RandomRun(seed, "off", percentage, ties).play(60)


# --- promises that are broken -----------------------------------------------------------------------------------------

REASONS = (Reason(Code.SUCCESS, ()), Reason(Code.UNSCHEDULABLE, ("too full",)))


class Forgetful(ColumnFilterPlugin):
    """Reads how many pods a node has, and names only the node's name as an input."""

    name: ClassVar[str] = "Forgetful"

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        def kernel(names: Codes) -> NDArray[np.int8]:
            nodes = self.handle.snapshot
            found = (nodes.get(names.values[code]) for code in names.codes.tolist())
            return np.array([len(node.pods) > 0 if node is not None else 0 for node in found], dtype=np.int8)

        return Plan(kernel, (view.name(),), (), REASONS)


class Biased(ColumnScorePlugin):
    """Scores by what a service of its own counts, and says that nothing but the node's name matters."""

    name: ClassVar[str] = "Biased"

    def fragment(self, pod: PodInfo) -> tuple[str, ...]:
        return ()

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        favourite = pod.pod.metadata.labels.get("likes", "")

        def kernel(names: Codes) -> NDArray[np.int64]:
            return np.array([50 if names.values[code] == favourite else 0 for code in names.codes], dtype=np.int64)

        return Plan(kernel, (view.name(),), favourite)


class Moody(PreFilterPlugin):
    """Promises the same answer every time, and after some questions has another one."""

    name: ClassVar[str] = "Moody"
    asked = 0

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        self.asked += 1
        return None, None if self.asked < 5 else Status.unschedulable("enough")

    def fragment(self, pod: PodInfo) -> tuple[str, ...]:
        return ()


@pytest.mark.parametrize(
    ("plugin", "point", "says"),
    [
        pytest.param(Forgetful, "filter", r"Forgetful: Filter .* on node n\d", id="an input is missing"),
        pytest.param(Biased, "score", r"Biased: Score .* on node n\d", id="the fragment is too small"),
        pytest.param(Moody, "preFilter", "Moody: PreFilter", id="the answer changes by itself"),
    ],
)
def test_a_plugin_that_declares_too_little_is_found_by_name(plugin: type[Plugin], point: str, says: str) -> None:
    nodes = [make_node(f"n{i}", cpu="4") for i in range(4)]
    others = {"filter": FILTERS, "score": ("NodeResourcesFit",), "preFilter": PRE_FILTERS}[point]
    cluster = SmallCluster(nodes, more=[plugin], points={point: (*others, plugin.name)})

    def play() -> None:
        for number in range(6):
            likes = {"likes": f"n{number % 4}"}
            assert cluster.schedule(make_pod(f"p{number}", labels=likes, requests={"cpu": "100m"})).selected

    with pytest.raises(ReuseDiffers, match=says):
        play()

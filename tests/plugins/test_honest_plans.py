"""Plans tell the truth about what they depend on, so that answers may be reused.

Over a cluster that keeps changing: where constants and inputs are the same, only rows that an input names have changed;
a kernel gives one row the same answer alone, in a crowd and in a what-if that changes nothing; and pods with equal
fragments have equal columns.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from framework.configuration import load_value
from framework.interface import (
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
)
from framework.interface.plugin import Plugin
from framework.interface.status import Code
from framework.objects import ObjectMeta, Pod
from framework.objects.catalogue import LoadData, LoadMetric, LoadMetrics, NodeLoad
from framework.objects.metadata import ResourceList
from framework.objects.reservations import (
    ObjectReference,
    Reservation,
    ReservationOwner,
    ReservationSpec,
    ReservationStatus,
)
from framework.plugins.registry import OPTIONAL, built_in_registry
from framework.profiles import Profile
from framework.scheduler import Observer, Scheduler
from tests.builders import make_pod
from tests.trace.scenario import node, pod

ALL = built_in_registry().with_plugins(OPTIONAL)
FILTERS = [name for name in ALL.names() if issubclass(ALL.plugin_class(name) or object, ColumnFilterPlugin)]
OURS = ("LoadAwareScheduling", "Reservation")
CATALOGUE = [entry.name for entry in ALL.entries() if entry.origin == "scheduler-plugins" or entry.name in OURS]
EVERYTHING = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "plugins": {
                "multiPoint": {
                    "enabled": [
                        {"name": name}
                        for name in CATALOGUE
                        if not issubclass(ALL.plugin_class(name) or object, QueueSortPlugin)
                    ]
                }
            },
            "pluginConfig": [
                {
                    "name": "NodeMetadata",
                    "args": {
                        "metadataKey": "rank",
                        "metadataSource": "Annotation",
                        "metadataType": "Number",
                        "scoringStrategy": "Highest",
                    },
                },
                {
                    "name": "Peaks",
                    "args": {
                        "WatcherAddress": "http://load",
                        "NodePowerModel": {"n-1": {"k0": 1, "k1": 2, "k2": 0.01}},
                    },
                },
            ],
        }
    ],
}
"""The default profile with all columnar plugins of the catalogue."""
SCORES = [name for name in ALL.names() if issubclass(ALL.plugin_class(name) or object, ColumnScorePlugin)]


@dataclass
class NoChange:
    row: int
    added: tuple[PodInfo, ...] = ()
    removed: tuple[PodInfo, ...] = ()

    @property
    def elsewhere(self) -> list[tuple[int, PodInfo]]:
        return []

    @property
    def port_moves(self) -> list[tuple[PodInfo, bool]]:
        return [*((pod, False) for pod in self.removed), *((pod, True) for pod in self.added)]


class Cluster:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        loaded = load_value(EVERYTHING, ALL)
        assert loaded.effective is not None, loaded.config_error
        self.scheduler = Scheduler(loaded.effective, ALL, start=0, seed=0, ties="smallest", observer=Observer())
        self.number = 0
        for i in range(25):
            self.scheduler.cluster.create_admitted(node(self.rng, i))
        for _ in range(40):
            self.place()
        self.scheduler.cluster.create_admitted(self.load())
        for i in range(0, 25, 3):
            self.scheduler.cluster.create_admitted(self.reservation(i))
        self.refresh()

    @property
    def profile(self) -> Profile:
        return self.scheduler.profiles["default-scheduler"]

    def refresh(self) -> None:
        self.scheduler.core.cache.update_snapshot(self.scheduler.core.snapshot)

    def load(self) -> LoadMetrics:
        """Of some of the nodes."""

        def metric(kind: str, operator: str) -> LoadMetric:
            return LoadMetric(type=kind, operator=operator, value=float(self.rng.randrange(100)))

        measured = {
            f"n-{i}": NodeLoad(metrics=(metric("CPU", "AVG"), metric("CPU", "STD"), metric("Memory", "AVG")))
            for i in range(0, 25, 2)
        }
        return LoadMetrics(metadata=ObjectMeta(name=LoadMetrics.NAME), data=LoadData(node_metrics_map=measured))

    def reservation(self, number: int) -> Reservation:
        """Of every second one all pods may use what it holds, of the others none."""
        anybody = ReservationOwner(object=ObjectReference(kind="Pod" if number % 2 else "Nothing"))
        amounts: ResourceList = {"cpu": f"{self.rng.randrange(1, 30)}00m", "memory": "1Gi"}
        return Reservation(
            metadata=ObjectMeta(name=f"r-{number}", uid=f"r-{number}"),
            spec=ReservationSpec(owners=(anybody,), allocate_once=False),
            status=ReservationStatus(phase="Available", node_name=f"n-{number}", allocatable=amounts),
        )

    def query(self) -> PodInfo:
        self.number += 1
        rng = self.rng
        made = pod(rng, self.number)
        if rng.random() < 0.3:
            made = replace(
                made, spec=replace(made.spec, node_selector={"topology.kubernetes.io/zone": rng.choice("ab")})
            )
        if rng.random() < 0.3:
            ports = [{"containerPort": 80, "hostPort": rng.choice([80, 81])}]
            made = replace(made, spec=replace(made.spec, containers=make_pod("x", ports=ports).spec.containers))
        return PodInfo(made)

    def place(self) -> None:
        nodes = self.scheduler.core.cache.node_names() or ["n-0"]
        made = self.query().pod
        placed = replace(made, spec=replace(made.spec, node_name=self.rng.choice(nodes)))
        self.scheduler.cluster.create_admitted(placed)

    def change(self) -> None:
        cluster, rng = self.scheduler.cluster, self.rng
        action = rng.random()
        if action < 0.5:
            self.place()
        elif action < 0.8:
            bound = [each for each in cluster.list(Pod) if each.spec.node_name]
            cluster.delete(rng.choice(bound))
        else:
            changed = node(rng, rng.randrange(30))
            known = cluster.find(changed)
            if known is None:
                cluster.create_admitted(changed)
            elif rng.random() < 0.3:
                cluster.delete(changed)
            else:
                cluster.replace(changed)

    def plan(self, plugin: Plugin, info: PodInfo, *, score: bool) -> Plan | None:
        state, snapshot = CycleState(), self.scheduler.core.snapshot
        if isinstance(plugin, PreFilterPlugin):
            _, status = plugin.pre_filter(state, info, snapshot)
            if not score and status is not None and status.code is Code.SKIP:
                return None
        if not score:
            assert isinstance(plugin, ColumnFilterPlugin)
            return plugin.filter_plan(state, info, snapshot)
        assert isinstance(plugin, ColumnScorePlugin)
        if isinstance(plugin, PreScorePlugin):
            status = plugin.pre_score(state, info, snapshot, snapshot.order)
            if status is not None and not status.is_success:
                return None
        return plugin.score_plan(state, info, snapshot)

    def column(self, plan: Plan) -> NDArray[Any]:
        return plan.kernel(*(each.gather(None) for each in plan.inputs))


def plugins(cluster: Cluster, names: list[str]) -> Iterator[Plugin]:
    for name in names:
        plugin = cluster.profile.plugins.get(name)
        assert plugin is not None, f"{name} is not in the profile"
        yield plugin


@pytest.mark.parametrize(("names", "score"), [(FILTERS, False), (SCORES, True)], ids=["filter", "score"])
@pytest.mark.parametrize("seed", range(3))
def test_only_rows_that_an_input_names_have_changed(names: list[str], score: bool, seed: int) -> None:
    cluster = Cluster(seed)
    queries = [cluster.query() for _ in range(6)]
    seen: dict[tuple[str, int], tuple[Plan, list[int], NDArray[Any]]] = {}
    compared = 0
    for _ in range(25):
        for plugin in plugins(cluster, names):
            for number, info in enumerate(queries):
                plan = cluster.plan(plugin, info, score=score)
                if plan is None or not plan.inputs:
                    seen.pop((plugin.name, number), None)
                    continue
                column = cluster.column(plan)
                earlier = seen.get((plugin.name, number))
                if earlier is not None and _comparable(earlier[0], plan):
                    compared += 1
                    told = _told(plan, earlier[1], len(column))
                    before = earlier[2]
                    same = np.flatnonzero(before != column[: len(before)])
                    live = set(cluster.scheduler.core.snapshot.order.tolist())
                    wrong = {row for row in same.tolist() if row in live} - told
                    assert not wrong, f"{plugin.name} for {info.key}: rows {sorted(wrong)}"
                seen[plugin.name, number] = (plan, [each.version for each in plan.inputs], column)
        for _ in range(cluster.rng.randrange(1, 4)):
            cluster.change()
        cluster.refresh()
    assert compared > 200


def _comparable(one: Plan, other: Plan) -> bool:
    same_inputs = len(one.inputs) == len(other.inputs) and all(
        a is b for a, b in zip(one.inputs, other.inputs, strict=True)
    )
    return same_inputs and one.constants == other.constants


def _told(plan: Plan, versions: list[int], rows: int) -> set[int]:
    told: set[int] = set()
    for each, version in zip(plan.inputs, versions, strict=True):
        changed = each.changed_since(version)
        if changed is None:
            return set(range(rows))
        told.update(changed.tolist())
    return told


@pytest.mark.parametrize(("names", "score"), [(FILTERS, False), (SCORES, True)], ids=["filter", "score"])
def test_a_row_has_the_same_answer_alone_and_in_a_crowd(names: list[str], score: bool) -> None:
    cluster = Cluster(7)
    snapshot = cluster.scheduler.core.snapshot
    asked = 0
    for plugin in plugins(cluster, names):
        for _ in range(8):
            plan = cluster.plan(plugin, cluster.query(), score=score)
            if plan is None:
                continue
            column = cluster.column(plan)
            some = snapshot.order[::3]
            crowd = plan.kernel(*(each.gather(some) for each in plan.inputs))
            assert crowd.tolist() == column[some].tolist(), plugin.name
            for row in some.tolist():
                alone = plan.kernel(*(each.gather_changed(NoChange(row)) for each in plan.inputs))
                assert alone.tolist() == [column[row]], plugin.name
                asked += 1
    assert asked > 100


@pytest.mark.parametrize(("names", "score"), [(FILTERS, False), (SCORES, True)], ids=["filter", "score"])
def test_pods_with_equal_fragments_have_equal_columns(names: list[str], score: bool) -> None:
    cluster = Cluster(11)
    queries = [cluster.query() for _ in range(120)]
    pairs = 0
    for plugin in plugins(cluster, names):
        columns: dict[Hashable, list[Any] | None] = {}
        for info in queries:
            assert isinstance(plugin, ColumnScorePlugin if score else ColumnFilterPlugin)
            key = plugin.fragment(info)
            if key is None:
                continue
            plan = cluster.plan(plugin, info, score=score)
            order = cluster.scheduler.core.snapshot.order
            column = None if plan is None else cluster.column(plan)[order].tolist()
            if key in columns:
                pairs += 1
                assert _as_answers(columns[key]) == _as_answers(column), f"{plugin.name} for {info.key}"
            columns[key] = column
    assert pairs > 100


def _as_answers(column: list[Any] | None) -> list[Any] | None:
    """No plan at all and a filter column without a verdict both mean that everybody passes."""
    return column if column is not None and any(column) else None

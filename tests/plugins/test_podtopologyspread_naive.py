"""PodTopologySpread's columns against the naive evaluation: verdicts, scores, what-ifs, over clusters that change."""

from __future__ import annotations

import random
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.columns import incremental
from framework.interface import SKIP, CycleState, Handle, NodeInfo, PodInfo
from framework.objects import LabelSelector, Pod, Service
from framework.objects.cluster import ServiceSpec
from framework.objects.metadata import ObjectMeta
from framework.plugins.podtopologyspread.args import PodTopologySpreadArgs
from framework.plugins.podtopologyspread.constraints import SYSTEM_DEFAULTS
from framework.plugins.podtopologyspread.plugin import REASONS, PodTopologySpread
from tests.builders import make_pod
from tests.examples import examples
from tests.plugins import naive_spread
from tests.plugins.domain_worlds import (
    KEYS,
    NAMESPACES,
    ReusedColumn,
    World,
    evaluate,
    evaluate_changed,
    random_labels,
    random_selector,
)
from tests.plugins.naive_spread import Rule, Verdict

WORLDS = st.integers(0, 2**32 - 1)


def random_constraint(rng: random.Random) -> dict[str, Any]:
    constraint: dict[str, Any] = {
        "maxSkew": rng.randint(1, 2),
        "topologyKey": rng.choice(KEYS),
        "whenUnsatisfiable": rng.choice(["DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": random_selector(rng),
    }
    if rng.random() < 0.3:
        constraint["minDomains"] = rng.randint(1, 4)
    if rng.random() < 0.4:
        constraint["nodeTaintsPolicy"] = rng.choice(["Honor", "Ignore"])
    if rng.random() < 0.4:
        constraint["nodeAffinityPolicy"] = rng.choice(["Honor", "Ignore"])
    if rng.random() < 0.3:
        constraint["matchLabelKeys"] = ["tier"]
    return constraint


def random_spreading_pod(rng: random.Random, number: int) -> PodInfo:
    extra: dict[str, Any] = {}
    if rng.random() < 0.3:
        extra["nodeSelector"] = {"rack": rng.choice("12")}
    if rng.random() < 0.4:
        extra["tolerations"] = [{"key": "dedicated", "operator": "Equal", "value": rng.choice("xy")}]
    constraints = [random_constraint(rng) for _ in range(rng.randint(0, 3))]
    pod = make_pod(
        f"incoming-{number}",
        namespace=rng.choice(NAMESPACES),
        labels=random_labels(rng),
        topologySpreadConstraints=constraints,
        **extra,
    )
    return PodInfo(pod)


def verdict(code: int) -> Verdict:
    return (REASONS[code].code.name_, *REASONS[code].texts) if code else None  # type: ignore[return-value]


class Checked:
    """One incoming pod that is tried again and again while its cluster changes."""

    def __init__(self, world: World, pod: PodInfo) -> None:
        self.world = world
        self.pod = pod
        self.plugin = PodTopologySpread(PodTopologySpreadArgs(), cast(Handle, world.store))
        self.filter_column = ReusedColumn()
        self.score_column = ReusedColumn()

    def check_filter(self) -> None:
        world, state = self.world, CycleState()
        view = world.snapshot
        want = naive_spread.pre_filter(self.pod.pod, world.nodes())
        _, status = self.plugin.pre_filter(state, self.pod, view)
        assert (status is SKIP) == (want is None)
        if want is None:
            return
        plan = self.plugin.filter_plan(state, self.pod, view)
        assert plan is not None
        got = self.filter_column.values(plan, view.row_count)
        for info in world.nodes():
            assert verdict(int(got[world.row(info)])) == want.filter(node_of(info))
        for info in world.rng.sample(list(world.nodes()), min(3, len(world.names))):
            change = world.random_change(info)
            changed = want.clone()
            for pod in change.removed:
                changed.update(pod, node_of(info), -1)
            for pod in change.added:
                changed.update(pod, node_of(info), 1)
            assert verdict(evaluate_changed(plan, change)) == changed.filter(node_of(info))

    def check_score(self, rules: list[Rule], *, require_all: bool) -> None:
        world, state = self.world, CycleState()
        nodes = world.nodes()
        feasible = [info for info in nodes if world.rng.random() < 0.8] or list(nodes)
        want = naive_spread.scores(self.pod.pod, nodes, feasible, rules, require_all=require_all)
        rows = np.array([world.row(info) for info in feasible], dtype=np.intp)
        status = self.plugin.pre_score(state, self.pod, world.snapshot, rows)
        assert (status is SKIP) == (want is None)
        if want is None:
            return
        plan = self.plugin.score_plan(state, self.pod, world.snapshot)
        raw = self.score_column.values(plan, world.snapshot.row_count)[rows]
        assert raw.tolist() == want[0]
        assert evaluate(plan, rows).tolist() == want[0]
        got, status = self.plugin.normalize_score(state, self.pod.pod, raw, rows)
        assert status is None
        assert got.tolist() == want[1]


def node_of(info: NodeInfo) -> Any:
    assert info.node is not None
    return info.node


def live_through(seed: int) -> list[Checked]:
    rng = random.Random(seed)
    world = World.random(rng)
    pods = [Checked(world, random_spreading_pod(rng, i)) for i in range(4)]
    for _ in range(6):
        for each in pods:
            each.check_filter()
            each.check_score(naive_spread.rules_of(each.pod.pod, "ScheduleAnyway"), require_all=True)
        for _ in range(rng.randint(1, 4)):
            world.happen()
    return pods


@settings(max_examples=examples(250), deadline=None)
@given(WORLDS)
def test_own_constraints_give_what_a_walk_over_all_pods_gives(seed: int) -> None:
    live_through(seed)


def test_most_rows_are_spared_when_little_happens() -> None:
    spared = sum(each.filter_column.rows_spared for seed in range(20) for each in live_through(seed))
    assert spared > 300


@pytest.mark.parametrize("seed", range(15))
def test_readers_that_fell_behind_start_over(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "KEPT", 2)
    live_through(seed)


@settings(max_examples=100, deadline=None)
@given(WORLDS)
def test_system_defaults_score_nodes_without_a_zone_too(seed: int) -> None:
    rng = random.Random(seed)
    world = World.random(rng)
    wanted = {"app": rng.choice(["web", "db"])}
    metadata = ObjectMeta(name="service", namespace="default")
    world.store.add(Service(metadata=metadata, spec=ServiceSpec(selector=wanted)))
    pod = Checked(world, PodInfo(make_pod("incoming", labels=random_labels(rng))))
    selected = pod.pod.pod.metadata.labels.get("app") == wanted["app"]
    selector = LabelSelector(match_labels=wanted)
    rules = [Rule(constraint, selector, {}) for constraint in SYSTEM_DEFAULTS] if selected else []
    for _ in range(5):
        pod.check_score(rules, require_all=False)
        world.happen()


def test_listed_defaults_are_hard_and_want_all_keys() -> None:
    world = World.random(random.Random(1))
    args = PodTopologySpreadArgs(
        default_constraints=tuple(
            make_pod(
                "template",
                topologySpreadConstraints=[
                    {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"},
                    {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"},
                ],
            ).spec.topology_spread_constraints
        ),
        defaulting_type="List",
    )
    metadata = ObjectMeta(name="service", namespace="default")
    world.store.add(Service(metadata=metadata, spec=ServiceSpec(selector={"app": "web"})))
    pod = Checked(world, PodInfo(make_pod("incoming", labels={"app": "web"})))
    pod.plugin = PodTopologySpread(args, cast(Handle, world.store))
    selector = LabelSelector(match_labels={"app": "web"})
    soft = [Rule(args.default_constraints[1], selector, {})]
    for _ in range(10):
        pod.check_score(soft, require_all=True)
        state = CycleState()
        _, status = pod.plugin.pre_filter(state, pod.pod, world.snapshot)
        assert status is None
        plan = pod.plugin.filter_plan(state, pod.pod, world.snapshot)
        assert plan is not None
        equivalent: Pod = make_pod(
            "equivalent",
            labels={"app": "web"},
            topologySpreadConstraints=[
                {
                    "maxSkew": 1,
                    "topologyKey": "rack",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": "web"}},
                }
            ],
        )
        want = naive_spread.pre_filter(equivalent, world.nodes())
        assert want is not None
        got = evaluate(plan)
        for info in world.nodes():
            assert verdict(int(got[world.row(info)])) == want.filter(node_of(info))
        world.happen()

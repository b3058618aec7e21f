"""LoadAwareScheduling against a naive evaluation, and when refused pods are tried again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.configuration import FeatureGates, load_value
from framework.interface import Handle
from framework.objects import KubeObject, Node, ObjectMeta, Pod
from framework.objects.catalogue import (
    USAGE_THRESHOLDS,
    LoadData,
    LoadMetric,
    LoadMetrics,
    LoadWindow,
    NodeLoad,
)
from framework.objects.metadata import OwnerReference
from framework.objects.pod import PodCondition
from framework.objects.timestamps import SECOND, format_timestamp
from framework.plugins.loadaware.args import LoadAwareSchedulingArgs
from framework.plugins.loadaware.estimates import Estimate
from framework.plugins.loadaware.plugin import LoadAwareScheduling
from framework.plugins.loadaware.usage import Usage
from framework.plugins.registry import built_in_registry
from tests.builders import make_node, make_pod
from tests.plugins.evaluation import cluster, run_filter, run_score
from tests.plugins.playing import START, Play

NOW = START // SECOND
GI = 1 << 30
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: LoadAwareScheduling, weight: 5}]}}
"""


class _At:
    feature_gates = FeatureGates()

    def now(self) -> int:
        return START


def load(percents: dict[str, tuple[float | None, float | None]], *, until: int = NOW) -> LoadMetrics:
    """Of cpu and memory; None: not measured."""
    measured = {
        node: NodeLoad(
            metrics=tuple(
                LoadMetric(type=kind, operator="AVG", value=value)
                for kind, value in zip(("CPU", "Memory"), of, strict=True)
                if value is not None
            )
        )
        for node, of in percents.items()
    }
    return LoadMetrics(
        metadata=ObjectMeta(name=LoadMetrics.NAME),
        window=LoadWindow(end=until),
        data=LoadData(node_metrics_map=measured),
    )


def placed(name: str, node: str, at: int, **requests: str) -> Pod:
    pod = make_pod(name, node_name=node, requests=requests)
    said = PodCondition(type="PodScheduled", status="True", last_transition_time=format_timestamp(at * SECOND))
    return replace(pod, status=replace(pod.status, conditions=(said,)))


def limited(cpu: str, memory: str) -> Pod:
    pod = make_pod("limited")
    container = pod.spec.containers[0]
    own = replace(container, resources=replace(container.resources, limits={"cpu": cpu, "memory": memory}))
    return replace(pod, spec=replace(pod.spec, containers=(own,)))


def half_up(number: Fraction) -> int:
    return int(number + Fraction(1, 2))


def naive_estimate(amount: int, factor: int, unnamed: int) -> int:
    return half_up(Fraction(amount * factor, 100)) if amount else unnamed


PERCENT = st.one_of(st.none(), st.integers(0, 110).map(float))
ARGS = st.fixed_dictionaries(
    {
        "usage_thresholds": st.dictionaries(st.sampled_from(["cpu", "memory"]), st.integers(0, 100)),
        "resource_weights": st.dictionaries(st.sampled_from(["cpu", "memory"]), st.integers(1, 100)),
        "dominant_resource_weight": st.integers(0, 3),
        "estimated_scaling_factors": st.dictionaries(st.sampled_from(["cpu", "memory"]), st.integers(1, 100)),
        "estimated_seconds_after_pod_scheduled": st.sampled_from([None, 0, 300]),
        "node_metric_expiration_seconds": st.sampled_from([None, None, 180]),
        "filter_expired_node_metrics": st.booleans(),
        "enable_schedule_when_node_metrics_expired": st.booleans(),
    }
)


@settings(max_examples=60, deadline=None)
@given(
    given_args=ARGS,
    loads=st.dictionaries(st.sampled_from(["n-0", "n-1", "n-2"]), st.tuples(PERCENT, PERCENT)),
    age=st.sampled_from([0, 100, 179, 180, 1000]),
    pods=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 400), st.sampled_from([0, 300, 1500])), max_size=6),
    asked=st.tuples(st.sampled_from([0, 100, 1333, 4000]), st.sampled_from([0, 1, 5])),
    own=st.one_of(st.none(), st.integers(1, 100)),
    daemon=st.booleans(),
    late=st.booleans(),
)
def test_it_says_what_the_rules_say(
    given_args: dict[str, Any],
    loads: dict[str, tuple[float | None, float | None]],
    age: int,
    pods: list[tuple[int, int, int]],
    asked: tuple[int, int],
    own: int | None,
    daemon: bool,
    late: bool,
) -> None:
    args = LoadAwareSchedulingArgs(**given_args).defaulted()
    plugin = LoadAwareScheduling(args, cast(Handle, _At()))
    nodes = [make_node(f"n-{i}") for i in range(3)]  # 4 cpu, 8 Gi
    if own is not None:
        text = f'{{"usageThresholds": {{"cpu": {own}}}}}'
        nodes[0] = replace(nodes[0], metadata=replace(nodes[0].metadata, annotations={USAGE_THRESHOLDS: text}))
    metrics = load(loads, until=NOW - age)
    there = [
        placed(f"p-{i}", f"n-{on}", NOW - ago, **({"cpu": f"{milli}m", "memory": "1Gi"} if milli else {}))
        for i, (on, ago, milli) in enumerate(pods)
    ]
    objects: list[Any] = [*nodes, *there]
    objects.insert(len(objects) if late else 0, metrics)
    for each in objects:
        plugin.object_changed(None, each)

    pod = make_pod("x", requests={"cpu": f"{asked[0]}m", "memory": f"{asked[1]}Gi"})
    if daemon:
        owner = OwnerReference(kind="DaemonSet", name="d", uid="d")
        pod = replace(pod, metadata=replace(pod.metadata, owner_references=(owner,)))
    factors = {"cpu": 85, "memory": 70, **given_args["estimated_scaling_factors"]}
    weights = given_args["resource_weights"] or (
        {"cpu": 1, "memory": 1} if not given_args["dominant_resource_weight"] else {}
    )
    thresholds = given_args["usage_thresholds"] or {"cpu": 65, "memory": 95}
    expires = given_args["node_metric_expiration_seconds"]
    expired = expires is not None and age >= expires
    dominant = given_args["dominant_resource_weight"]

    def estimate(milli: int, gi: int) -> dict[str, int]:
        return {
            "cpu": naive_estimate(milli, factors["cpu"], 250),
            "memory": naive_estimate(gi * GI, factors["memory"], 200 << 20),
        }

    refusals: dict[str, tuple[str, ...]] = {}
    points: dict[str, int] = {}
    for i, node in enumerate(nodes):
        name = node.metadata.name
        points[name] = 0
        measured = dict(zip(("cpu", "memory"), loads.get(name, (None, None)), strict=True))
        if all(value is None for value in measured.values()):
            continue
        if expired and given_args["filter_expired_node_metrics"]:
            if not given_args["enable_schedule_when_node_metrics_expired"] and not daemon:
                refusals[name] = ("Unschedulable", "node(s) nodeMetric expired")
            continue
        extra = estimate(*asked)
        for on, ago, milli in pods:
            seconds = max(60, given_args["estimated_seconds_after_pod_scheduled"] or 0)
            if on == i and NOW - ago + seconds > NOW - age:
                for resource, amount in estimate(milli, 1 if milli else 0).items():
                    extra[resource] += amount
        left: dict[str, int] = {}
        for resource, whole in (("cpu", 4000), ("memory", 8 * GI)):
            value = measured[resource]
            if value is None:
                left[resource] = 0
                continue
            used = round(Fraction(value) * whole / 100) + extra[resource]
            most = own if resource == "cpu" and i == 0 and own is not None else thresholds.get(resource, 0)
            if most and half_up(Fraction(100 * used, whole)) > most and not daemon and name not in refusals:
                refusals[name] = ("Unschedulable", f"node(s) {resource} usage exceed threshold")
            left[resource] = 100 * (whole - used) // whole if used <= whole else 0
        total = sum(weights.values()) + dominant
        if not expired:
            points[name] = (sum(w * left[r] for r, w in weights.items()) + dominant * min(left.values())) // total

    snapshot = cluster(nodes, there)
    assert run_filter(plugin, pod, snapshot) == refusals
    assert run_score(plugin, pod, snapshot) == points


def test_limits_count_where_they_are_more_than_requests() -> None:
    plugin = LoadAwareScheduling(LoadAwareSchedulingArgs().defaulted(), cast(Handle, _At()))
    for each in (make_node("n-0"), load({"n-0": (0.0, 0.0)})):
        plugin.object_changed(None, each)
    # 85 % of 4 cpu are 3400m, which is 85 % of the node.
    assert run_filter(plugin, limited("4", "1Gi"), cluster([make_node("n-0")])) == {
        "n-0": ("Unschedulable", "node(s) cpu usage exceed threshold")
    }


def refusals_of(change: Callable[[Play], None]) -> tuple[set[str], dict[str, str]]:
    """A pod that the only node's load keeps out; what is unschedulable and bound before and after the change."""
    node: list[KubeObject] = [make_node("n-0"), load({"n-0": (60.0, 10.0)})]
    play = Play(CONFIGURATION, node)
    play.create(make_pod("x", requests={"cpu": "1"}))
    play.cycles()
    assert play.unschedulable == {"x"}
    assert "1 node(s) cpu usage exceed threshold" in play.message("x")
    change(play)
    play.seconds(20)
    return play.unschedulable, play.bound


def test_a_refused_pod_comes_back_with_less_load_or_a_higher_threshold_and_not_else() -> None:
    def less(play: Play) -> None:
        play.scheduler.cluster.replace(load({"n-0": (20.0, 10.0)}))

    def threshold(play: Play) -> None:
        known = play.scheduler.cluster.get(Node, "", "n-0")
        assert known is not None
        text = '{"usageThresholds": {"cpu": 90}}'
        play.scheduler.cluster.replace(
            replace(known, metadata=replace(known.metadata, annotations={USAGE_THRESHOLDS: text}))
        )

    def label(play: Play) -> None:
        known = play.scheduler.cluster.get(Node, "", "n-0")
        assert known is not None
        play.scheduler.cluster.replace(replace(known, metadata=replace(known.metadata, annotations={"other": "1"})))

    assert refusals_of(less) == (set(), {"x": "n-0"})
    assert refusals_of(threshold) == (set(), {"x": "n-0"})
    assert refusals_of(label) == ({"x"}, {})


def test_pods_placed_since_the_load_was_measured_count_with_their_estimates() -> None:
    play = Play(CONFIGURATION, [make_node("n-0", cpu="16"), load({"n-0": (40.0, 10.0)})])
    # 40 % and 85 % of 1 cpu each: the fourth and those after it would be more than 65 %.
    play.create(*(make_pod(f"p-{i}", requests={"cpu": "1"}) for i in range(6)))
    play.cycles()
    assert len(play.bound) == 4
    assert play.unschedulable == {"p-4", "p-5"}
    # Measured anew: the four use next to nothing.
    play.seconds(120)
    later = play.scheduler.now // SECOND
    play.scheduler.cluster.replace(load({"n-0": (41.0, 10.0)}, until=later))
    play.seconds(20)
    assert len(play.bound) == 6


def test_arguments_out_of_range_are_refused() -> None:
    def refusal(**args: Any) -> str:
        loaded = load_value(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [
                    {
                        "plugins": {"multiPoint": {"enabled": [{"name": "LoadAwareScheduling"}]}},
                        "pluginConfig": [{"name": "LoadAwareScheduling", "args": args}],
                    }
                ],
            },
            built_in_registry(),
        )
        return "; ".join(f"{each.path}: {each.message}" for each in loaded.errors)

    assert "must be between 0 and 100" in refusal(usageThresholds={"cpu": 101})
    assert "must be cpu or memory" in refusal(resourceWeights={"nvidia.com/gpu": 1})
    assert "nodeMetricExpirationSeconds: Invalid value: 0: must be a positive value" in refusal(
        nodeMetricExpirationSeconds=0
    )
    assert "args.estimatedScalingFactors[cpu]: Invalid value: 0: must be between 1 and 100" in refusal(
        estimatedScalingFactors={"cpu": 0}
    )
    both = refusal(resourceWeights={"cpu": 0, "memory": 0})
    assert both.endswith('args.resourceWeights: Invalid value: "{cpu: 0, memory: 0}": each must be between 1 and 100')
    assert both.count("Invalid value") == 1
    assert refusal(usageThresholds={"cpu": 0}, dominantResourceWeight=1) == ""


def test_a_pod_that_is_seen_as_it_was_reserved_changes_no_row() -> None:
    usage = Usage.of_args(LoadAwareSchedulingArgs())
    usage.node_changed("n", make_node("n"))
    usage.load_changed(load({"n": (10.0, None)}, until=0))
    usage.place("n", "p", START, Estimate(100, 200))
    version, seen = usage.rows.version, usage.rows.get("n")
    usage.place("n", "p", START + 1, Estimate(100, 200))
    assert usage.rows.version == version
    usage.place("n", "p", START + 1, Estimate(101, 200))
    assert seen is not None
    assert usage.rows.get("n") == seen._replace(cpu_used=seen.cpu_used + 1)


def test_usage_comes_back_from_checkpoints_of_now_and_before() -> None:
    usage = Usage.of_args(LoadAwareSchedulingArgs())
    usage.node_changed("n", make_node("n"))
    now = pickle.loads(pickle.dumps(usage))
    before = Usage.__new__(Usage)
    before.__setstate__((None, {each.name: getattr(usage, each.name) for each in fields(Usage)[:-1]}))
    for each in (usage, now, before):
        each.load_changed(load({"n": (10.0, None)}))
    assert now.rows.get("n") == before.rows.get("n") == usage.rows.get("n") is not None

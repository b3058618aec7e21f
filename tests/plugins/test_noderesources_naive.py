"""NodeResourcesFit and NodeResourcesBalancedAllocation over columns against the naive evaluation."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.columns import Snapshot
from framework.configuration.shapes import UtilizationShapePoint
from framework.interface import CycleState, PodInfo
from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.plugins.noderesources import NodeResourcesBalancedAllocation, NodeResourcesFit
from framework.plugins.noderesources.args import (
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
)
from tests.plugins import naive_resources as naive
from tests.plugins.domain_worlds import Change
from tests.plugins.evaluation import NO_HANDLE, cluster, run_filter, run_score
from tests.plugins.naive_resources import Manifest, NaiveNode

WORLDS = st.integers(0, 2**32 - 1)
CLUSTERS_PER_WORLD = 12
GPU = "example.com/gpu"
PAGES = "hugepages-2Mi"
RESOURCES = ("cpu", "memory", "ephemeral-storage", GPU, PAGES)
SIZES = {
    "cpu": ("0", "1", "100m", "250m", "333m", "1500m", "2"),
    "memory": ("0", "1", "64Mi", "200Mi", "1Gi", "3Gi"),
    "ephemeral-storage": ("0", "1Gi", "5Gi"),
    GPU: ("0", "1", "2"),
    PAGES: ("2Mi", "64Mi"),
}
OFFERS = {
    "cpu": ("1", "2", "3920m", "8"),
    "memory": ("1Gi", "4Gi", "15892Mi"),
    "ephemeral-storage": ("0", "10Gi"),
    GPU: ("0", "1", "4"),
    PAGES: ("0", "128Mi"),
}


def some_requests(rng: random.Random, chance: float, names: tuple[str, ...] = RESOURCES) -> dict[str, str]:
    return {name: rng.choice(SIZES[name]) for name in names if rng.random() < chance}


def container(rng: random.Random, name: str, chance: float, **more: Any) -> Manifest:
    return {"name": name, "image": "app:1", "resources": {"requests": some_requests(rng, chance)}, **more}


def random_pod(rng: random.Random, name: str, node: str = "") -> Manifest:
    chance = rng.choice([0.0, 0.3, 0.6])
    spec: Manifest = {"containers": [container(rng, f"c{i}", chance) for i in range(rng.randint(1, 2))]}
    if rng.random() < 0.3:
        policies = rng.choices([{}, {"restartPolicy": "Always"}], k=rng.randint(1, 3))
        spec["initContainers"] = [container(rng, f"i{i}", chance, **policy) for i, policy in enumerate(policies)]
    if rng.random() < 0.15:
        spec["resources"] = {"requests": some_requests(rng, 0.7, ("cpu", "memory"))}
    if rng.random() < 0.15:
        spec["overhead"] = {"cpu": "50m", "memory": "32Mi"}
    if node:
        spec["nodeName"] = node
    metadata = {"name": name, "namespace": "default", "uid": f"pods.default.{name}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def random_node(rng: random.Random, name: str) -> NaiveNode:
    offered = {resource: rng.choice(OFFERS[resource]) for resource in RESOURCES if rng.random() < 0.8}
    allocatable = {"cpu": "2", "memory": "4Gi", "pods": rng.choice(["1", "2", "3", "110"]), **offered}
    metadata = {"name": name, "uid": f"nodes..{name}"}
    manifest = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": allocatable}}
    return NaiveNode(manifest, [random_pod(rng, f"{name}-{i}", name) for i in range(rng.randint(0, 3))])


def pod_of(manifest: Manifest) -> Pod:
    pod = decode_manifest(manifest)
    assert isinstance(pod, Pod)
    return pod


@dataclass
class World:
    nodes: dict[str, NaiveNode]
    snapshot: Snapshot

    @classmethod
    def random(cls, rng: random.Random) -> World:
        nodes = {f"n{i}": random_node(rng, f"n{i}") for i in range(rng.randint(1, 5))}
        typed = []
        for node in nodes.values():
            decoded = decode_manifest(node.manifest)
            assert isinstance(decoded, Node)
            typed.append(decoded)
        return cls(nodes, cluster(typed, [pod_of(pod) for node in nodes.values() for pod in node.pods]))


def check_filter(world: World, manifest: Manifest, ignored: frozenset[str], seen: Counter[str]) -> None:
    plugin = NodeResourcesFit(NodeResourcesFitArgs(ignored_resources=tuple(sorted(ignored))).defaulted(), NO_HANDLE)
    got = run_filter(plugin, pod_of(manifest), world.snapshot)
    for name, node in world.nodes.items():
        want = naive.fit(manifest, node, ignored)
        assert got.get(name, ()) == want
        seen.update(want or ["passes"])


def check_what_if(world: World, manifest: Manifest, rng: random.Random) -> None:
    """The same question as if one pod had gone and another had come, without touching the snapshot."""
    plugin = NodeResourcesFit(NodeResourcesFitArgs().defaulted(), NO_HANDLE)
    state, info = CycleState(), PodInfo(pod_of(manifest))
    plugin.pre_filter(state, info, world.snapshot)
    plan = plugin.filter_plan(state, info, world.snapshot)
    assert callable(plan.reasons)
    for name, node in world.nodes.items():
        come = [random_pod(rng, "come", name)] if rng.random() < 0.5 else []
        change = Change(
            world.snapshot.row(name),
            added=[PodInfo(pod_of(pod)) for pod in come],
            removed=[PodInfo(pod_of(pod)) for pod in node.pods[:1]],
        )
        code = int(plan.kernel(*(each.gather_changed(change) for each in plan.inputs))[0])
        reason = plan.reasons(code)
        want = naive.fit(manifest, NaiveNode(node.manifest, [*node.pods[1:], *come]), frozenset())
        assert ((reason.code.name_, *reason.texts) if code else ()) == want


def check_scores(world: World, manifest: Manifest, rng: random.Random) -> None:
    resources = [(name, rng.randint(1, 5)) for name in rng.sample(RESOURCES, rng.randint(1, 4))]
    points = sorted(rng.sample(range(101), rng.randint(1, 4)))
    shape = [(point, rng.randint(0, 10)) for point in points]
    for strategy in ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"):
        ratio = RequestedToCapacityRatioParam(
            shape=tuple(UtilizationShapePoint(utilization=u, score=s) for u, s in shape)
        )
        args = NodeResourcesFitArgs(
            scoring_strategy=ScoringStrategy(
                type=strategy,
                resources=tuple(ResourceSpec(name=name, weight=weight) for name, weight in resources),
                requested_to_capacity_ratio=ratio if strategy == "RequestedToCapacityRatio" else None,
            )
        )
        got = run_score(NodeResourcesFit(args.defaulted(), NO_HANDLE), pod_of(manifest), world.snapshot)
        want = {name: naive.fit_score(manifest, node, strategy, resources, shape) for name, node in world.nodes.items()}
        assert got == want, strategy


def check_balance(world: World, manifest: Manifest, rng: random.Random) -> None:
    names = rng.sample(RESOURCES, rng.randint(1, 4))
    args = NodeResourcesBalancedAllocationArgs(resources=tuple(ResourceSpec(name=name, weight=1) for name in names))
    got = run_score(NodeResourcesBalancedAllocation(args.defaulted(), NO_HANDLE), pod_of(manifest), world.snapshot)
    want = {name: naive.balanced_score(manifest, node, names) for name, node in world.nodes.items()}
    if None in want.values():
        assert not isinstance(got, dict)
        assert got.code.name_ == "Skip"
    else:
        assert got == want


def live_through(seed: int, seen: Counter[str]) -> None:
    rng = random.Random(seed)
    for _ in range(CLUSTERS_PER_WORLD):
        world = World.random(rng)
        for i in range(2):
            manifest = random_pod(rng, f"incoming-{i}")
            check_filter(world, manifest, frozenset(), seen)
            check_filter(world, manifest, frozenset([GPU]), seen)
            check_what_if(world, manifest, rng)
            check_scores(world, manifest, rng)
            check_balance(world, manifest, rng)


@settings(max_examples=80, deadline=None)
@given(WORLDS)
def test_columns_give_what_a_walk_over_the_pods_of_each_node_gives(seed: int) -> None:
    live_through(seed, Counter())


def test_the_random_clusters_reach_every_verdict() -> None:
    seen: Counter[str] = Counter()
    for seed in range(10):
        live_through(seed, seen)
    reasons = {"Too many pods", *(f"Insufficient {name}" for name in RESOURCES)}
    assert reasons | {"passes", "Unschedulable", "UnschedulableAndUnresolvable"} <= seen.keys()
    assert np.median(list(seen.values())) > 30

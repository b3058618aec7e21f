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
from framework.interface import Column, CycleState, PodInfo
from framework.kernels.amounts import (
    EXACT,
    PREPARED,
    Amount,
    least_allocated,
    most_allocated,
    shares,
    weighted_mean,
)
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
from framework.plugins.noderesources.balanced import gain
from framework.plugins.noderesources.whole import is_whole, mean_utilization
from tests.examples import examples
from tests.plugins import naive_resources as naive
from tests.plugins.domain_worlds import PodsChange
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
        change = PodsChange(
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


@settings(max_examples=examples(80), deadline=None)
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


# --- whole numbers in float64 -----------------------------------------------------------------------------------------

INT64 = 1 << 63
EDGES = (0, 1, 2, 3, 99, 100, 101, EXACT - 1, EXACT, EXACT + 1, 1 << 53, (1 << 53) + 1, INT64 // 100, INT64 - 1)
AMOUNTS = st.one_of(st.sampled_from(EDGES), st.integers(0, 300), st.integers(0, EXACT), st.integers(0, INT64 - 1))
NODES = st.lists(st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS), min_size=1, max_size=6)
"""Of each node: cpu offered and used, memory offered and used."""


def wrapped(value: int) -> int:
    return (value + INT64) % (2 * INT64) - INT64


def go_score(strategy: str, offered: int, used: int, asked: int) -> int:
    wanted = wrapped(used + asked)
    if strategy == "LeastAllocated":
        part = 0 if wanted > offered else naive.truncated(wrapped(wrapped(offered - wanted) * 100), offered)
    else:
        part = naive.truncated(wrapped(min(wanted, offered) * 100), offered)
    return part


def go_mean(parts: list[tuple[int, int]]) -> int:
    """(score, weight)"""
    weights = sum(weight for _, weight in parts)
    total = wrapped(sum(wrapped(score * weight) for score, weight in parts))
    return naive.truncated(total, weights) if weights else 0


def column_of(nodes: list[tuple[int, int, int, int]], *, exact: bool) -> Column:
    """``exact`` False: as if nothing were known of the numbers."""
    offered_cpu, used_cpu, offered_memory, used_memory = (
        np.array(each, dtype=np.int64) for each in zip(*nodes, strict=True)
    )
    nothing = np.zeros(len(nodes), dtype=np.int64)
    return Column(
        ("cpu", "memory"),
        (offered_cpu, offered_memory),
        (used_cpu, used_memory),
        used_cpu,
        used_memory,
        nothing,
        nothing,
        (bool(offered_cpu.all()), bool(offered_memory.all())) if exact else (False, False),
        max(map(max, nodes)) if exact else None,
    )


@settings(max_examples=400, deadline=None)
@given(NODES, AMOUNTS, AMOUNTS, st.sampled_from([(1, 1), (3, 1), (100, 7)]))
def test_quotients_are_go_s_whether_they_are_worked_out_in_int64_or_in_float64(
    nodes: list[tuple[int, int, int, int]], cpu: int, memory: int, weights: tuple[int, int]
) -> None:
    amounts = [Amount("cpu", weights[0], cpu), Amount("memory", weights[1], memory)]
    for strategy, score in (("LeastAllocated", least_allocated), ("MostAllocated", most_allocated)):
        want = []
        for offered_cpu, used_cpu, offered_memory, used_memory in nodes:
            parts = []
            if offered_cpu:
                parts.append((go_score(strategy, offered_cpu, used_cpu, cpu), weights[0]))
            if offered_memory:
                parts.append((go_score(strategy, offered_memory, used_memory, memory), weights[1]))
            want.append(go_mean(parts))
        for exact in (True, False):
            column = column_of(nodes, exact=exact)
            found = shares(column, amounts, non_zero=True)
            assert weighted_mean(found, score, len(nodes)).tolist() == want, (strategy, exact)
            if is_whole(column, amounts):
                most = strategy == "MostAllocated"
                assert mean_utilization(column, amounts, most=most).tolist() == want, strategy


@settings(max_examples=400, deadline=None)
@given(NODES, AMOUNTS, AMOUNTS)
def test_balance_is_the_same_for_numbers_known_to_be_small(
    nodes: list[tuple[int, int, int, int]], cpu: int, memory: int
) -> None:
    amounts = [Amount("cpu", 1, cpu), Amount("memory", 1, memory)]
    known, unknown = (gain(column_of(nodes, exact=exact), amounts).tolist() for exact in (True, False))
    assert known == unknown
    for (offered_cpu, used_cpu, offered_memory, used_memory), got in zip(nodes, known, strict=True):
        before = [(used, of) for used, of in ((used_cpu, offered_cpu), (used_memory, offered_memory)) if of]
        asked = [amount for amount, of in ((cpu, offered_cpu), (memory, offered_memory)) if of]
        after = [(wrapped(used + more), of) for (used, of), more in zip(before, asked, strict=True)]
        if all(used >= 0 for used, _ in after):
            assert got == 50 + naive.truncated(50 + naive.balance(after) - naive.balance(before), 2)


def test_the_way_in_float64_is_taken_for_numbers_up_to_the_bound() -> None:
    for largest, asked, exact in ((EXACT, 1, True), (EXACT + 1, 1, False), (5, EXACT, True), (5, EXACT + 1, False)):
        column = column_of([(largest, 0, 1, 0)], exact=True)
        (share,) = shares(column, [Amount("cpu", 1, asked)], non_zero=True)
        assert share.exact is exact


OF_FIVE = st.tuples(st.lists(st.integers(0, 5), min_size=5, max_size=5), st.lists(AMOUNTS, min_size=5, max_size=5))


def column_of_some(nodes: list[tuple[list[int], list[int]]], count: int) -> Column:
    """(offered, used) of five resources per node, of which the first ``count`` are looked at."""
    offered, used = (np.array([node[i] for node in nodes], dtype=np.int64).T for i in (0, 1))
    nothing = np.zeros(len(nodes), dtype=np.int64)
    return Column(
        RESOURCES[:count],
        tuple(offered[:count]),
        tuple(used[:count]),
        used[0],
        used[1],
        nothing,
        nothing,
        tuple(bool(each.all()) for each in offered[:count]),
        int(max(offered.max(), used.max())),
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(OF_FIVE, min_size=2, max_size=5), st.integers(0, 5), st.booleans())
def test_what_nodes_are_without_the_pod_is_the_same_one_by_one(
    nodes: list[tuple[list[int], list[int]]], count: int, odd: bool
) -> None:
    """Python reckons for one row, NumPy for many."""
    nodes = [([3 * each + odd for each in offered], used) for offered, used in nodes]
    column = column_of_some(nodes, count)
    together, everywhere = PREPARED(column), column.everywhere
    for i, node in enumerate(nodes):
        alone = PREPARED(column_of_some([node], count)._replace(everywhere=everywhere))
        assert alone[:, 0].tolist() == together[:, i].tolist()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(1, 40), min_size=5, max_size=5), st.lists(st.integers(0, 50), min_size=5, max_size=5)
        ),
        min_size=1,
        max_size=5,
    ),
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 100)), min_size=5, max_size=5),
    st.booleans(),
)
def test_fewer_passes_give_the_same_mean(
    nodes: list[tuple[list[int], list[int]]], count: int, asked: list[tuple[int, int]], most: bool
) -> None:
    column = column_of_some(nodes, count)
    amounts = [Amount(name, weight, amount) for name, (amount, weight) in zip(RESOURCES[:count], asked, strict=False)]
    assert is_whole(column, amounts)
    slow = weighted_mean(
        shares(column, amounts, non_zero=True), most_allocated if most else least_allocated, len(nodes)
    )
    assert mean_utilization(column, amounts, most=most).tolist() == slow.tolist()

"""InterPodAffinity's columns against the naive evaluation: verdicts, scores, what-ifs, over clusters that change."""

from __future__ import annotations

import random
from collections import Counter
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.columns import incremental
from framework.interface import SKIP, CycleState, Handle, NodeInfo, PodInfo
from framework.objects import Namespace, Node
from framework.plugins.interpodaffinity.args import InterPodAffinityArgs
from framework.plugins.interpodaffinity.plugin import REASONS, InterPodAffinity
from tests.builders import make_pod
from tests.examples import examples
from tests.plugins import naive_interpod
from tests.plugins.domain_worlds import (
    NAMESPACES,
    ReusedColumn,
    World,
    evaluate,
    evaluate_changed,
    random_labels,
    random_pod_affinity,
)
from tests.plugins.naive_spread import Verdict

WORLDS = st.integers(0, 2**32 - 1)


def verdict(code: int) -> Verdict:
    return (REASONS[code].code.name_, *REASONS[code].texts) if code else None  # type: ignore[return-value]


def node_of(info: NodeInfo) -> Node:
    assert info.node is not None
    return info.node


class Checked:
    """One incoming pod that is tried again and again while its cluster changes."""

    def __init__(self, world: World, number: int, chance: float) -> None:
        rng = world.rng
        affinity = random_pod_affinity(rng, chance)
        pod = make_pod(
            f"incoming-{number}",
            namespace=rng.choice(NAMESPACES),
            labels=random_labels(rng),
            affinity=affinity or None,
        )
        self.world = world
        self.pod = PodInfo(pod)
        self.args = InterPodAffinityArgs(
            hard_pod_affinity_weight=rng.choice([0, 1, 1, 50]),
            ignore_preferred_terms_of_existing_pods=rng.random() < 0.3,
        )
        self.plugin = InterPodAffinity(self.args, cast(Handle, world.store))
        self.filter_column = ReusedColumn()
        self.score_column = ReusedColumn()
        self.seen: Counter[Verdict] = Counter()

    def check_filter(self) -> None:
        world, state = self.world, CycleState()
        view = world.snapshot
        want = naive_interpod.pre_filter(self.pod, world.nodes(), world.store.list(Namespace))
        _, status = self.plugin.pre_filter(state, self.pod, view)
        assert (status is SKIP) == (want is None)
        if want is None:
            return
        plan = self.plugin.filter_plan(state, self.pod, view)
        assert plan is not None
        got = self.filter_column.values(plan, view.row_count)
        for info in world.nodes():
            expected = want.filter(node_of(info))
            self.seen[expected] += 1
            assert verdict(int(got[world.row(info)])) == expected
        for info in world.rng.sample(list(world.nodes()), min(3, len(world.names))):
            change = world.random_change(info)
            changed = want.clone()
            for pod in change.removed:
                changed.update(pod, node_of(info), -1)
            for pod in change.added:
                changed.update(pod, node_of(info), 1)
            assert verdict(evaluate_changed(plan, change)) == changed.filter(node_of(info))

    def check_score(self) -> None:
        world, state, args = self.world, CycleState(), self.args
        nodes = world.nodes()
        feasible = [info for info in nodes if world.rng.random() < 0.8] or list(nodes)
        want = naive_interpod.scores(
            self.pod,
            nodes,
            feasible,
            world.store.list(Namespace),
            hard_weight=args.hard_pod_affinity_weight,
            ignore_existing=args.ignore_preferred_terms_of_existing_pods,
        )
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


def live_through(seed: int) -> list[Checked]:
    rng = random.Random(seed)
    world = World.random(rng)
    pods = [Checked(world, i, chance) for i, chance in enumerate((0.0, 0.5, 0.8, 0.8))]
    for _ in range(6):
        for each in pods:
            each.check_filter()
            each.check_score()
        for _ in range(rng.randint(1, 4)):
            world.happen()
    return pods


@settings(max_examples=examples(300), deadline=None)
@given(WORLDS)
def test_terms_of_both_sides_give_what_a_walk_over_all_pods_gives(seed: int) -> None:
    live_through(seed)


def test_the_random_worlds_reach_every_verdict_and_spare_rows() -> None:
    pods = [each for seed in range(30) for each in live_through(seed)]
    seen = sum((each.seen for each in pods), Counter[Verdict]())
    wanted = (None, naive_interpod.NOT_NEAR, naive_interpod.NOT_APART, naive_interpod.UNWANTED)
    assert min(seen[outcome] for outcome in wanted) > 20
    assert sum(each.filter_column.rows_spared for each in pods) > 300
    assert sum(each.score_column.rows_spared for each in pods) > 300


@pytest.mark.parametrize("seed", range(15))
def test_readers_that_fell_behind_start_over(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "KEPT", 2)
    live_through(seed)

"""Where a placed pod would go now is where the engine puts it when it really goes and comes again."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.advice import place_again
from framework.advice.placed_again import as_new
from framework.advice.scratch import is_pending, placed_and_rest
from framework.objects import Node, Pod
from framework.scheduler import Cluster, Observer, Scheduler
from tests.advice.test_all_nodes import configured
from tests.advice.worlds import random_scheduler, scheduler_over
from tests.builders import make_node, make_pod


def really(scheduler: Scheduler, pod: Pod) -> Scheduler:
    """The cluster without its pending pods, in which the pod is deleted and created anew under everybody's eyes."""
    cluster = Cluster()
    for obj in placed_and_rest(scheduler):
        if not is_pending(obj):
            cluster.put(obj)
    real = Scheduler(
        configured(100), scheduler.registry, start=scheduler.now, seed=1, ties="seeded", observer=Observer(),
        cluster=cluster,
    )  # fmt: skip
    cluster.delete(pod)
    cluster.create_admitted(replace(as_new(pod), spec=replace(pod.spec, node_name="", preemption_policy="Never")))
    return real


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_it_goes_where_the_engine_puts_it(seed: int) -> None:
    rng = random.Random(seed)
    scheduler = random_scheduler(rng, pending=2)
    placed = [pod for pod in scheduler.cluster.list(Pod) if pod.spec.node_name]
    if not placed:
        return
    pod = rng.choice(placed)
    before = pickle.dumps(scheduler.cluster)
    found = place_again(scheduler, pod)
    assert pickle.dumps(scheduler.cluster) == before
    attempt = really(scheduler, pod).step()
    assert attempt is not None
    assert found.feasible == attempt.feasible_nodes
    assert (found.to == "") == (attempt.result == "failed")
    assert attempt.filter is not None
    feasible = {attempt.filter.nodes[i] for i in (attempt.filter.verdict == 0).nonzero()[0]}
    assert (found.rank > 0) == (found.node in feasible)
    assert (found.plugin == "") == (found.rank > 0)
    if attempt.scores is not None and attempt.scores.places:
        names = [attempt.filter.nodes[position] for position in attempt.scores.positions]
        totals = dict(zip(names, attempt.scores.total.tolist(), strict=True))
        assert {row.node: row.total for row in found.ranked} == {row.node: totals[row.node] for row in found.ranked}
        assert found.tied == sum(total == max(totals.values()) for total in totals.values())
        assert totals[found.to] == max(totals.values())
        better = sum(total > totals.get(found.node, 0) for total in totals.values())
        assert found.rank == (1 + better if found.node in totals else 0)


def world(*objects: Node | Pod) -> Scheduler:
    cluster = Cluster()
    for obj in objects:
        cluster.put(obj)
    return scheduler_over(cluster)


def test_its_own_room_counts_as_free_and_its_node_may_be_the_only_one() -> None:
    pod = make_pod("p", node_name="full", requests={"cpu": "4"})
    found = place_again(world(make_node("full", cpu="4"), make_node("small", cpu="2"), pod), pod)
    assert (found.to, found.rank, found.feasible, found.nodes, found.tied) == ("full", 1, 1, 2, 0)


def test_a_node_that_would_refuse_it_now_says_why() -> None:
    tainted = make_node("a", cpu="4", taints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}])
    pod = make_pod("p", node_name="a", requests={"cpu": "1"})
    found = place_again(world(tainted, make_node("b", cpu="4"), pod), pod)
    assert (found.to, found.rank, found.plugin) == ("b", 0, "TaintToleration")
    assert found.reasons == ("node(s) had untolerated taint(s)",)


def test_a_node_that_is_gone_and_no_place_anywhere() -> None:
    pod = make_pod("p", node_name="gone", requests={"cpu": "8"})
    found = place_again(world(make_node("b", cpu="4"), pod), pod)
    assert (found.to, found.rank, found.plugin) == ("", 0, "")
    assert found.reasons == ('node "gone" not found',)
    assert found.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


@pytest.mark.parametrize(
    ("change", "said"), [({"node_name": ""}, "has no node"), ({"scheduler_name": "other"}, "no profile for")]
)
def test_what_cannot_be_asked(change: dict[str, str], said: str) -> None:
    pod = make_pod("p", node_name="b", requests={"cpu": "1"})
    pod = replace(pod, spec=replace(pod.spec, **change))
    with pytest.raises(ValueError, match=said):
        place_again(world(make_node("b", cpu="4"), pod), pod)

"""What capacity says is what happens when the pods or the nodes really come."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.advice import how_many_fit, nodes_until_all_fit
from framework.advice.scratch import LastAttempts, is_pending, node_like, placed_and_rest, run_until_quiet, scratch
from framework.objects import Node, Pod
from framework.objects.resources import node_allocatable, pod_requests
from framework.scheduler import Cluster, Scheduler
from tests.advice.worlds import random_node, random_pod, random_scheduler, scheduler_over
from tests.builders import make_node, make_pod

WORLDS = st.integers(0, 2**32 - 1)


@settings(max_examples=60, deadline=None)
@given(WORLDS)
def test_as_many_as_it_says_are_placed_and_the_next_is_not(seed: int) -> None:
    rng = random.Random(seed)
    scheduler = random_scheduler(rng, pending=2)
    before = pickle.dumps(scheduler.cluster)
    template = random_pod(rng, "asked")
    found = how_many_fit(scheduler, template, limit=40)
    assert sum(node.fits for node in found.nodes) == found.fits
    assert pickle.dumps(scheduler.cluster) == before
    if found.at_limit:
        assert found.fits == 40
        return
    assert found.message.startswith(f"0/{len(found.nodes)} nodes are available: ")
    assert all(node.plugin and node.reasons for node in found.nodes)
    # Putting them there by hand leaves room for nobody, and takes no more than the nodes have.
    cluster = Cluster()
    for obj in scheduler.cluster.all():
        if not is_pending(obj):
            cluster.put(obj)
    for node in found.nodes:
        for i in range(node.fits):
            cluster.put(copy_on(template, f"{node.node}-{i}", node.node))
    assert how_many_fit(scheduler_over(cluster), template, limit=1).fits == 0


def copy_on(template: Pod, name: str, node: str) -> Pod:
    metadata = replace(template.metadata, name=name, uid=name)
    return replace(template, metadata=metadata, spec=replace(template.spec, node_name=node))


def left_with(scheduler: Scheduler, shape: Node, count: int) -> set[str]:
    outcomes = LastAttempts()
    nodes = [node_like(shape, number) for number in range(count)]
    trial = scratch(scheduler, [*placed_and_rest(scheduler), *nodes], outcomes)
    run_until_quiet(trial, outcomes)
    return {pod.key for pod in trial.cluster.list(Pod) if not pod.spec.node_name}


@settings(max_examples=40, deadline=None)
@given(WORLDS)
@example(275988797)  # one node takes two pending pods, and three others lose their places by it
def test_the_number_of_nodes_helps_everybody_it_can_and_no_smaller_one_does(seed: int) -> None:
    rng = random.Random(seed)
    scheduler = random_scheduler(rng, pending=rng.randint(1, 8))
    shape = random_node(rng, "shape")
    limit = 12
    found = nodes_until_all_fit(scheduler, shape, limit)
    never = {stuck.pod for stuck in found.never}
    left = [left_with(scheduler, shape, count) - never for count in range(found.nodes + 1)]
    assert not left[found.nodes]
    assert all(left[: found.nodes])
    assert left_with(scheduler, shape, limit) == never
    assert len(left[0]) == found.helped
    if found.nodes:
        assert len(left[found.nodes - 1]) == found.with_one_less


def test_a_pod_that_waits_for_a_gate_is_none() -> None:
    cluster = Cluster()
    cluster.put(make_node("a"))
    gated = make_pod("gated", schedulingGates=[{"name": "example.com/quota"}])
    cluster.put(gated)
    found = how_many_fit(scheduler_over(cluster), gated, limit=5)
    assert found.fits == 5  # one more like it would come without the gate
    needed = nodes_until_all_fit(scheduler_over(cluster), make_node("a"))
    assert [(stuck.pod, stuck.message) for stuck in needed.never] == [
        ("default/gated", "waiting for scheduling gates: [example.com/quota]")
    ]


def test_nobody_is_evicted_for_the_answer() -> None:
    cluster = Cluster()
    cluster.put(make_node("a", cpu="1"))
    cluster.put(make_pod("low", requests={"cpu": "1"}, node_name="a", priority=0))
    found = how_many_fit(scheduler_over(cluster), make_pod("high", requests={"cpu": "1"}, priority=1000))
    assert found.fits == 0
    assert found.message == "0/1 nodes are available: 1 Insufficient cpu."
    assert found.nodes[0].can_become_free


def test_messages_say_nothing_of_a_policy_that_the_pod_does_not_have() -> None:
    cluster = Cluster()
    cluster.put(make_node("a", cpu="1"))
    cluster.put(make_pod("large", requests={"cpu": "8"}))
    needed = nodes_until_all_fit(scheduler_over(cluster), make_node("b", cpu="2"), limit=1)
    assert [stuck.message for stuck in needed.never] == ["0/2 nodes are available: 2 Insufficient cpu."]


def test_a_scheduler_name_without_profile_is_named() -> None:
    with pytest.raises(ValueError, match="no profile for schedulerName other"):
        how_many_fit(random_scheduler(random.Random(1), pending=0), make_pod("p", schedulerName="other"))


def test_the_estimate_to_start_from_counts_what_the_shape_offers() -> None:
    cluster = Cluster()
    cluster.put(make_node("full", cpu="1"))
    cluster.put(make_pod("there", requests={"cpu": "1"}, node_name="full"))
    for i in range(30):
        cluster.put(make_pod(f"p{i}", requests={"cpu": "1"}))
    shape = make_node("shape", cpu="4")
    assert node_allocatable(shape)["cpu"] == 4 * pod_requests(make_pod("p", requests={"cpu": "1"}))["cpu"]
    found = nodes_until_all_fit(scheduler_over(cluster), shape)
    assert (found.nodes, found.helped, found.with_one_less, found.never) == (8, 30, 2, ())

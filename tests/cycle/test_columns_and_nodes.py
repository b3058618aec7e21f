"""All nodes at once or one after the other: the same verdicts, feasible nodes and next start (property test)."""

from __future__ import annotations

import random
from typing import ClassVar

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.configuration.feature_gates import feature_gates
from framework.interface import CycleState, FilterPlugin, NodeInfo, Status
from framework.objects import Node, Pod
from framework.scheduler import Attempt
from tests.builders import make_node, make_pod
from tests.cycle.small import FILTERS, SmallCluster


class LetsPass(FilterPlugin):
    """Forces the walk from node to node."""

    name: ClassVar[str] = "LetsPass"

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return None


def nodes(rng: random.Random) -> list[Node]:
    made = []
    for i in range(rng.randint(1, 140)):
        taints = [{"key": "spot", "effect": "NoSchedule"}] if rng.random() < 0.2 else []
        labels = {"disk": rng.choice(["ssd", "hdd"])}
        cordoned = rng.random() < 0.1
        made.append(make_node(f"n{i}", labels=labels, taints=taints, unschedulable=cordoned, cpu=rng.choice("0124")))
    return made


def pod(rng: random.Random, number: int, nominated: str = "") -> Pod:
    spec = {"nodeSelector": {"disk": "ssd"}} if rng.random() < 0.3 else {}
    ports = [{"containerPort": 80, "hostPort": 80}] if rng.random() < 0.3 else []
    cpu, priority = rng.choice(["0", "500m", "1500m"]), rng.choice([0, 5])
    made = make_pod(f"p{number}", requests={"cpu": cpu}, ports=ports, priority=priority, **spec)  # type: ignore[arg-type]
    return replace(made, status=replace(made.status, nominated_node_name=nominated))


def shown(trace: Attempt) -> object:
    assert trace.filter is not None
    verdict = [None if v < 0 else trace.filter.verdicts[v] for v in trace.filter.verdict.tolist()]
    found = None if trace.scores is None else trace.scores.positions.tolist()
    return verdict, found, trace.selected, trace.message, trace.evaluated_nodes, trace.unschedulable_plugins


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), percentage=st.sampled_from([1, 70, 100]))
def test_both_ways_of_filtering_decide_the_same(seed: int, percentage: int) -> None:
    rng = random.Random(seed)
    listed = nodes(rng)
    # LetsPass signs no pods, so that one of the two would not batch.
    gates = feature_gates({"OpportunisticBatching": False})
    at_once = SmallCluster(listed, percentage=percentage, gates=gates)
    one_by_one = SmallCluster(
        listed, percentage=percentage, more=[LetsPass], points={"filter": (*FILTERS, "LetsPass")}, gates=gates
    )
    # Nominated pods come last: while the others are tried they wait in the queue, and their nodes are filtered twice.
    pods = [pod(rng, number, nominated=rng.choice(listed).name if number > 5 else "") for number in range(10)]
    for cluster in (at_once, one_by_one):
        for each in pods:
            cluster.scheduler.cluster.create_admitted(each)
    for _ in pods:
        traces = [cluster.scheduler.step() for cluster in (at_once, one_by_one)]
        assert traces[0] is not None
        assert traces[1] is not None
        assert shown(traces[0]) == shown(traces[1])
        starts = [cluster.scheduler.core.next_start_node_index for cluster in (at_once, one_by_one)]
        assert starts[0] == starts[1]


def test_a_nominated_pod_keeps_its_room_from_pods_of_at_most_its_priority() -> None:
    cluster = SmallCluster([make_node("n1", cpu="1")]).scheduler
    nominee = make_pod("nominee", requests={"cpu": "1"}, priority=5)
    nominee = replace(nominee, status=replace(nominee.status, nominated_node_name="n1"))
    for each in (make_pod("equal", requests={"cpu": "1"}, priority=5), nominee):
        cluster.cluster.create_admitted(each)
    equal = cluster.step()
    assert equal is not None
    assert (equal.pod, equal.message) == ("default/equal", "0/1 nodes are available: 1 Insufficient cpu.")
    cluster.cluster.create_admitted(make_pod("higher", requests={"cpu": "1"}, priority=6))
    higher = cluster.step()
    assert higher is not None
    assert (higher.pod, higher.selected) == ("default/higher", "n1")


def test_positions_of_feasible_nodes_are_in_visit_order() -> None:
    cluster = SmallCluster([make_node(f"n{i}") for i in range(5)])
    cluster.scheduler.core.next_start_node_index = 3
    trace = cluster.schedule(make_pod("p"))
    assert trace.scores is not None
    assert trace.scores.positions.tolist() == [3, 4, 0, 1, 2]
    assert np.array_equal(trace.scores.candidates, trace.scores.positions)

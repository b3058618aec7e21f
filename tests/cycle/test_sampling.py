"""How many nodes are looked at, and which (docs/semantics/framework.md#sampling)."""

from __future__ import annotations

import pytest

from framework.cycle.find_nodes import feasible_nodes_to_find
from tests.builders import make_node, make_pod
from tests.cycle.small import SmallCluster


@pytest.mark.parametrize(
    ("percentage", "nodes", "want"),
    [
        (0, 50, 50),
        (1, 99, 99),
        (0, 100, 100),
        (0, 1000, 420),
        (0, 5000, 500),
        (0, 5625, 281),
        (0, 20000, 1000),
        (100, 5000, 5000),
        (1, 5000, 100),
        (30, 1000, 300),
    ],
)
def test_nodes_that_end_the_search(percentage: int, nodes: int, want: int) -> None:
    assert feasible_nodes_to_find(percentage, nodes) == want


def test_the_search_stops_at_the_first_feasible_node_too_many_and_goes_on_there_next_time() -> None:
    """101 nodes, 1 percent: 100 are wanted. Node 3 is full and has a status; node 100 is dropped without one."""
    nodes = [make_node(f"n{i:03}", cpu="0" if i == 3 else "4") for i in range(102)]
    cluster = SmallCluster(nodes, percentage=1)
    first = cluster.schedule(make_pod("first", requests={"cpu": "1"}))
    assert (first.feasible_nodes, first.evaluated_nodes) == (100, 101)
    assert first.filter is not None
    assert first.filter.verdict.tolist() == [0, 0, 0, 1, *[0] * 97, -1]
    second = cluster.schedule(make_pod("second", requests={"cpu": "1"}))
    assert second.scores is not None
    assert second.scores.positions[:3].tolist() == [101, 0, 1]


def test_without_score_plugins_one_node_is_enough() -> None:
    cluster = SmallCluster([make_node(f"n{i}", cpu="0" if i == 0 else "4") for i in range(4)], score=False)
    trace = cluster.schedule(make_pod("p", requests={"cpu": "1"}))
    assert trace.selected == "n1"
    assert trace.filter is not None
    assert trace.filter.verdict.tolist() == [1, 0, -1, -1]
    assert cluster.schedule(make_pod("q", requests={"cpu": "1"})).selected == "n2"

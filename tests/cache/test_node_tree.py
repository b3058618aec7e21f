"""The order of the node list (docs/semantics/cache.md#node-order)."""

from __future__ import annotations

import pytest

from framework.cache import NodeTree, zone_key
from framework.objects import Node
from tests.builders import make_node

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def node(name: str, zone: str = "") -> Node:
    return make_node(name, labels={ZONE: zone} if zone else {})


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        ({}, ""),
        ({ZONE: "a"}, ":\x00:a"),
        ({REGION: "r", ZONE: "a"}, "r:\x00:a"),
        ({ZONE: "a", OLD_ZONE: "b"}, ":\x00:b"),
        ({ZONE: "a", OLD_ZONE: ""}, ""),
    ],
)
def test_zone_of_a_node(labels: dict[str, str], want: str) -> None:
    assert zone_key(make_node("n", labels=labels)) == want


def tree(*nodes: Node) -> NodeTree:
    result = NodeTree()
    for each in nodes:
        result.add(each)
    return result


def test_zones_take_turns() -> None:
    made = tree(node("a1", "a"), node("a2", "a"), node("b1", "b"), node("a3", "a"))
    assert made.list() == ["a1", "b1", "a2", "a3"]


def test_a_known_node_of_the_same_zone_keeps_its_place() -> None:
    made = tree(node("a1", "a"), node("a2", "a"))
    made.add(node("a1", "a"))
    assert made.list() == ["a1", "a2"]
    assert len(made) == 2


def test_an_emptied_zone_comes_back_last() -> None:
    made = tree(node("a1", "a"), node("b1", "b"))
    made.remove("a1")
    made.add(node("a2", "a"))
    assert made.list() == ["b1", "a2"]


def test_a_node_that_changes_its_zone_goes_to_the_end_of_the_new_one() -> None:
    made = tree(node("a1", "a"), node("b1", "b"), node("b2", "b"))
    made.update(node("a1", "b"))
    assert made.list() == ["b1", "b2", "a1"]

"""The first sentence about a pending pod, for what people meet most."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from framework.interface import Code, Status
from schedweb.runs.filtering.filters import FilterView, NodeFacts, Wanted
from schedweb.runs.filtering.standing import read_node
from schedweb.runs.objects.claims import Objects
from schedweb.runs.pending.answers import pending_answer

GI = 1 << 30
RESOURCES = ["cpu", "memory", "nvidia.com/gpu"]
FIT = Status(Code.UNSCHEDULABLE, ("Insufficient cpu",), "NodeResourcesFit")
TAINT = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had untolerated taint(s)",), "TaintToleration")
CORDON = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) were unschedulable",), "NodeUnschedulable")
AFFINITY = Status(
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match Pod's node affinity/selector",), "NodeAffinity"
)


class Known:
    """Objects by kind, namespace and name."""

    def __init__(self, *objects: dict[str, Any]) -> None:
        self.objects = objects

    def get(self, kind: str, namespace: str, name: str) -> dict[str, Any] | None:
        for each in self.all(kind):
            if each["metadata"].get("namespace", "") == namespace and each["metadata"]["name"] == name:
                return each
        return None

    def all(self, kind: str) -> list[dict[str, Any]]:
        wanted, _, group = kind.partition(".")
        return [
            each for each in self.objects if each["kind"] == wanted and each.get("apiVersion", "").startswith(group)
        ]


def answer(
    nodes: dict[str, tuple[list[int], list[int], Status]],
    wanted: list[int],
    manifest: dict[str, Any] | None = None,
    refused: Status | None = None,
    objects: Objects | None = None,
) -> tuple[str, str]:
    """``nodes``: name → (allocatable, requested, what Filter said)."""
    view = FilterView.__new__(FilterView)
    view.trace = SimpleNamespace(pre_filter_status=refused)  # type: ignore[assignment]  # all that is read of it
    view.facts = {name: NodeFacts("a", "t", has, used) for name, (has, used, _) in nodes.items()}
    view.wanted = Wanted(RESOURCES, wanted)
    view.members, view.status, view.kept, view.filters = {}, {}, {}, ()
    view.out_of_reach = frozenset()
    for name, (_, _, status) in nodes.items():
        view.add(status, [name])
    standing = SimpleNamespace(nodes={name: read_node({"metadata": {"name": name}}) for name in nodes}, pods=[])
    return pending_answer(view, manifest or {}, objects or Known(), standing)


def test_no_node_has_enough_gpus_free() -> None:
    said = answer(
        {
            "big": ([48000, 191 * GI, 8], [1000, 0, 2], FIT),
            "small": ([8000, 31 * GI, 0], [0, 0, 0], FIT),
            "data": ([8000, 31 * GI, 0], [0, 0, 0], TAINT),
        },
        [20000, 96 * GI, 8],
    )
    assert said == (
        "No node has 8 free GPUs; the nearest, big, has 6.",
        "1 of 3 nodes has GPUs, 1 of those has 8. 1 of 3 nodes has a taint that it does not tolerate. "
        "Pods that leave can make room on 1, not on the other 2.",
    )


def test_the_nodes_it_may_use_are_full() -> None:
    nodes = {f"n{i}": ([8000, 31 * GI, 0], [6000 + 400 * i, 0, 0], FIT) for i in range(3)}
    nodes["cordoned"] = ([8000, 31 * GI, 0], [0, 0, 0], CORDON)
    headline, detail = answer(nodes, [2500, 0, 0])
    assert headline == "None of the 3 nodes that it may use has 2.5 free cpu; the nearest, n0, has 2."
    closed = "1 node with room is closed to it: cordoned is cordoned."
    assert detail == f"{closed} Pods that leave can make room on 3, not on the other one."


def test_no_node_is_large_enough() -> None:
    headline, _ = answer({"n": ([8000, 31 * GI, 0], [0, 0, 0], FIT)}, [24000, 96 * GI, 0])
    assert headline == "No node is that large: it asks for 96 Gi memory, the largest, n, has 31 Gi memory."


def test_large_enough_nodes_are_taken_to_the_last_unit() -> None:
    nodes = {name: ([8000, 31 * GI, 4], [0, 0, 4], FIT) for name in "ab"}
    assert answer(nodes, [100, 0, 1]) == ("No node has free GPUs; it asks for 1 GPU.", "")


def test_several_plugins_share_the_nodes_that_it_may_use() -> None:
    rules = Status(Code.UNSCHEDULABLE, ("node(s) didn't match pod anti-affinity rules",), "InterPodAffinity")
    nodes = {
        "full": ([8000, 31 * GI, 0], [8000, 0, 0], FIT),
        "web-1": ([8000, 31 * GI, 0], [0, 0, 0], rules),
        "web-2": ([8000, 31 * GI, 0], [0, 0, 0], rules),
        "data": ([8000, 31 * GI, 0], [0, 0, 0], TAINT),
    }
    assert answer(nodes, [100, 0, 0]) == (
        "None of the 3 nodes that it may use takes it: 2 are ruled out by pod anti-affinity, 1 has no room.",
        "Of those without room full is nearest, short of 0.1 cpu. "
        "1 of 4 nodes has a taint that it does not tolerate. Pods that leave can make room on 3, not on the other one.",
    )
    # What no node has decides, whoever else refuses.
    assert answer(nodes, [100, 0, 1])[0] == "No node has GPUs; it asks for 1 GPU."


def test_there_are_no_gpus_at_all() -> None:
    headline, _ = answer({"n": ([8000, 31 * GI, 0], [0, 0, 0], FIT)}, [100, 0, 1])
    assert headline == "No node has GPUs; it asks for 1 GPU."


def test_one_lacks_cpu_and_the_other_memory() -> None:
    headline, _ = answer(
        {"a": ([8000, 8 * GI, 0], [7000, 0, 0], FIT), "b": ([8000, 8 * GI, 0], [0, 7 * GI, 0], FIT)},
        [1500, 4 * GI, 0],
    )
    assert headline == "No node has room for all that it asks for; the nearest, a, lacks 0.5 cpu."


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"nodeSelector": {"kubernetes.io/os": "windows"}}, "No node has kubernetes.io/os=windows."),
        (
            {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {
                            "nodeSelectorTerms": [
                                {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a", "b"]}]}
                            ]
                        }
                    }
                }
            },
            "No node matches pool in (a,b).",
        ),
        ({}, "No node has the labels that its profile asks for."),
    ],
)
def test_no_node_has_the_labels(spec: dict[str, Any], words: str) -> None:
    headline, _ = answer({"n": ([1, 1, 0], [0, 0, 0], AFFINITY)}, [1, 1, 0], {"spec": spec})
    assert headline == words


def test_pre_filter_says_why() -> None:
    refused = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't satisfy plugin NodeAffinity",))
    assert answer({}, [1, 1, 0], refused=refused) == (
        "PreFilter refuses it before any node is looked at.",
        "node(s) didn't satisfy plugin NodeAffinity.",
    )


def test_a_cluster_without_nodes() -> None:
    assert answer({}, [1, 1, 0])[0] == "This cluster has no nodes, so every pod stays pending."

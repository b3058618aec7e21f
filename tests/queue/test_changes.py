"""One update, the events it is (docs/semantics/queue.md#events)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from framework.interface import ActionType
from framework.objects import NodeCondition, Pod
from framework.queue.changes import node_update_events, pod_update_events
from tests.builders import make_node, make_pod

A = ActionType


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        ({}, {"labels": {"a": "b"}}, [A.UPDATE_POD_LABEL]),
        ({"requests": {"cpu": "2"}}, {"requests": {"cpu": "1"}}, [A.UPDATE_POD_SCALE_DOWN]),
        ({"requests": {"cpu": "2"}}, {"requests": {}}, [A.UPDATE_POD_SCALE_DOWN]),
        ({"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}}, [A.UPDATE]),
        ({"schedulingGates": [{"name": "g"}]}, {}, [A.UPDATE_POD_SCHEDULING_GATES_ELIMINATED]),
        (
            {"schedulingGates": [{"name": "g"}, {"name": "h"}]},
            {"schedulingGates": [{"name": "g"}]},
            [A.UPDATE],
        ),
        ({}, {"tolerations": [{"operator": "Exists"}]}, [A.UPDATE_POD_TOLERATION]),
        (
            {"schedulingGates": [{"name": "g"}]},
            {"labels": {"a": "b"}, "tolerations": [{"operator": "Exists"}]},
            [A.UPDATE_POD_LABEL, A.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, A.UPDATE_POD_TOLERATION],
        ),
        ({}, {}, [A.UPDATE]),
    ],
)
def test_update_of_a_pod(old: dict[str, Any], new: dict[str, Any], want: list[ActionType]) -> None:
    events = pod_update_events(make_pod("p", **old), make_pod("p", **new))
    assert [event.action for event in events] == want
    assert {event.resource for event in events} == {"UnschedulablePod"}


def test_update_of_a_bound_pod_is_about_an_assigned_pod() -> None:
    pod: Pod = make_pod("p", node_name="n")
    assert [event.resource for event in pod_update_events(pod, pod)] == ["AssignedPod"]


def test_update_of_a_node_is_one_event_per_aspect_in_order() -> None:
    old = make_node("n", unschedulable=True)
    assert node_update_events(old, old) == []
    new = make_node("n", labels={"a": "b"}, cpu="9", taints=[{"key": "k", "effect": "NoSchedule"}])
    status = replace(new.status, conditions=(NodeCondition(type="Ready", status="True"),), declared_features=("F",))
    new = replace(new, status=status, metadata=replace(new.metadata, annotations={"a": "b"}))
    assert [event.action for event in node_update_events(old, new)] == [
        A.UPDATE_NODE_TAINT,
        A.UPDATE_NODE_ALLOCATABLE,
        A.UPDATE_NODE_LABEL,
        A.UPDATE_NODE_TAINT,
        A.UPDATE_NODE_CONDITION,
        A.UPDATE_NODE_ANNOTATION,
        A.UPDATE_NODE_DECLARED_FEATURE,
    ]


def test_cordoning_a_node_is_no_event() -> None:
    assert node_update_events(make_node("n"), make_node("n", unschedulable=True)) == []

"""Which registration covers which event, and what hints make of it.

Rules: docs/semantics/queue.md#events, docs/semantics/queue.md#requeueing.
"""

from __future__ import annotations

import pytest

from framework.interface import ActionType, ClusterEvent, ClusterEventWithHint, EventResource, PodInfo, QueueingHint
from framework.objects import KubeObject, Pod
from framework.queue import QueuedPodInfo, build_hint_map
from framework.queue.hints import event_label, matches
from framework.queue.requeue import Strategy, judge
from framework.queue.scheduling_queue import FORCE_ACTIVATE, UNSCHEDULABLE_TIMEOUT
from tests.builders import make_node, make_pod

A, R = ActionType, EventResource
NODE_ADD = ClusterEvent(R.NODE, A.ADD)


@pytest.mark.parametrize(
    ("registered", "incoming", "want"),
    [
        (ClusterEvent(R.NODE, A.ADD), ClusterEvent(R.NODE, A.ADD), True),
        (ClusterEvent(R.NODE, A.ADD), ClusterEvent(R.NODE, A.DELETE), False),
        (ClusterEvent(R.NODE, A.ALL), ClusterEvent(R.NODE, A.UPDATE_NODE_TAINT), True),
        (ClusterEvent(R.POD, A.DELETE), ClusterEvent(R.ASSIGNED_POD, A.DELETE), True),
        (ClusterEvent(R.POD, A.UPDATE), ClusterEvent(R.UNSCHEDULED_POD, A.UPDATE_POD_LABEL), True),
        (ClusterEvent(R.ASSIGNED_POD, A.DELETE), ClusterEvent(R.UNSCHEDULED_POD, A.DELETE), False),
        # A general update does not wake who registered for one kind of update, although the bits overlap.
        (ClusterEvent(R.POD, A.UPDATE_POD_LABEL), ClusterEvent(R.UNSCHEDULED_POD, A.UPDATE), False),
        (ClusterEvent(R.WILDCARD, A.ADD), ClusterEvent(R.NODE, A.ADD), True),
        (ClusterEvent(R.WILDCARD, A.ALL), ClusterEvent(R.NODE, A.DELETE), True),
        (ClusterEvent(R.NODE, A.ALL), UNSCHEDULABLE_TIMEOUT, False),
        (ClusterEvent("foos.v1.example.com", A.ADD), ClusterEvent("foos.v1.example.com", A.ADD), True),
    ],
)
def test_registration_covers_event(registered: ClusterEvent, incoming: ClusterEvent, want: bool) -> None:
    assert matches(registered, incoming) is want


@pytest.mark.parametrize(
    ("event", "want"),
    [
        (ClusterEvent(R.NODE, A.UPDATE_NODE_TAINT), "NodeUpdateNodeTaint"),
        (ClusterEvent(R.ASSIGNED_POD, A.DELETE), "AssignedPodDelete"),
        (ClusterEvent(R.UNSCHEDULED_POD, A.UPDATE), "UnschedulablePodUpdate"),
        (UNSCHEDULABLE_TIMEOUT, "UnschedulableTimeout"),
    ],
)
def test_label_of_an_event(event: ClusterEvent, want: str) -> None:
    assert event_label(event) == want


def test_who_waits_for_new_nodes_also_hears_of_changed_taints() -> None:
    hints = build_hint_map([("A", [ClusterEventWithHint(NODE_ADD)])])
    assert [f.plugin for f in hints.matching(ClusterEvent(R.NODE, A.UPDATE_NODE_TAINT))] == ["A"]
    own = ClusterEventWithHint(ClusterEvent(R.NODE, A.ADD | A.UPDATE_NODE_TAINT))
    assert len(build_hint_map([("A", [own])]).functions) == 1


def skip(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    return QueueingHint.SKIP


def fail(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    raise RuntimeError("no idea")


HINTS = build_hint_map(
    [
        ("Queues", [ClusterEventWithHint(NODE_ADD)]),
        ("Skips", [ClusterEventWithHint(NODE_ADD, skip)]),
        ("Fails", [ClusterEventWithHint(NODE_ADD, fail)]),
        ("Deaf", []),
    ]
)


@pytest.mark.parametrize(
    ("unschedulable", "pending", "event", "want"),
    [
        ({"Queues"}, set(), NODE_ADD, (Strategy.AFTER_BACKOFF, "Queues")),
        ({"Skips"}, set(), NODE_ADD, (Strategy.SKIP, "")),
        ({"Skips", "Queues"}, set(), NODE_ADD, (Strategy.AFTER_BACKOFF, "Queues")),
        ({"Fails"}, set(), NODE_ADD, (Strategy.AFTER_BACKOFF, "Fails")),
        ({"Queues"}, {"Queues"}, NODE_ADD, (Strategy.IMMEDIATELY, "Queues")),
        ({"Queues"}, {"Skips"}, NODE_ADD, (Strategy.AFTER_BACKOFF, "Queues")),
        ({"Deaf"}, set(), NODE_ADD, (Strategy.SKIP, "")),
        ({""}, set(), NODE_ADD, (Strategy.SKIP, "")),
        (set(), set(), NODE_ADD, (Strategy.AFTER_BACKOFF, "")),
        ({"Deaf"}, set(), UNSCHEDULABLE_TIMEOUT, (Strategy.AFTER_BACKOFF, "")),
    ],
)
def test_what_an_event_means_for_a_rejected_pod(
    unschedulable: set[str], pending: set[str], event: ClusterEvent, want: tuple[Strategy, str]
) -> None:
    pod = QueuedPodInfo(PodInfo(make_pod("p")), 0, unschedulable_plugins=unschedulable, pending_plugins=pending)
    assert judge(HINTS, pod, event, None, None) == want


def test_a_wildcard_event_that_is_aimed_at_another_pod_is_not_for_this_one() -> None:
    pod = QueuedPodInfo(PodInfo(make_pod("p")), 0, unschedulable_plugins={"Deaf"})
    assert judge(HINTS, pod, FORCE_ACTIVATE, None, make_pod("other")).strategy is Strategy.SKIP
    assert judge(HINTS, pod, FORCE_ACTIVATE, None, make_pod("p")).strategy is Strategy.AFTER_BACKOFF
    assert judge(HINTS, pod, FORCE_ACTIVATE, None, make_node("n")).strategy is Strategy.SKIP

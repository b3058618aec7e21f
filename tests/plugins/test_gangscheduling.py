"""GangScheduling by itself: which events wake a pod, and what it says without a group's state."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from framework.interface import Code, CycleState, Handle, QueueingHint
from framework.objects import KubeObject, Pod
from framework.objects.scheduling import SchedulingPodGroup
from framework.plugins.gangscheduling import GangScheduling
from tests.builders import make_pod
from tests.cycle.test_pod_groups import group, member


def plugin(found: SchedulingPodGroup | None = None, **more: Any) -> GangScheduling:
    objects = SimpleNamespace(get=lambda kind, namespace, name: found)
    handle = SimpleNamespace(objects=objects, pod_group=lambda namespace, name: None, **more)
    return GangScheduling(None, cast(Handle, handle))


@pytest.mark.parametrize(
    ("rejected", "new", "hint"),
    [
        (member("a"), member("b"), QueueingHint.QUEUE),
        (member("a"), member("b", of="other"), QueueingHint.SKIP),
        (member("a"), member("b", namespace="elsewhere"), QueueingHint.SKIP),
        (member("a"), make_pod("b"), QueueingHint.SKIP),
        (make_pod("a"), make_pod("b"), QueueingHint.SKIP),
        (member("a"), group(), QueueingHint.QUEUE),
        (member("a"), group("other"), QueueingHint.SKIP),
        (member("a", namespace="elsewhere"), group(), QueueingHint.SKIP),
        (make_pod("a"), group(), QueueingHint.SKIP),
    ],
    ids=["sister", "other group", "other namespace", "no group", "neither", "own", "another", "elsewhere", "single"],
)
def test_hints(rejected: Pod, new: KubeObject, hint: QueueingHint) -> None:
    registered = plugin().events_to_register()[isinstance(new, SchedulingPodGroup)]
    assert registered.hint is not None
    assert registered.hint(rejected, None, new) is hint


def test_a_pod_without_a_group_is_not_its_business() -> None:
    assert plugin().pre_enqueue(make_pod("a")) is None
    assert plugin().permit(CycleState(), make_pod("a"), "n0") == (None, 0.0)


def test_a_basic_group_is_neither_gated_nor_made_to_wait() -> None:
    basic = plugin(group(minimum=None))
    assert basic.pre_enqueue(member("a")) is None
    assert basic.permit(CycleState(), member("a"), "n0") == (None, 0.0)


def test_switched_on_without_the_gate_that_counts_pods_it_fails() -> None:
    status = plugin(group()).pre_enqueue(member("a"))
    assert status is not None
    assert (status.code, status.message) == (Code.ERROR, "pod group state not found for pod group default/g")


def test_a_group_that_went_away_fails_on_permit() -> None:
    status, _ = plugin().permit(CycleState(), member("a"), "n0")
    assert status is not None
    assert status.message == 'failed to get podGroup default/g: podgroup.scheduling.k8s.io "g" not found'

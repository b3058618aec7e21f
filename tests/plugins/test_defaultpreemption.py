"""DefaultPreemption over cycles: victims leave, the nomination holds the place, the pod follows; and who may not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.interface.go_sort import go_sorted
from framework.objects import Pod, PodDisruptionBudget
from framework.objects.decode import decode_manifest
from tests.builders import make_node, make_pod
from tests.plugins.playing import Play

DEFAULT = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def low(name: str, on: str = "n1", cpu: str = "1", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, node_name=on, priority=more.pop("priority", 0), **more)


def high(name: str = "vip", cpu: str = "2", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, priority=1000, **more)


def budget(app: str, allowed: int) -> PodDisruptionBudget:
    manifest = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed},
    }
    made = decode_manifest(manifest)
    assert isinstance(made, PodDisruptionBudget)
    return made


def play(*objects: Any) -> Play:
    started = Play(DEFAULT, objects)
    started.cycles()
    return started


def test_victims_leave_and_the_pod_takes_their_place() -> None:
    played = play(make_node("n1"), *(low(f"l{i}") for i in range(4)), high())
    played.seconds(3)
    assert played.bound["vip"] == "n1"
    assert len(played.bound) == 3
    preempted = [e for e in played.seen.events if e.reason == "Preempted"]
    assert [e.note for e in preempted] == ["Preempted by pod pods.default.vip on node n1"] * 2
    result = played.seen.attempts[0].post_filter
    assert result is not None


def test_only_as_many_as_needed_and_the_least_important() -> None:
    played = play(
        make_node("n1"), low("a", priority=5), low("b", priority=4), low("c", priority=3), low("d", priority=2), high()
    )
    assert set(played.bound) >= {"a", "b"}
    assert not {"c", "d"} & set(played.bound)


def test_a_node_without_budget_violations_is_preferred() -> None:
    guarded = [low(f"g{i}", on="n1", cpu="4", labels={"app": "web"}) for i in range(1)]
    played = play(make_node("n1"), make_node("n2"), budget("web", 0), *guarded, low("free", on="n2", cpu="4"), high())
    assert "g0" in played.bound
    assert "free" not in played.bound


def test_never_does_not_preempt() -> None:
    played = play(make_node("n1"), low("l", cpu="4"), high(preemptionPolicy="Never"))
    assert "preemption: not eligible due to preemptionPolicy=Never." in played.message("vip")
    assert "l" in played.bound


def test_equal_priority_is_no_victim() -> None:
    played = play(make_node("n1"), low("l", cpu="4", priority=1000), high())
    text = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
    assert text + "0/1 nodes are available: 1 No preemption victims found for incoming pod." in played.message("vip")


def test_a_request_larger_than_the_node_evicts_nobody() -> None:
    played = play(make_node("n1"), low("l"), high(cpu="64"))
    assert "1 Preemption is not helpful for scheduling." in played.message("vip")
    assert "l" in played.bound


def test_the_nomination_keeps_others_of_lower_priority_away() -> None:
    played = play(make_node("n1"), *(low(f"l{i}") for i in range(4)), high(cpu="4"))
    played.create(make_pod("late", requests={"cpu": "1"}, priority=0))
    played.seconds(5)
    assert played.bound["vip"] == "n1"
    assert "late" not in played.bound


@given(st.lists(st.integers(0, 5), max_size=300))
def test_go_sort_sorts(numbers: list[int]) -> None:
    tagged = list(enumerate(numbers))
    in_order = go_sorted(tagged, lambda a, b: a[1] < b[1])
    assert [n for _, n in in_order] == sorted(numbers)
    assert sorted(in_order) == tagged


@pytest.mark.parametrize("length", range(13))
def test_go_sort_is_stable_up_to_twelve(length: int) -> None:
    tagged = [(random.Random(length + i).randrange(3), i) for i in range(length)]
    assert go_sorted(tagged, lambda a, b: a[0] < b[0]) == sorted(tagged, key=lambda pair: pair[0])


def test_go_sort_is_not_stable_above_twelve() -> None:
    """Pins the order among equals that the reprieve of equal victims depends on."""
    tagged = [(i % 3, i) for i in range(15)]
    in_order = go_sorted(tagged, lambda a, b: a[0] < b[0])
    assert in_order != sorted(tagged, key=lambda pair: pair[0])

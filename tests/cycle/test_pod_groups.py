"""The cycle of a pod group and GangScheduling (docs/semantics/pod-groups.md).

Expectations follow the branches of these files; there are no recorded decisions of gangs.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import pytest

from framework.configuration.load import load
from framework.objects import KubeObject, Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.scheduling import Condition, SchedulingPodGroup
from framework.plugins.registry import built_in_registry
from framework.scheduler import PointReached
from framework.trace.encoding import decode_attempts, encode_attempts
from tests.builders import make_node, make_pod
from tests.plugins.playing import Play

GATES = "# kube-scheduler --feature-gates=GangScheduling=true,GenericWorkload=true\n"
CONFIGURATION = f"""{GATES}apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""
UNSCHEDULABLE = "pod group is unschedulable"
MIN_COUNT = "waiting for minCount pods from a gang to be scheduled"
ASKED = "one or more plugins asked to wait and no plugin rejected pod"


def group(name: str = "g", minimum: int | None = 3) -> SchedulingPodGroup:
    policy: dict[str, Any] = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    metadata = {"name": name, "namespace": "default", "uid": f"podgroups.default.{name}", "generation": 4}
    manifest = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": {"schedulingPolicy": policy},
    }
    made = decode_manifest(manifest)
    assert isinstance(made, SchedulingPodGroup)
    return made


def member(name: str, cpu: str = "1", of: str = "g", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, schedulingGroup={"podGroupName": of}, **more)


def nodes(*cpus: int) -> list[Node]:
    return [make_node(f"n{i}", cpu=str(cpu)) for i, cpu in enumerate(cpus)]


def play(objects: Iterable[KubeObject], steps: int = 1, configuration: str = CONFIGURATION) -> Play:
    """A group that does not fit is tried again for ever, so steps are counted."""
    started = Play(configuration, objects)
    for _ in range(steps):
        started.scheduler.step()
    return started


def condition(played: Play, name: str = "g") -> Condition | None:
    found = played.scheduler.cluster.get(SchedulingPodGroup, "default", name)
    assert found is not None
    return found.status.conditions[0] if found.status.conditions else None


def told(played: Play) -> dict[str, tuple[str, str]]:
    """Pod → result and message of its last attempt."""
    return {trace.pod.partition("/")[2]: (trace.result, trace.message) for trace in played.seen.attempts}


def gated(played: Play) -> dict[str, str]:
    return {pod.key: pod.gating_plugin for pod in played.scheduler.queue_state().gated}


def test_a_gang_that_fits_is_bound_in_one_cycle() -> None:
    played = play([*nodes(2, 2), group(), member("a"), member("b"), member("c")])
    assert played.bound == {"a": "n0", "b": "n1", "c": "n0"}
    assert played.scheduler.attempts == 1
    assert [trace.pod for trace in played.scheduler.cycle_traces] == ["default/a", "default/b", "default/c"]
    set_ = condition(played)
    assert set_ is not None
    assert (set_.status, set_.reason, set_.message, set_.observed_generation) == ("True", "Scheduled", "", 4)


def test_what_the_group_came_to_is_in_every_trace() -> None:
    played = play([*nodes(4), group(), member("a"), member("b"), member("c")])
    for trace in played.scheduler.cycle_traces:
        assert trace.pod_group is not None
        assert trace.pod_group.group == "default/g"
        assert trace.pod_group.pods == ("default/a", "default/b", "default/c")
        assert trace.pod_group.status.is_success
        assert decode_attempts(encode_attempts([trace]))[0].pod_group == trace.pod_group
    said = [trace.pod_group.permit[0].status.code.name_ for trace in played.scheduler.cycle_traces if trace.pod_group]
    assert said == ["Wait", "Wait", "Success"]


def test_a_gang_without_room_binds_nobody_and_leaves_nothing_behind() -> None:
    played = play([*nodes(2), group(), member("a"), member("b"), member("c")])
    assert played.bound == {}
    waits = f"{UNSCHEDULABLE}, {MIN_COUNT}, {ASKED}"
    results = told(played)
    assert results["a"] == results["b"] == ("failed", waits)
    assert results["c"][0] == "failed"
    assert results["c"][1].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert [len(info.pods) for info in played.scheduler.core.snapshot.list()] == [0]
    assert played.scheduler.core.cache.pod_count == 0
    set_ = condition(played)
    assert set_ is not None
    assert (set_.status, set_.reason, set_.message) == ("False", "Unschedulable", UNSCHEDULABLE)
    # Nobody was held responsible for the feasible ones, so they back off as after an error.
    backing_off = {pod.key: pod.after_error for pod in played.scheduler.queue_state().backoff}
    assert backing_off == {"default/a": True, "default/b": True, "default/c": False}


def test_more_pods_than_the_minimum_need_not_all_fit() -> None:
    played = play([*nodes(2), group(minimum=2), member("a"), member("b"), member("c")])
    assert played.bound == {"a": "n0", "b": "n0"}
    assert told(played)["c"][1].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    first = condition(played)
    assert first is not None
    assert first.status == "True"
    # A later cycle, about the pod that is left, does not take the condition back.
    played.scheduler.step()
    assert condition(played) == first


def test_without_its_group_object_a_pod_waits_for_it() -> None:
    played = play([*nodes(4), member("a"), member("b"), member("c")])
    assert gated(played) == dict.fromkeys(("default/a", "default/b", "default/c"), "GangScheduling")
    played.create(group())
    played.cycles()
    assert len(played.bound) == 3


def test_the_last_pod_of_a_gang_lets_the_others_into_the_queue() -> None:
    played = play([*nodes(4), group(), member("a"), member("b")])
    assert set(gated(played)) == {"default/a", "default/b"}
    played.create(member("c"))
    assert gated(played) == {}
    played.scheduler.step()
    assert len(played.bound) == 3


def test_a_deleted_pod_does_not_count_any_more() -> None:
    played = play([*nodes(4), group(), member("a"), member("b")])
    pod = played.scheduler.cluster.get(Pod, "default", "b")
    assert pod is not None
    played.scheduler.cluster.delete(pod)
    played.create(member("c"))
    assert set(gated(played)) == {"default/a", "default/c"}


def test_pods_are_tried_by_priority_and_a_gated_one_is_left_out() -> None:
    played = play(
        [
            *nodes(9),
            group(minimum=2),
            member("low", priority=1),
            member("held", schedulingGates=[{"name": "example.com/hold"}]),
            member("high", priority=7),
        ]
    )
    [outcome, _] = [trace.pod_group for trace in played.scheduler.cycle_traces]
    assert outcome is not None
    assert outcome.pods == ("default/high", "default/low")
    assert set(played.bound) == {"low", "high"}


def test_a_basic_group_is_scheduled_together_without_a_minimum() -> None:
    played = play([*nodes(1), group(minimum=None), member("a"), member("b")])
    assert played.bound == {"a": "n0"}
    assert told(played)["b"][0] == "failed"


def test_pods_of_one_group_with_two_schedulers_fail_together() -> None:
    two = """profiles:
- schedulerName: default-scheduler
- schedulerName: other
"""
    objects = [*nodes(9), group(minimum=2), member("a"), member("b", schedulerName="other")]
    played = play(objects, configuration=CONFIGURATION + two)
    wrong = (
        "all pods in a single pod group should have the same .spec.schedulerName set, "
        'got: "other" and "default-scheduler"'
    )
    assert told(played) == {"a": ("failed", wrong), "b": ("failed", wrong)}
    assert condition(played) is None


def test_a_gang_that_needs_a_preemption_waits_for_it() -> None:
    victim = make_pod("victim", requests={"cpu": "2"}, node_name="n0", priority=0)
    played = play([*nodes(2, 1), victim, group(), *(member(name, priority=5) for name in "abc")])
    results = told(played)
    assert played.bound.get("a") is None
    preempting = [trace for trace in played.scheduler.cycle_traces if trace.post_filter and trace.nomination]
    assert [trace.nomination for trace in preempting] == ["n0", "n0"]
    waiting = [trace for trace in played.scheduler.cycle_traces if not trace.post_filter]
    [feasible] = waiting
    assert feasible.nomination == "n1"
    assert results[feasible.pod.partition("/")[2]][1] == (
        f"{UNSCHEDULABLE}, pod group is waiting for preemption to complete"
    )
    for trace in played.scheduler.cycle_traces:
        assert trace.pod_group is not None
        assert trace.pod_group.waiting_on_preemption
    set_ = condition(played)
    assert set_ is not None
    assert set_.message == f"{UNSCHEDULABLE}, pod group is waiting for preemption to complete"
    # The victim is gone: the next cycle finds room for all.
    played.scheduler.step()
    assert set(played.bound) >= {"a", "b", "c"}


def test_without_the_gate_the_group_is_not_looked_at() -> None:
    played = Play(CONFIGURATION.removeprefix(GATES), [*nodes(2), group(), member("a"), member("b"), member("c")])
    for _ in range(3):
        played.scheduler.step()
    assert set(played.bound) == {"a", "b"}
    assert condition(played) is None


def test_stepping_names_the_pod_whose_turn_it_is() -> None:
    played = play([*nodes(4), group(minimum=2), member("a"), member("b")], steps=0)
    seen: list[tuple[str, str]] = []
    while isinstance(reached := played.scheduler.step_point(), PointReached):
        seen.append((reached.pod.partition("/")[2], reached.point))
    trial = ["PreFilter", "Filter", "Permit"]
    points = [(pod, point) for pod, point in seen if point in trial]
    assert points[:6] == [(pod, point) for pod in "ab" for point in trial]
    assert points[6:] == [("a", "Permit"), ("b", "Permit")]
    assert seen[-1][1] in ("Bind", "PostBind")


def test_a_scheduler_with_groups_is_pickled_and_goes_on_the_same() -> None:
    objects = [*nodes(2), group(), member("a"), member("b"), member("c")]
    one = play(objects)
    two = pickle.loads(pickle.dumps(one.scheduler))
    for scheduler in (one.scheduler, two):
        scheduler.cluster.create(make_node("big", cpu="8"), stored=True)
        for _ in range(2):
            scheduler.step()
    placed = [
        {pod.metadata.name: pod.spec.node_name for pod in scheduler.cluster.list(Pod)}
        for scheduler in (one.scheduler, two)
    ]
    assert placed[0] == placed[1]
    assert all(placed[0].values())


@pytest.mark.parametrize("when", ["before", "between"])
def test_switching_the_gates_on_in_a_run_counts_the_pods_that_are_there(when: str) -> None:
    started = Play(CONFIGURATION.removeprefix(GATES), [*nodes(1, 1), group(minimum=2), member("a")])
    if when == "between":
        started.scheduler.step()
    loaded = load(CONFIGURATION, built_in_registry())
    assert loaded.effective is not None
    started.scheduler.replace_configuration(loaded.effective)
    started.create(member("b"))
    started.cycles()
    assert set(started.bound) == {"a", "b"}

"""Coscheduling: a gang binds together or not at all (docs/semantics/pod-groups.md#coscheduling)."""

from __future__ import annotations

from typing import Any

import pytest

from framework.objects import Pod, PodGroup
from framework.objects.decode import decode_manifest
from tests.builders import make_node, make_pod
from tests.plugins.playing import Play

LABEL = "scheduling.x-k8s.io/pod-group"
CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled: [{name: Coscheduling}]
      queueSort:
        enabled: [{name: Coscheduling}]
        disabled: [{name: "*"}]
    pluginConfig:
      - name: Coscheduling
        args: {permitWaitingTimeSeconds: 30, podGroupBackoffSeconds: BACKOFF}
"""


def group(name: str = "gang", *, members: int = 3, **spec: Any) -> PodGroup:
    manifest = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"minMember": members, **spec},
    }
    made = decode_manifest(manifest)
    assert isinstance(made, PodGroup)
    return made


def member(name: str, of: str = "gang", **more: Any) -> Pod:
    return make_pod(name, labels={LABEL: of}, requests={"cpu": "1"}, **more)


def play(*objects: Any, cpu: str = "8", backoff: int = 0) -> Play:
    text = CONFIGURATION.replace("BACKOFF", str(backoff))
    started = Play(text, [make_node("n1", cpu=cpu), *objects])
    started.cycles()
    return started


def test_members_wait_until_the_last_one_fits() -> None:
    played = play(group(), member("a"), member("b"), member("c"))
    assert played.bound == {"a": "n1", "b": "n1", "c": "n1"}


def test_too_few_siblings_are_not_even_tried() -> None:
    played = play(group(), member("a"), member("b"))
    assert not played.waiting
    assert (
        "pre-filter pod a cannot find enough sibling pods, current pods number: 2, minMember of group: 3"
        in played.message("a")
    )
    played.create(member("c"))
    played.seconds(3)
    assert set(played.bound) == {"a", "b", "c"}


def test_a_gated_sibling_holds_the_group_back() -> None:
    played = play(group(), member("a"), member("b"), member("c", schedulingGates=[{"name": "quota"}]))
    assert "cannot proceed due to gated pods in the same PodGroup" in played.message("a")


def test_a_gang_that_does_not_fit_gives_everything_back() -> None:
    played = play(group(), member("a"), member("b"), member("c"), cpu="2", backoff=100)
    assert (played.bound, played.waiting) == ({}, {})
    assert any("optimistic rejection in PostFilter" in event.note for event in played.seen.events)
    assert "gets rejected due to Pod c is unschedulable even after PostFilter" in played.message("c")


def test_one_failure_lets_the_waiting_members_go_when_many_are_missing() -> None:
    played = play(group(members=2), member("a"), member("b", nodeSelector={"disk": "ssd"}))
    assert (played.bound, played.waiting) == ({}, {})


def test_without_group_backoff_a_gang_that_cannot_fit_is_tried_for_ever() -> None:
    """As upstream: letting go wakes the failed member, which Pop takes out of backoff while nothing else is active."""
    with pytest.raises(AssertionError, match="no end"):
        play(group(), member("a"), member("b"), member("c"), cpu="2")


def test_the_groups_own_time_out_wins_over_the_argument() -> None:
    # One missing of twenty is below podGroupRejectPercentage: the others go on waiting.
    members = [member(f"m{i:02}") for i in range(19)]
    late = member("z", nodeSelector={"disk": "ssd"})
    played = play(group(members=20, scheduleTimeoutSeconds=45), *members, late, cpu="32")
    assert len(played.waiting) == 19
    played.seconds(44)
    assert len(played.waiting) == 19
    played.seconds(2)
    assert not played.waiting
    assert any("rejected due to timeout after waiting 45s at plugin Coscheduling" in e.note for e in played.seen.events)


def test_backoff_keeps_a_failed_group_out() -> None:
    played = play(group(), member("a"), member("b"), member("c"), cpu="2", backoff=100)
    played.create(make_node("n2"))
    played.seconds(20)
    assert not played.bound
    assert any("podGroup default/gang failed recently" in event.note for event in played.seen.events)


def test_min_resources_are_checked_before_any_member_is_placed() -> None:
    played = play(group(minResources={"cpu": "12"}), member("a"), member("b"), member("c"))
    assert not played.waiting
    assert "resource gap: map[cpu:{{4000 -3} {<nil>}  DecimalSI}]" in played.message("a")


def test_a_label_without_its_group_is_refused_at_permit() -> None:
    played = play(member("a"))
    assert "0/1 nodes are available: 1 PodGroup not found." in played.message("a")


def test_pods_without_a_group_are_not_touched() -> None:
    assert play(make_pod("p")).bound == {"p": "n1"}


def test_members_stand_together_in_the_queue() -> None:
    played = play(
        group("early"),
        *(make_pod(f"other-{i}") for i in range(2)),
        *(member(f"m{i}", of="early") for i in range(3)),
    )
    order = [attempt.pod.split("/")[1] for attempt in played.seen.attempts]
    assert order[:3] == ["m0", "m1", "m2"]

"""The scheduler's own calls: switching configurations, waits, clock, saving."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from framework.configuration import EffectiveConfiguration, load
from framework.objects import Pod
from framework.plugins.registry import built_in_registry
from framework.profiles import ProfileError
from framework.scheduler import Observer, Scheduler, SchedulerOptions
from framework.scheduler.state import MidCycle
from tests.builders import make_node, make_pod

SECOND = 1_000_000_000
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
ASKS = HEAD + "profiles: [{plugins: {permit: {enabled: [{name: ManualApproval}]}}}]\n"
TWO = HEAD + "profiles: [{schedulerName: default-scheduler}, {schedulerName: second}]\n"


def effective(text: str) -> EffectiveConfiguration:
    loaded = load(text, built_in_registry())
    assert loaded.effective is not None, loaded.errors
    return loaded.effective


def scheduler(text: str = HEAD, **more: Any) -> Scheduler:
    made = Scheduler(
        effective(text), built_in_registry(), start=SECOND, seed=1, ties="smallest", observer=Observer(), **more
    )
    made.cluster.create(make_node("n1", cpu="1"))
    return made


def add(to: Scheduler, name: str, **more: Any) -> Pod:
    return to.cluster.create(make_pod(name, requests={"cpu": "1"}, **more))


def names(pods: Any) -> list[str]:
    return [pod.key for pod in pods]


def test_objects_of_a_given_cluster_are_taken_over() -> None:
    first = scheduler()
    add(first, "placed", node_name="n1")
    add(first, "pending")
    second = Scheduler(
        effective(HEAD),
        built_in_registry(),
        start=0,
        seed=1,
        ties="smallest",
        observer=Observer(),
        cluster=first.cluster,
    )
    attempt = second.step()
    assert attempt is not None
    assert attempt.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_switch_of_the_configuration_keeps_places_and_brings_pods_of_new_profiles() -> None:
    made = scheduler()
    add(made, "active")
    add(made, "too-big", schedulerName="default-scheduler", priority=None)
    made.step()
    made.step()
    add(made, "other", schedulerName="second")
    before = made.queue_state()
    assert names(before.active) == []
    made.replace_configuration(effective(TWO))
    after = made.queue_state()
    assert names(after.active) == ["default/other"]
    assert after.unschedulable == before.unschedulable
    made.replace_configuration(effective(HEAD))
    assert made.queue_state() == before


def test_a_waiting_pod_needs_its_profile() -> None:
    made = scheduler(ASKS)
    waiting = add(made, "waiting")
    made.step()
    assert names(made.waiting_pods()) == ["default/waiting"]
    with pytest.raises(ValueError, match="waits on Permit under profile default-scheduler"):
        made.replace_configuration(effective(HEAD + "profiles: [{schedulerName: second}]\n"))
    made.replace_configuration(effective(HEAD))
    assert made.allow(waiting.uid, "ManualApproval")
    assert [pod.spec.node_name for pod in made.cluster.list(Pod)] == ["n1"]


def test_a_decision_about_a_pod_that_does_not_wait_is_false() -> None:
    made = scheduler(ASKS)
    waiting = add(made, "waiting")
    assert not made.allow(waiting.uid, "ManualApproval")
    made.step()
    assert made.reject(waiting.uid, "ManualApproval", "no", by_person=True)
    assert not made.reject(waiting.uid, "ManualApproval", "no again")
    assert not made.preempt(waiting.uid, "ManualApproval", "no")
    assert not made.reject_waiting_pod(waiting.uid)


def test_a_wait_times_out_at_its_instant_and_the_timer_says_when() -> None:
    made = scheduler(ASKS)
    add(made, "waiting")
    made.step()
    assert made.next_timer(wakes_only=True) == made.now + 600 * SECOND
    made.advance(made.now + 600 * SECOND - 1)
    assert len(made.waiting_pods()) == 1
    made.advance(made.now + 1)
    assert made.waiting_pods() == []
    assert names(made.queue_state().unschedulable) == ["default/waiting"]


def test_leftovers_are_flushed_after_five_minutes_or_never() -> None:
    for limit, want in ((300 * SECOND, 331 * SECOND), (None, None)):
        made = scheduler(options=SchedulerOptions(max_in_unschedulable=limit))
        made.advance(made.now + SECOND)
        add(made, "first")
        add(made, "second")
        made.step()
        made.step()
        assert made.next_timer(wakes_only=True) is None
        assert made.next_timer() == want


def test_the_clock_does_not_go_back() -> None:
    made = scheduler()
    with pytest.raises(ValueError, match="cannot go back"):
        made.advance(made.now - 1)


def test_within_a_cycle_nothing_is_saved_and_nothing_switched() -> None:
    made = scheduler()
    add(made, "p")
    made.step_point()
    with pytest.raises(MidCycle):
        pickle.dumps(made)
    with pytest.raises(MidCycle):
        made.replace_configuration(effective(TWO))
    made.step()
    assert pickle.loads(pickle.dumps(made)).queue_state() == made.queue_state()


def test_a_profile_that_cannot_be_built_leaves_the_scheduler_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scheduler()
    before = made.profiles

    def fails(self: Any) -> Any:
        raise RuntimeError("no events today")

    monkeypatch.setattr("framework.plugins.nodename.NodeName.events_to_register", fails)
    with pytest.raises(ProfileError, match=r"^no events today$"):
        made.replace_configuration(effective(HEAD))
    assert made.profiles is before


def test_run_until_idle_binds_what_fits_and_leaves_the_rest() -> None:
    made = scheduler()
    for i in range(3):
        add(made, f"p{i}")
    made.run_until_idle()
    assert [pod.name for pod in made.cluster.list(Pod) if pod.spec.node_name] == ["p0"]
    assert names(made.queue_state().unschedulable) == ["default/p1", "default/p2"]

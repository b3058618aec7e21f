"""Shadow: with the same configuration it always agrees, a planted difference is named, and nothing is changed."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.advice.shadow import RealDecision, decided, judge, judged, real_decision
from framework.configuration import EffectiveConfiguration, load_value
from framework.objects import Namespace, ObjectMeta, Pod, PodCondition
from framework.plugins.registry import built_in_registry
from framework.scheduler import Cluster, Observer, Scheduler
from tests.advice.test_all_nodes import copied, sampling_scheduler
from tests.advice.worlds import random_scheduler
from tests.builders import make_node, make_pod


def configured(profile: dict[str, Any]) -> EffectiveConfiguration:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", **profile}],
    }
    effective = load_value(document, built_in_registry()).effective
    assert effective is not None
    return effective


def scheduler_with(profile: dict[str, Any], *objects: Any) -> Scheduler:
    cluster = Cluster()
    cluster.put(Namespace(metadata=ObjectMeta(name="default")))
    for obj in objects:
        cluster.put(obj)
    return Scheduler(
        configured(profile), built_in_registry(), start=0, seed=1, ties="seeded", observer=Observer(), cluster=cluster
    )


def fitting(strategy: str) -> dict[str, Any]:
    arguments = {"scoringStrategy": {"type": strategy, "resources": [{"name": "cpu", "weight": 1}]}}
    return {"pluginConfig": [{"name": "NodeResourcesFit", "args": arguments}]}


def one_full_one_empty(pod: Pod) -> tuple[Any, ...]:
    return make_node("empty"), make_node("full"), make_pod("old", requests={"cpu": "2"}, node_name="full"), pod


def told(scheduler: Scheduler) -> tuple[Any, ...]:
    """Everything but what is only worked out from it."""
    cluster, core = scheduler.cluster, scheduler.core
    draws, places = core.services.generator.mark(), (core.next_start_node_index, scheduler.points, scheduler.attempts)
    return list(cluster.all()), cluster.revision, scheduler.queue_state(), draws, places


def pod_of(scheduler: Scheduler, name: str) -> Pod:
    pod = scheduler.cluster.get(Pod, "default", name)
    assert pod is not None
    return pod


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_same_configuration_always_agrees(seed: int) -> None:
    scheduler = random_scheduler(random.Random(seed), pending=4)
    while True:
        before = copied(scheduler)
        attempt = scheduler.step()
        if attempt is None:
            return
        namespace, name = attempt.pod.split("/")
        pod = before.cluster.get(Pod, namespace, name)
        assert pod is not None
        nominated = next((each.nominated_node or "" for each in attempt.post_filter if each.nominated_node), "")
        real = RealDecision(attempt.selected, nominated, attempt.message)
        found = judged(before, pod, real)
        assert found.agrees, found
        assert found.plugin == ""
        if attempt.scores is not None:
            assert (found.kind, found.tied) == ("same" if attempt.scores.ties == 1 else "tie", attempt.scores.ties)
        if nominated:
            assert found.victims == next(each.victims for each in attempt.post_filter if each.nominated_node)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_whoever_was_shadowed_goes_on_as_if_nobody_had_asked(seed: int) -> None:
    scheduler = random_scheduler(random.Random(seed), pending=4)
    undisturbed = copied(scheduler)
    while True:
        before = told(scheduler)
        for pod in [each for each in scheduler.cluster.list(Pod) if not each.spec.node_name]:
            decided(scheduler, pod)
        assert told(scheduler) == before
        ours, theirs = scheduler.step(), undisturbed.step()
        if ours is None or theirs is None:
            assert ours is theirs
            return
        assert (ours.pod, ours.selected, ours.message) == (theirs.pod, theirs.selected, theirs.message)


def test_a_search_that_is_cut_short_begins_where_it_would_have_begun() -> None:
    scheduler, undisturbed = sampling_scheduler(3), sampling_scheduler(3)
    for _ in range(5):
        pod = next(each for each in scheduler.cluster.list(Pod) if not each.spec.node_name)
        found = judged(scheduler, pod, RealDecision(node="n000"))
        assert found.sampled == 100
        ours, theirs = scheduler.step(), undisturbed.step()
        assert ours is not None
        assert theirs is not None
        assert (ours.selected, ours.evaluated_nodes) == (theirs.selected, theirs.evaluated_nodes)


def test_a_planted_difference_is_named_with_its_plugin() -> None:
    packing = scheduler_with(fitting("MostAllocated"), *one_full_one_empty(make_pod("new", requests={"cpu": "1"})))
    found = judged(packing, pod_of(packing, "new"), RealDecision(node="empty"))
    assert (found.kind, found.node, found.plugin, found.rank) == ("other_node", "full", "NodeResourcesFit", 2)
    assert found.margin == sum(each.own - each.real for each in found.points) > 0
    spreading = scheduler_with(fitting("LeastAllocated"), *one_full_one_empty(make_pod("new", requests={"cpu": "1"})))
    assert judged(spreading, pod_of(spreading, "new"), RealDecision(node="empty")).kind == "same"


def test_a_node_that_a_filter_refuses_here() -> None:
    args = {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["web"]}]}]}}}  # fmt: skip
    profile = {"pluginConfig": [{"name": "NodeAffinity", "args": args}]}
    pod = make_pod("new", requests={"cpu": "1"})
    both = scheduler_with(profile, make_node("web", labels={"pool": "web"}), make_node("data"), pod)
    found = judged(both, pod_of(both, "new"), RealDecision(node="data"))
    assert (found.kind, found.node, found.plugin, found.rank) == ("other_node", "web", "NodeAffinity", 0)
    none = scheduler_with(profile, make_node("data"), pod)
    found = judged(none, pod_of(none, "new"), RealDecision(node="data"))
    assert (found.kind, found.node, found.plugin) == ("stays_pending", "", "NodeAffinity")
    assert found.message.startswith("0/1 nodes are available")


def test_who_would_be_evicted_stays() -> None:
    old = make_pod("old", requests={"cpu": "3"}, node_name="only", priority=0)
    new = make_pod("new", requests={"cpu": "3"}, priority=100)
    scheduler = scheduler_with({}, make_node("only"), old, new)
    attempt = decided(scheduler, pod_of(scheduler, "new"))
    found = judge(scheduler, attempt, RealDecision(message="0/1 nodes are available: 1 Insufficient cpu."))
    assert (found.kind, found.node, found.victims) == ("preempts", "only", ("default/old",))
    assert judge(scheduler, attempt, RealDecision(nominated="only")).kind == "same_preemption"
    assert pod_of(scheduler, "old").spec.node_name == "only"


def test_what_the_real_one_leaves_pending_is_placed_here() -> None:
    scheduler = scheduler_with({}, make_node("n1"), make_pod("new"))
    found = judged(scheduler, pod_of(scheduler, "new"), RealDecision(message="0/1 nodes are available"))
    assert (found.kind, found.node, found.agrees) == ("placed_here", "n1", False)


def test_a_schedulername_without_profile_is_refused() -> None:
    scheduler = scheduler_with({}, make_node("n1"))
    with pytest.raises(ValueError, match="no profile for schedulerName other"):
        decided(scheduler, make_pod("new", schedulerName="other"))


def test_which_changes_are_decisions() -> None:
    pod = make_pod("new")
    bound = replace(pod, spec=replace(pod.spec, node_name="n1"))
    condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="no room")
    refused = replace(pod, status=replace(pod.status, conditions=(condition,)))
    nominated = replace(refused, status=replace(refused.status, nominated_node_name="n2"))
    assert real_decision(pod, bound) == RealDecision(node="n1")
    assert real_decision(pod, refused) == RealDecision(message="no room")
    assert real_decision(refused, nominated) == RealDecision(nominated="n2", message="no room")
    for before, after in ((None, bound), (bound, bound), (refused, refused), (pod, None), (pod, pod)):
        assert real_decision(before, after) is None
    assert real_decision(pod, replace(bound, metadata=replace(bound.metadata, uid="another"))) is None

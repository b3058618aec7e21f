"""Every remedy, applied, schedules the pod; and no smaller one of its kind does."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from itertools import combinations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.advice import Operation, Remedy, perform, what_would_help
from framework.advice.amounts import about, exactly
from framework.advice.edits import MEBIBYTE, lowered, tolerating
from framework.advice.freeing import can_leave
from framework.advice.scratch import node_like, with_its_own
from framework.advice.trial import Edit, Trial
from framework.objects import CSINode, Namespace, Node, ObjectMeta, Pod, ResourceSlice, Toleration
from framework.objects.decode import decode_manifest
from framework.objects.devices import ResourcePool, ResourceSliceSpec
from framework.objects.metadata import OwnerReference
from framework.objects.resources import node_allocatable, pod_requests
from framework.objects.storage import CSINodeDriver, CSINodeSpec, VolumeNodeResources
from framework.said import ENGLISH, in_words
from framework.scheduler import Cluster, Observer, Scheduler
from framework.trace.attempt import AttemptTrace
from tests.advice.worlds import random_pod, random_scheduler, scheduler_over
from tests.builders import make_node, make_pod

GPU = "example.com/gpu"
WORLDS = st.integers(0, 2**32 - 1)


def random_case(seed: int) -> tuple[Scheduler, Pod]:
    """A scheduler with one pending pod, which mostly does not fit."""
    rng = random.Random(seed)
    scheduler = random_scheduler(rng, pending=0)
    pod = random_pod(rng, "asked")
    if rng.random() < 0.15:
        pod = replace(pod, spec=replace(pod.spec, preemption_policy="Never"))
    scheduler.cluster.create_admitted(pod)
    return scheduler, pod


class Last(Observer):
    def __init__(self) -> None:
        self.attempts: dict[str, AttemptTrace] = {}

    def attempt(self, trace: AttemptTrace) -> None:
        self.attempts[trace.pod] = trace


def node_after(scheduler: Scheduler, remedy: Remedy, pod: Pod) -> str:
    """Where the pod runs after the operations were done to a cluster of its own, in a scheduler of its own."""
    cluster = Cluster()
    for obj in scheduler.cluster.all():
        cluster.put(obj)
    for each in remedy.operations:
        perform(cluster, json_round_trip(each))
    fork = scheduler_over(cluster)
    fork.observer = Last()
    for _ in range(4):
        fork.step()
        live = cluster.get(Pod, pod.metadata.namespace, pod.metadata.name)
        assert live is not None
        if live.spec.node_name:
            return live.spec.node_name
        fork.activate([live])
    return ""


def json_round_trip(operation: Operation) -> Operation:
    return msgspec.json.decode(msgspec.json.encode(operation), type=Operation)


@settings(max_examples=150, deadline=None)
@given(WORLDS)
@example(5934)  # an evicted pod that is made again where it was
@example(56326)  # those that are moved would keep the pod from its node if they were in their places before it
def test_a_remedy_that_is_applied_schedules_the_pod_and_the_cluster_stays_as_it_was(seed: int) -> None:
    scheduler, pod = random_case(seed)
    before = pickle.dumps(scheduler.cluster)
    for remedy in what_would_help(scheduler, pod):
        assert node_after(scheduler, remedy, pod), remedy.text
    assert pickle.dumps(scheduler.cluster) == before


def smaller_ones(trial: Trial, remedy: Remedy, pod: Pod) -> list[str]:
    """Smaller remedies of the same kind that would do, too."""
    changed = decode_manifest(remedy.operations[0].manifest)
    match remedy.kind:
        case "free":
            return smaller_frees(trial, sum(each.verb == "remove" for each in remedy.operations))
        case "lower":
            assert isinstance(changed, Pod)
            return smaller_cuts(trial, pod_requests(pod), pod_requests(changed))
        case "tolerate":
            assert isinstance(changed, Pod)
            return smaller_tolerations(trial, changed.spec.tolerations[len(pod.spec.tolerations) :])
        case "priority":
            assert isinstance(changed, Pod)
            return lower_priorities(trial, pod, changed)
        case "node":
            assert isinstance(changed, Node)
            return smaller_nodes(trial, changed)
        case "relax":
            assert isinstance(changed, Pod)
            return smaller_steps(trial, pod, changed)
        case _:
            return []


def smaller_frees(trial: Trial, size: int) -> list[str]:
    found = []
    for node in trial.cluster.list(Node):
        placed = [p for p in trial.cluster.list(Pod) if p.spec.node_name == node.metadata.name and can_leave(p)]
        for fewer in range(1, size):
            for pods in combinations(placed, fewer):
                there = trial.schedule(edits=[Edit(each, None) for each in pods]).node
                # Several pods are meant to make room on their own node, a single one anywhere.
                if there == node.metadata.name or (there and fewer == 1):
                    found.append(f"free {[each.key for each in pods]}")
    return found


def smaller_cuts(trial: Trial, asked: dict[str, int], got: dict[str, int]) -> list[str]:
    cut = [name for name in asked if got.get(name, 0) < asked[name]]
    if len(cut) != 1:
        return []
    (name,) = cut
    more = got[name] + (1 if name == "cpu" else MEBIBYTE)
    pod = lowered(trial.pod, {name: more})
    assert pod is not None
    return [f"{name} to {more}"] if more < asked[name] and trial.schedule(pod).node else []


def smaller_tolerations(trial: Trial, added: tuple[Toleration, ...]) -> list[str]:
    taints = {t.key: t for node in trial.cluster.list(Node) for t in node.spec.taints}
    keys = [each.key for each in added]
    found = []
    for size in range(1, len(keys)):
        for fewer in combinations(keys, size):
            if trial.schedule(tolerating(trial.pod, tuple(taints[key] for key in fewer))).node:
                found.append(f"tolerate {fewer}")
    return found


def lower_priorities(trial: Trial, pod: Pod, changed: Pod) -> list[str]:
    own, raised = pod.spec.priority or 0, changed.spec.priority or 0
    if raised == own:
        return []
    less = replace(changed, metadata=trial.pod.metadata, spec=replace(changed.spec, priority=raised - 1))
    outcome = trial.schedule(less, preempting=True)
    return [f"priority {raised - 1}"] if outcome.node and outcome.evicted else []


def smaller_nodes(trial: Trial, added: Node) -> list[str]:
    size = node_allocatable(added)
    found = []
    for node in trial.cluster.list(Node):
        offered = node_allocatable(node)
        is_smaller = (offered["cpu"], offered["memory"]) < (size["cpu"], size["memory"])
        if is_smaller and trial.schedule(edits=[Edit(None, node_like(node, 2))]).node:
            found.append(f"node like {node.metadata.name}")
    return found


def smaller_steps(trial: Trial, pod: Pod, changed: Pod) -> list[str]:
    found = []
    for i, (old, new) in enumerate(
        zip(pod.spec.topology_spread_constraints, changed.spec.topology_spread_constraints, strict=True)
    ):
        for skew in range(old.max_skew + 1, new.max_skew):
            constraints = list(pod.spec.topology_spread_constraints)
            constraints[i] = replace(old, max_skew=skew)
            spec = replace(trial.pod.spec, topology_spread_constraints=tuple(constraints))
            if trial.schedule(replace(trial.pod, spec=spec)).node:
                found.append(f"maxSkew {skew}")
    return found


@settings(max_examples=120, deadline=None)
@given(WORLDS)
def test_no_smaller_remedy_of_its_kind_would_do(seed: int) -> None:
    scheduler, pod = random_case(seed)
    remedies = what_would_help(scheduler, pod)
    trial = Trial(scheduler, pod)
    for remedy in remedies:
        assert smaller_ones(trial, remedy, pod) == [], remedy.text


def test_the_random_clusters_reach_every_kind() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(250):
        kinds.update(remedy.kind for remedy in what_would_help(*random_case(seed)))
    assert {"uncordon", "tolerate", "relax", "lower", "node", "priority", "free"} <= kinds.keys()
    assert min(kinds.values()) > 5


def cluster_of(*objects: Node | Pod) -> Scheduler:
    cluster = Cluster()
    cluster.put(Namespace(metadata=ObjectMeta(name="default")))
    for obj in objects:
        cluster.put(obj)
    return scheduler_over(cluster)


def texts(scheduler: Scheduler, pod: Pod) -> list[tuple[str, str]]:
    return [(str(remedy.text), str(remedy.cost)) for remedy in what_would_help(scheduler, pod)]


def test_a_pod_that_fits_needs_no_help() -> None:
    pod = make_pod("p")
    assert texts(cluster_of(make_node("a"), pod), pod) == []


def test_remedies_name_what_they_cost_others() -> None:
    low = make_pod("low", requests={"cpu": "3"}, node_name="small", priority=0)
    pod = make_pod("p", requests={"cpu": "3500m"}, priority=0)
    scheduler = cluster_of(make_node("small", cpu="4"), make_node("other", cpu="3"), low, pod)
    assert texts(scheduler, pod) == [
        ("Lower the request of cpu from 3.5 to 3", ""),
        ("Add a node like small (4 cpu, 8 Gi memory)", ""),
        ("Raise its priority from 0 to 1", "Evicts default/low. There is another place for default/low on other."),
        ("Move default/low to other", ""),
    ]


def test_pods_that_find_another_place_are_moved_before_fewer_lose_theirs() -> None:
    big = make_pod("big", requests={"cpu": "4"}, node_name="a", priority=0)
    little = [make_pod(name, requests={"cpu": "1"}, node_name="b", priority=1000) for name in ("one", "two")]
    pod = make_pod("p", requests={"cpu": "4"}, priority=0, preemption_policy="Never")
    scheduler = cluster_of(make_node("a", cpu="4"), make_node("b", cpu="4"), make_node("c", cpu="2"), big, *little, pod)
    found = {remedy.kind: remedy for remedy in what_would_help(scheduler, pod)}
    assert [each for each in found if each in ("move", "free")] == ["move", "free"]
    assert str(found["move"].text) == "Move default/one to c and default/two to c"
    assert (found["move"].node, str(found["move"].cost), found["move"].left_pending) == ("b", "", 0)
    assert str(found["free"].text) == "Free default/big from a"
    assert found["free"].left_pending == 1


@settings(max_examples=60, deadline=None)
@given(WORLDS)
def test_pods_that_are_moved_stand_where_it_says(seed: int) -> None:
    scheduler, pod = random_case(seed)
    for remedy in what_would_help(scheduler, pod):
        moved = [decode_manifest(each.manifest) for each in remedy.operations if each.verb == "add"]
        for each in moved:
            if isinstance(each, Pod):
                assert each.spec.node_name != remedy.node
                assert f"{each.key} to {each.spec.node_name}" in f"{remedy.text} {remedy.cost}"


def test_a_cordoned_node_is_uncordoned_not_tolerated() -> None:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    pod = make_pod("p", requests={"cpu": "3"})
    scheduler = cluster_of(make_node("a", cpu="4", unschedulable=True, taints=[taint]), make_node("b", cpu="1"), pod)
    kinds = [remedy.kind for remedy in what_would_help(scheduler, pod)]
    assert "uncordon" in kinds
    assert "tolerate" not in kinds


def test_a_node_that_is_added_has_the_limits_and_the_devices_of_its_shape() -> None:
    driver = CSINodeDriver(name="csi.example.com", node_id="a", allocatable=VolumeNodeResources(count=1))
    shape = make_node("a", cpu="4")
    slice_ = ResourceSlice(
        metadata=ObjectMeta(name="a-gpus", uid="s"),
        spec=ResourceSliceSpec(driver="gpu", node_name="a", pool=ResourcePool(name="a")),
    )
    cluster = Cluster()
    for obj in (shape, CSINode(metadata=ObjectMeta(name="a", uid="c"), spec=CSINodeSpec(drivers=(driver,))), slice_):
        cluster.put(obj)
    node, limits, devices = with_its_own(cluster, shape, 1)
    assert (node.metadata.name, limits.metadata.name, devices.metadata.name) == (
        "a-more-1",
        "a-more-1",
        "a-gpus-more-1",
    )
    assert isinstance(limits, CSINode)
    assert limits.spec.drivers == (driver,)
    assert isinstance(devices, ResourceSlice)
    assert (devices.spec.node_name, devices.spec.pool.name) == ("a-more-1", "a-more-1")


@pytest.mark.parametrize(
    ("resource", "amount", "exact", "rough"),
    [
        ("cpu", 1370, "1.37", "1.37"),
        ("cpu", 1_584_900, "1,584.9", "1,584.9"),
        ("memory", 96 << 30, "96 Gi", "96 Gi"),
        ("memory", 22912 << 20, "22.375 Gi", "22.4 Gi"),
        ("memory", 195708 << 20, "195,708 Mi", "191.1 Gi"),
        ("memory", 1500, "1,500", "1.5 Ki"),
        (GPU, 12000, "12,000", "12,000"),
    ],
)
def test_amounts_are_written_for_people(resource: str, amount: int, exact: str, rough: str) -> None:
    assert in_words(exactly(resource, amount), ENGLISH) == exact
    assert in_words(about(resource, amount), ENGLISH) == rough


def test_pods_that_come_back_by_themselves_are_not_freed() -> None:
    owner = OwnerReference(api_version="apps/v1", kind="DaemonSet", name="agent", uid="1", controller=True)
    agent = make_pod("agent", requests={"cpu": "4"}, node_name="a")
    agent = replace(agent, metadata=replace(agent.metadata, owner_references=(owner,)))
    pod = make_pod("p", requests={"cpu": "4"})
    assert "free" not in [r.kind for r in what_would_help(cluster_of(make_node("a"), agent, pod), pod)]


def test_a_request_shared_by_containers_is_cut_in_proportion_and_devices_keep_their_limits() -> None:
    containers = [
        {"name": name, "image": "x", "resources": {"requests": {GPU: count}, "limits": {GPU: count}}}
        for name, count in (("a", "6"), ("b", "2"))
    ]
    pod = replace(make_pod("p"), spec=make_pod("p", containers=containers).spec)
    smaller = lowered(pod, {GPU: 4})
    assert smaller is not None
    assert [(c.resources.requests, c.resources.limits) for c in smaller.spec.containers] == [
        ({GPU: "3"}, {GPU: "3"}),
        ({GPU: "1"}, {GPU: "1"}),
    ]


def test_a_scheduler_name_without_profile_is_named() -> None:
    pod = make_pod("p", schedulerName="other")
    with pytest.raises(ValueError, match="no profile for schedulerName other"):
        what_would_help(cluster_of(make_node("a")), pod)

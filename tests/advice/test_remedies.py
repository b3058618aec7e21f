"""No smaller remedy of the same kind would do, where nobody else wants the room."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.advice import Remedy
from framework.advice.amounts import about, before_and_after, exactly
from framework.advice.edits import tolerating
from framework.advice.freeing import can_leave
from framework.advice.lowering import MEBIBYTE, lowered
from framework.advice.scratch import node_like, with_its_own
from framework.advice.trial import Edit, Trial
from framework.objects import CSINode, Node, ObjectMeta, Pod, ResourceSlice, Toleration
from framework.objects.decode import decode_manifest, to_manifest
from framework.objects.devices import ResourcePool, ResourceSliceSpec
from framework.objects.metadata import OwnerReference
from framework.objects.resources import node_allocatable, pod_requests, resource_value
from framework.objects.storage import CSINodeDriver, CSINodeSpec, VolumeNodeResources
from framework.scheduler import Cluster, Scheduler
from framework.sentences import ENGLISH, in_words
from tests.advice.asking import helped, played
from tests.advice.worlds import random_pod, random_scheduler
from tests.builders import make_node, make_pod
from tests.schedweb.engine.worlds import Manifest

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


def manifests_of(scheduler: Scheduler) -> list[Manifest]:
    return [to_manifest(obj) for obj in scheduler.cluster.all()]


def smaller_ones(trial: Trial, remedy: Remedy, pod: Pod) -> list[str]:
    """Smaller remedies of the same kind that would do, too."""
    changed = decode_manifest(remedy.operations[-1 if remedy.kind == "priority" else 0].manifest)
    match remedy.kind:
        case "free":
            return smaller_frees(trial, sum(each.verb in ("delete", "remove") for each in remedy.operations))
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
        case "relax" if isinstance(changed, Pod):  # else a node is added first: the step alone is not enough
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


@settings(max_examples=40, deadline=None)
@given(WORLDS)
def test_no_smaller_remedy_of_its_kind_would_do(seed: int) -> None:
    scheduler, pod = random_case(seed)
    game = played(manifests_of(scheduler))
    trial = Trial(scheduler, pod)
    for remedy in helped(game, pod.metadata.name).remedies:
        assert smaller_ones(trial, remedy, pod) == [], remedy.text


def test_the_random_clusters_reach_every_kind() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(40):
        scheduler, pod = random_case(seed)
        kinds.update(remedy.kind for remedy in helped(played(manifests_of(scheduler)), pod.metadata.name).remedies)
    assert {"uncordon", "tolerate", "untaint", "node", "resize", "free", "priority"} <= kinds.keys()


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
    found = helped(played([to_manifest(each) for each in (make_node("a"), agent, pod)]), "p")
    assert "free" not in [remedy.kind for remedy in found.remedies]


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


@pytest.mark.parametrize(
    ("containers", "init_containers", "target", "asked"),
    [
        (["128Mi"], ["12Gi"], "8Gi", ["8Gi", "128Mi"]),
        (["12Gi"], ["1Gi"], "8Gi", ["1Gi", "8Gi"]),
        (["10Gi"], ["12Gi"], "8Gi", ["8Gi", "8Gi"]),
        (["3Gi", "3Gi", "3Gi"], [], "8Gi", ["2732Mi", "2730Mi", "2730Mi"]),
        (["1Gi"], ["1Gi sidecar", "12Gi"], "8Gi", ["1Gi", "7Gi", "1Gi"]),
    ],
    ids=["an init container alone", "not the init container", "both", "in whole mebibytes", "beside a sidecar"],
)
def test_only_containers_that_decide_the_amount_are_cut(
    containers: list[str], init_containers: list[str], target: str, asked: list[str]
) -> None:
    def container(number: int, asks: str) -> Manifest:
        amount, _, kind = asks.partition(" ")
        made: Manifest = {"name": f"c{number}", "image": "x", "resources": {"requests": {"memory": amount}}}
        return {**made, "restartPolicy": "Always"} if kind else made

    manifest = to_manifest(make_pod("p", containers=[container(*each) for each in enumerate(containers)]))
    manifest["spec"]["initContainers"] = [container(*each) for each in enumerate(init_containers, start=10)]
    pod = decode_manifest(manifest)
    assert isinstance(pod, Pod)
    amount = resource_value("memory", target)
    smaller = lowered(pod, {"memory": amount})
    assert smaller is not None
    spec = smaller.spec
    assert [(each.resources.requests or {})["memory"] for each in (*spec.init_containers, *spec.containers)] == asked
    assert pod_requests(smaller)["memory"] == amount


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (15_000_000 << 10, 30_000_000 << 10, "14.3 Gi 28.6 Gi"),
        (195_708 << 20, 195_700 << 20, "191.12 Gi 191.11 Gi"),
        (12 << 30, 128 << 20, "12 Gi 128 Mi"),
        (15_000_000 << 10, 0, "14.3 Gi 0 Gi"),
    ],
)
def test_a_change_of_an_amount_is_told_in_one_unit_with_few_digits(before: int, after: int, told: str) -> None:
    words = before_and_after("memory", before, after)
    assert " ".join(in_words(each, ENGLISH) for each in words) == told

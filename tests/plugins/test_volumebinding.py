"""VolumeBinding, rule by rule.

Rules: docs/semantics/volumes.md#volumebinding.
"""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from msgspec.structs import replace

from framework.configuration import load_value, parse_feature_gates
from framework.interface import VolumeDecision
from framework.objects import CSIDriver, PersistentVolume, PersistentVolumeClaim, StorageClass
from framework.objects.claims import SELECTED_NODE
from framework.plugins.registry import built_in_registry
from tests.plugins.volume_worlds import (
    LOCAL,
    MADE,
    SECOND,
    STORAGE,
    World,
    claim,
    csi_node,
    made,
    node,
    reasons,
    storage_class,
    using,
    volume,
)

CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


# --- PreFilter --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        (
            [claim("c", to="pv", status={"phase": "Lost"})],
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "pv"',
        ),
        (
            [claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
            'persistentvolumeclaim "c" is being deleted',
        ),
        ([claim("c", storageClassName="")], "pod has unbound immediate PersistentVolumeClaims"),
        # Bound by its user only: volumeName without the annotation counts as immediate even if the class waits.
        ([claim("c", volumeName="pv")], "pod has unbound immediate PersistentVolumeClaims"),
    ],
)
def test_claims_that_keep_a_pod_from_every_node(claims: list[Any], message: str) -> None:
    attempt = World(node("n1"), LOCAL, *claims).schedule(using("p", "c"))
    assert attempt.pre_filter_status is not None
    assert attempt.pre_filter_status.message == message


def test_an_ephemeral_claim_of_another_owner() -> None:
    pod = using("p", volumes=[{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])
    attempt = World(node("n1"), LOCAL, claim("p-tmp")).schedule(pod)
    assert attempt.message.startswith(
        "0/1 nodes are available: PVC default/p-tmp was not created for pod default/p (pod is not owner)."
    )


# --- bound claims -----------------------------------------------------------------------------------------------------


def test_a_bound_volume_keeps_the_pod_where_it_is() -> None:
    world = World(node("n1"), node("n2"), LOCAL, volume("pv", node="n2"), claim("c", to="pv"))
    attempt = world.schedule(using("p", "c"))
    assert reasons(attempt) == {"n1": (CONFLICT,), "n2": ()}
    assert attempt.decisions == (VolumeDecision("default/c", "v0", "bound", "pv", "local"),)


def test_the_first_bound_claim_that_does_not_suit_a_node_settles_it() -> None:
    """A volume that is gone hides a later mismatch, and an earlier mismatch hides it."""
    objects = [node("n1"), node("n2"), LOCAL, volume("pv", node="n2"), claim("here", to="pv"), claim("gone", to="x")]
    for claims, n1 in ((("gone", "here"), GONE), (("here", "gone"), CONFLICT)):
        world = World(*objects, without=("VolumeZone",))  # which would say in PreFilter that the volume is gone
        assert reasons(world.schedule(using("p", *claims))) == {"n1": (n1,), "n2": (GONE,)}


def test_reasons_of_bound_and_unbound_claims_add_up_in_upstreams_order() -> None:
    world = World(node("n1"), LOCAL, volume("pv", node="elsewhere"), claim("there", to="pv"), claim("new"))
    assert reasons(world.schedule(using("p", "new", "there"))) == {"n1": (CONFLICT, NO_VOLUME)}


def test_an_in_tree_volume_is_translated_on_nodes_that_migrated_its_plugin() -> None:
    disk = volume("pv", zone="a", awsElasticBlockStore={"volumeID": "vol-1"})
    migrated = {"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}}
    world = World(
        node("old", "a"),
        node("new", "a"),
        node("csi", labels={"topology.ebs.csi.aws.com/zone": "a"}),
        csi_node("old"),
        csi_node("new", metadata=migrated),
        csi_node("csi", metadata=migrated),
        LOCAL,
        disk,
        claim("c", to="pv"),
    )
    assert reasons(world.schedule(using("p", "c"))) == {"old": (), "new": (CONFLICT,), "csi": ()}


def test_a_volume_that_cannot_be_translated_fails_the_attempt() -> None:
    disk = volume("pv", awsElasticBlockStore={"volumeID": "aws://zone/disk"})
    migrated = {"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "x,kubernetes.io/aws-ebs"}}
    world = World(node("n1"), csi_node("n1", metadata=migrated), LOCAL, disk, claim("c", to="pv"))
    attempt = world.schedule(using("p", "c"))
    assert attempt.reason == "SchedulerError"
    assert attempt.message == (
        'running "VolumeBinding" filter plugin: could not translate pv: failed to translate Kubernetes ID to EBS '
        "Volume ID Invalid format for AWS volume (aws://zone/disk)"
    )


# --- matching ---------------------------------------------------------------------------------------------------------


def bound_volume(world: World, name: str) -> str:
    return world.get(PersistentVolumeClaim, name).spec.volume_name


def test_the_smallest_volume_that_is_large_enough_and_then_the_first_name() -> None:
    world = World(node("n1"), LOCAL, volume("b", "6Gi"), volume("large"), volume("a", "6Gi"), volume("small", "4Gi"))
    world.add(claim("c"))
    assert world.schedule(using("p", "c")).result == "bound"
    assert bound_volume(world, "c") == "a"


def test_a_volume_that_names_the_claim_goes_first_whatever_its_size_phase_and_labels() -> None:
    named = volume("named", "50Gi", phase="Released", claimRef={"namespace": "default", "name": "c"})
    world = World(node("n1"), LOCAL, volume("small", "6Gi"), named, claim("c", selector={"matchLabels": {"a": "b"}}))
    assert world.schedule(using("p", "c")).result == "bound"
    assert bound_volume(world, "c") == "named"


def test_a_volume_that_names_the_claim_elsewhere_leaves_no_other_choice() -> None:
    named = volume("named", node="n2", claimRef={"namespace": "default", "name": "c"})
    world = World(node("n1"), node("n2"), LOCAL, volume("free"), named, claim("c"))
    assert reasons(world.schedule(using("p", "c"))) == {"n1": (NO_VOLUME,), "n2": ()}


@pytest.mark.parametrize(
    "unfit",
    [
        {"volumeMode": "Block"},
        {"volumeAttributesClassName": "gold"},
        {"accessModes": ["ReadOnlyMany"]},
        {"storageClassName": "other"},
        {"phase": "Released"},
        {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},
        {"claimRef": {"namespace": "default", "name": "c", "uid": "another"}},
        {"claimRef": {"namespace": "other", "name": "c"}},
        {"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "other"}}},
    ],
    ids=lambda unfit: next(iter(unfit)) + str(len(str(unfit))),
)
def test_volumes_that_do_not_do(unfit: dict[str, Any]) -> None:
    world = World(node("n1"), LOCAL, volume("pv", **unfit), claim("c"))
    assert reasons(world.schedule(using("p", "c"))) == {"n1": (NO_VOLUME,)}


def test_small_claims_choose_first_so_that_large_ones_find_theirs() -> None:
    world = World(node("n1"), LOCAL, volume("ten"), volume("twenty", "20Gi"), claim("l", "11Gi"), claim("s", "5Gi"))
    assert world.schedule(using("p", "l", "s")).result == "bound"
    assert (bound_volume(world, "l"), bound_volume(world, "s")) == ("twenty", "ten")


def test_each_node_chooses_among_its_own_volumes() -> None:
    volumes = [volume(f"pv-{i}", node=f"n{i}") for i in range(4)]
    world = World(*(node(f"n{i}") for i in range(5)), LOCAL, *volumes, claim("a"), claim("b"))
    first = world.schedule(using("p", "a"))
    assert reasons(first) == {f"n{i}": () if i < 4 else (NO_VOLUME,) for i in range(5)}
    assert bound_volume(world, "a") == "pv-0"
    assert reasons(world.schedule(using("q", "b")))["n0"] == (NO_VOLUME,)
    assert bound_volume(world, "b") == "pv-1"


def test_match_fields_of_a_volume_are_not_looked_at() -> None:
    """Upstream's CheckNodeAffinity makes a node without a name, which has no fields."""
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
    pv = volume("pv", nodeAffinity={"required": {"nodeSelectorTerms": [field]}})
    assert World(node("n1"), LOCAL, pv, claim("c")).schedule(using("p", "c")).selected == "n1"


def test_a_selector_that_cannot_be_read_fails_the_attempt() -> None:
    bad = claim("c", selector={"matchExpressions": [{"key": "a", "operator": "Near"}]})
    attempt = World(node("n1"), LOCAL, bad).schedule(using("p", "c"))
    assert attempt.message == (
        'running "VolumeBinding" filter plugin: error creating internal label selector for claim: default/c: '
        '"Near" is not a valid label selector operator'
    )


# --- provisioning -----------------------------------------------------------------------------------------------------


def test_a_provisioned_volume_is_reachable_from_where_the_csi_node_says() -> None:
    zone = "topology.kubernetes.io/zone"
    world = World(node("n1", "a"), node("n2", "b"), csi_node("n1", keys=(zone,)), MADE)
    world.add(claim("c", storageClassName="made"))
    attempt = world.schedule(using("p", "c"))
    assert attempt.result == "bound"
    assert attempt.decisions == (VolumeDecision("default/c", "v0", "provision", "", "made"),)
    pv = world.get(PersistentVolume, "pvc-uid-c")
    assert pv.spec.node_affinity is not None
    assert pv.spec.node_affinity.required is not None
    (term,) = pv.spec.node_affinity.required.node_selector_terms
    assert [(each.key, each.values) for each in term.match_expressions] == [(zone, ("a",))]
    bound = world.get(PersistentVolumeClaim, "c")
    assert (bound.spec.volume_name, bound.status.phase) == ("pvc-uid-c", "Bound")
    assert bound.metadata.annotations[SELECTED_NODE] == "n1"


def test_topologies_that_a_class_allows() -> None:
    allowed = [{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["b", "c"]}]}]
    narrow = storage_class("made", "csi.example.com", allowedTopologies=allowed)
    world = World(node("n1", "a"), node("n2", "b"), node("n3"), narrow, claim("c", storageClassName="made"))
    assert reasons(world.schedule(using("p", "c"))) == {"n1": (NO_VOLUME,), "n2": (), "n3": (NO_VOLUME,)}


def test_a_claim_with_a_selected_node_is_provisioned_there_and_nowhere_else() -> None:
    chosen = claim("c", storageClassName="made", metadata={"annotations": {SELECTED_NODE: "n2"}})
    world = World(node("n1"), node("n2"), MADE, volume("pv", storageClassName="made"), chosen)
    attempt = world.schedule(using("p", "c"))
    assert reasons(attempt) == {"n1": (NO_VOLUME,), "n2": ()}


def capacity(name: str, topology: Any, size: str | None, most: str | None = None) -> Any:
    sizes = {**({"capacity": size} if size else {}), **({"maximumVolumeSize": most} if most else {})}
    return made(
        "CSIStorageCapacity",
        name,
        api_version=STORAGE,
        namespace="kube-system",
        storageClassName="made",
        **({"nodeTopology": topology} if topology is not None else {}),
        **sizes,
    )


DRIVER = made("CSIDriver", "csi.example.com", api_version=STORAGE, spec={"storageCapacity": True})


def on(name: str) -> dict[str, Any]:
    return {"matchLabels": {"kubernetes.io/hostname": name}}


def test_room_for_a_volume_is_looked_for_where_the_driver_publishes_it() -> None:
    capacities = [
        capacity("much", on("n1"), "10Gi"),
        capacity("parts", on("n2"), "10Gi", "2Gi"),  # the largest volume counts, not the sum
        capacity("little", on("n3"), "2Gi"),
        capacity("nobody", None, "10Gi"),
        capacity("unknown", on("n5"), None),
    ]
    wanted = claim("c", storageClassName="made")
    nodes = [node(f"n{i}") for i in range(1, 6)]
    world = World(*nodes, MADE, DRIVER, *capacities, wanted)
    assert reasons(world.schedule(using("p", "c"))) == {"n1": (), **{f"n{i}": (NO_SPACE,) for i in range(2, 6)}}
    silent = replace(DRIVER, spec=replace(DRIVER.spec, storage_capacity=False))
    assert isinstance(silent, CSIDriver)
    assert set(reasons(World(*nodes, MADE, silent, *capacities, wanted).schedule(using("p", "c"))).values()) == {()}


def test_a_claim_that_cannot_be_provisioned_hides_that_another_has_no_room() -> None:
    """The first claim of the list settles a node: selected ones, then by size."""
    world = World(node("n1"), LOCAL, MADE, DRIVER, claim("none", "1Gi"), claim("big", "9Gi", storageClassName="made"))
    assert reasons(world.schedule(using("p", "big", "none"))) == {"n1": (NO_VOLUME,)}


# --- Reserve, PreBind -------------------------------------------------------------------------------------------------


def test_a_volume_that_is_assumed_is_not_given_away_and_comes_back_when_the_pod_fails() -> None:
    """Nobody makes the other claim's volume, so binding times out; also after a checkpoint."""
    world = World(node("n1"), LOCAL, MADE, volume("pv"), claim("a"), claim("late", storageClassName="made"))
    world.cluster.set_controllers(())
    assert world.schedule(using("p", "a", "late")).result == ""
    assert world.outcomes.attempts == []
    assert world.scheduler.next_timer() == 600 * SECOND
    world.add(claim("b"))
    refused = world.schedule(using("q", "b"))
    assert reasons(refused) == {"n1": (NO_VOLUME,)}
    copy = pickle.loads(pickle.dumps(world.scheduler))
    for scheduler in (world.scheduler, copy):
        scheduler.advance(599 * SECOND)
        (pod,) = [each for each in scheduler.cluster.list(type(using("p"))) if each.name == "p"]
        assert not pod.status.conditions
        scheduler.advance(600 * SECOND)
        (pod,) = [each for each in scheduler.cluster.list(type(using("p"))) if each.name == "p"]
        assert pod.status.conditions[0].message == (
            'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
        )


def test_binding_goes_on_when_somebody_does_the_controllers_work() -> None:
    world = World(node("n1"), MADE, claim("c", storageClassName="made"))
    world.cluster.set_controllers(())
    assert world.schedule(using("p", "c")).result == ""
    assert world.outcomes.attempts == []
    waiting = world.get(PersistentVolumeClaim, "c")
    annotations = {**waiting.metadata.annotations, "pv.kubernetes.io/bind-completed": "yes"}
    world.add(volume("made-by-hand", storageClassName="made"))
    world.cluster.replace(
        replace(
            waiting,
            metadata=replace(waiting.metadata, annotations=annotations),
            spec=replace(waiting.spec, volume_name="made-by-hand"),
        )
    )
    assert [trace.result for trace in world.outcomes.attempts] == ["bound"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("pod", 'pod does not exist any more: pod "p" not found'),
        ("node", 'failed to get node "n1": node "n1" not found'),
        ("claim", 'failed to check provisioning pvc: persistentvolumeclaims "default/c" not found'),
        ("annotation", 'provisioning failed for PVC "c"'),
    ],
)
def test_what_ends_binding(change: str, message: str) -> None:
    world = World(node("n1"), MADE, claim("c", storageClassName="made", metadata={"annotations": {"a": "b"}}))
    world.cluster.set_controllers(())
    pod = using("p", "c")
    world.schedule(pod)
    waiting = world.get(PersistentVolumeClaim, "c")
    if change == "annotation":
        world.cluster.replace(replace(waiting, metadata=replace(waiting.metadata, annotations={"a": "b"})))
    else:
        world.cluster.delete({"pod": pod, "node": node("n1"), "claim": waiting}[change])
    (trace,) = world.outcomes.attempts
    assert trace.status is not None
    assert trace.status.message == f'running PreBind plugin "VolumeBinding": binding volumes: {message}'


def test_no_time_to_bind_fails_at_once() -> None:
    world = World(node("n1"), LOCAL, volume("pv"), claim("c"), args={"bindTimeoutSeconds": 0})
    attempt = world.schedule(using("p", "c"))
    assert attempt.message == 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'


def test_a_class_without_a_binding_mode_is_an_error() -> None:
    broken = StorageClass(metadata=LOCAL.metadata, provisioner="x")
    attempt = World(node("n1"), broken, claim("c")).schedule(using("p", "c"))
    text = 'VolumeBindingMode not set for StorageClass "local"'
    assert attempt.message == f'running PreFilter plugin "VolumeBinding": {text}'


# --- the gate StorageCapacityScoring ----------------------------------------------------------------------------------

SCORING = "StorageCapacityScoring=true"


def scores(attempt: Any) -> dict[str, int]:
    names = [attempt.filter.nodes[position] for position in attempt.scores.positions]
    (found,) = [each for each in attempt.scores.plugins if each.plugin == "VolumeBinding"]
    return dict(zip(names, found.raw.tolist(), strict=True))


def test_emptier_storage_is_better_by_default_and_a_shape_turns_it_round() -> None:
    """A node that is not full after the claim's 5Gi: 100 - 50, 100 - 25; shares are whole percents."""
    capacities = [capacity("a", on("n1"), "10Gi"), capacity("b", on("n2"), "20Gi")]
    objects = [node("n1"), node("n2"), MADE, DRIVER, *capacities, claim("c", storageClassName="made")]
    pod = using("p", "c")
    assert scores(World(*objects, gates=SCORING).schedule(pod)) == {"n1": 50, "n2": 75}
    shape = [{"utilization": 0, "score": 0}, {"utilization": 50, "score": 10}]
    assert scores(World(*objects, gates=SCORING, args={"shape": shape}).schedule(pod)) == {"n1": 100, "n2": 50}


def test_matched_volumes_are_scored_by_class_and_rounded_half_up() -> None:
    other = storage_class("other", "kubernetes.io/no-provisioner")
    volumes = [volume("a", "10Gi", node="n1"), volume("b", "8Gi", node="n1", storageClassName="other")]
    more = [volume("c", "10Gi", node="n2"), volume("d", "5Gi", node="n2", storageClassName="other")]
    claims = [claim("x", "5Gi"), claim("y", "5Gi", storageClassName="other")]
    world = World(node("n1"), node("n2"), LOCAL, other, *volumes, *more, *claims, gates=SCORING)
    # n1: (50 + 38) / 2, with 62 % of 8Gi used; n2: (50 + 0) / 2
    assert scores(world.schedule(using("p", "x", "y"))) == {"n1": 44, "n2": 25}


def test_a_pod_without_claims_is_scored_with_nothing() -> None:
    attempt = World(node("n1"), node("n2"), gates=SCORING).schedule(using("p"))
    assert scores(attempt) == {"n1": 0, "n2": 0}


def test_without_the_gate_nothing_is_scored() -> None:
    world = World(node("n1"), node("n2"), LOCAL, volume("pv"), claim("c"))
    attempt = world.schedule(using("p", "c"))
    assert attempt.scores is not None
    assert "VolumeBinding" not in [each.plugin for each in attempt.scores.plugins]


def test_a_shape_is_checked_as_other_shapes_are() -> None:
    written = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {"pluginConfig": [{"name": "VolumeBinding", "args": {"shape": [{"utilization": 0, "score": 11}]}}]}
        ],
    }
    loaded = load_value(written, built_in_registry(), parse_feature_gates(SCORING))
    assert [error.path for error in loaded.errors] == ["profiles[0].pluginConfig[0].args.shape[0].score"]

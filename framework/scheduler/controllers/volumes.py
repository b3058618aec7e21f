"""What the PersistentVolume, provisioner and ephemeral-volume controllers do about claims, at once.

After the scheduler's PreBind wrote a volume's claimRef or a claim's selected node, the claim is bound or provisioned.
Claims and volumes that come during a run are taken care of as in a real cluster; what the snapshot of a cluster holds
unbound stays as it is, for what kept it unbound there is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from framework.objects import CSINode, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from framework.objects.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from framework.objects.claims import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    NO_PROVISIONER,
    PROVISIONED_BY,
    SELECTED_NODE,
    STORAGE,
    WAIT_FOR_FIRST_CONSUMER,
    class_of_claim,
    ephemeral_claim_name,
    is_bound_to,
    not_made_for,
    requested_storage,
)
from framework.objects.csi_migration import plugin_named
from framework.objects.metadata import ObjectMeta, OwnerReference
from framework.objects.sealed_fields import without_sealed_annotations
from framework.objects.storage import (
    CSIPersistentVolumeSource,
    ObjectReference,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)
from framework.objects.volume_matching import find_volume
from framework.scheduler.controllers.api import ControlledCluster
from framework.scheduler.store import InformerEvent, ObjectAdded, ObjectDeleted, ObjectUpdated

AVAILABLE: Final = "Available"
BOUND: Final = "Bound"


def bind_what_was_decided(cluster: ControlledCluster, event: InformerEvent) -> None:
    """The scheduler named a claim in a volume, or a node in a claim."""
    match event:
        case ObjectUpdated(PersistentVolume() as old, PersistentVolume() as volume):
            # A volume that named its claim before is written once more by the binder, without a change.
            rewritten = volume.spec == old.spec and volume.status == old.status
            if volume.spec.claim_ref is not None and (rewritten or volume.spec.claim_ref != old.spec.claim_ref):
                _bind_named(cluster, volume)
        case ObjectUpdated(_, PersistentVolumeClaim() as claim):
            node_name = claim.metadata.annotations.get(SELECTED_NODE)
            if node_name and not claim.spec.volume_name:
                provision(cluster, claim, cluster.get(Node, "", node_name))


def make_volumes_available(cluster: ControlledCluster, event: InformerEvent) -> None:
    """A volume as somebody wrote it has no phase; it has one as soon as the controller has seen it."""
    match event:
        case ObjectAdded(PersistentVolume() as volume):
            if volume.status.phase in ("", "Pending"):
                cluster.replace(replace(volume, status=PersistentVolumeStatus(phase=AVAILABLE)))


def bind_what_comes(cluster: ControlledCluster, event: InformerEvent) -> None:
    """A claim that waits for no consumer is bound as soon as it can be: to a volume that is there, else to one that
    is made for it. One that waits is bound here only to a volume that names it."""
    match event:
        case ObjectUpdated(PersistentVolume() as old, PersistentVolume() as volume):
            if volume.status.phase == AVAILABLE != old.status.phase:
                _bind_claims(cluster, cluster.list(PersistentVolumeClaim))
        case ObjectAdded(PersistentVolume(status=PersistentVolumeStatus(phase="Available"))):
            _bind_claims(cluster, cluster.list(PersistentVolumeClaim))
        case ObjectAdded(StorageClass() as storage_class):
            claims = cluster.list(PersistentVolumeClaim)
            _bind_claims(cluster, [each for each in claims if class_of_claim(each) == storage_class.metadata.name])
            _provision_claims(cluster, [each for each in claims if class_of_claim(each) == storage_class.metadata.name])
        case ObjectAdded(PersistentVolumeClaim() as claim):
            _bind_claims(cluster, [claim])
            _provision_claims(cluster, [claim])


def _bind_claims(cluster: ControlledCluster, claims: Iterable[PersistentVolumeClaim]) -> None:
    for claim in claims:
        if _is_unbound(claim):
            waits = _waits_for_consumer(cluster, claim)
            volume = find_volume(claim, cluster.list(PersistentVolume), pre_bound_only=waits)
            if volume is not None:
                bind(cluster, claim, volume)


def _provision_claims(cluster: ControlledCluster, claims: Iterable[PersistentVolumeClaim]) -> None:
    for known in claims:
        claim = cluster.get(PersistentVolumeClaim, known.metadata.namespace, known.metadata.name)
        if claim is not None and _is_unbound(claim) and not _waits_for_consumer(cluster, claim):
            provision(cluster, claim, _first_node_with_driver(cluster, claim))


def _is_unbound(claim: PersistentVolumeClaim) -> bool:
    return not claim.spec.volume_name and claim.metadata.deletion_timestamp is None


def _waits_for_consumer(cluster: ControlledCluster, claim: PersistentVolumeClaim) -> bool:
    name = class_of_claim(claim)
    storage_class = cluster.get(StorageClass, "", name) if name else None
    return storage_class is not None and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def _bind_named(cluster: ControlledCluster, volume: PersistentVolume) -> None:
    """To the claim that the volume names; a claim that has another volume gives this one back."""
    ref = volume.spec.claim_ref
    assert ref is not None
    claim = cluster.get(PersistentVolumeClaim, ref.namespace, ref.name)
    if claim is None or not is_bound_to(volume, claim):
        return
    if claim.spec.volume_name in ("", volume.metadata.name):
        bind(cluster, claim, volume)
    elif BOUND_BY_CONTROLLER in volume.metadata.annotations:
        annotations = {k: v for k, v in volume.metadata.annotations.items() if k != BOUND_BY_CONTROLLER}
        cluster.replace(
            replace(
                volume,
                metadata=replace(volume.metadata, annotations=annotations),
                spec=replace(volume.spec, claim_ref=None),
                status=replace(volume.status, phase=AVAILABLE),
            )
        )


def bind(cluster: ControlledCluster, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
    """Both know of each other, and say so (upstream ``pv_controller.go``, bind)."""
    ref = volume.spec.claim_ref
    if ref is None or ref.uid != claim.metadata.uid or volume.status.phase != BOUND:
        annotations = volume.metadata.annotations
        if ref is None:
            annotations = {**annotations, BOUND_BY_CONTROLLER: "yes"}
        volume = replace(
            volume,
            metadata=replace(volume.metadata, annotations=annotations),
            spec=replace(volume.spec, claim_ref=_reference(claim)),
            status=replace(volume.status, phase=BOUND),
        )
        cluster.replace(volume)
    annotations = {**claim.metadata.annotations, BIND_COMPLETED: "yes"}
    if not claim.spec.volume_name:
        annotations[BOUND_BY_CONTROLLER] = "yes"
    cluster.replace(
        replace(
            claim,
            metadata=replace(claim.metadata, annotations=annotations),
            spec=replace(claim.spec, volume_name=volume.metadata.name),
            status=replace(claim.status, phase=BOUND, capacity=volume.spec.capacity),
        )
    )


def _reference(claim: PersistentVolumeClaim) -> ObjectReference:
    metadata = claim.metadata
    return ObjectReference(
        api_version=claim.api_version,
        kind=claim.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
    )


def provision(cluster: ControlledCluster, claim: PersistentVolumeClaim, node: Node | None) -> None:
    """A volume ``pvc-<claim uid>``, reachable from where the node is, as its CSINode's topology keys say.

    Nothing happens when nobody provisions for the class: the claim stays unbound.
    """
    name = class_of_claim(claim)
    storage_class = cluster.get(StorageClass, "", name) if name else None
    if storage_class is None or storage_class.provisioner in ("", NO_PROVISIONER) or claim.spec.volume_name:
        return
    migrated = plugin_named(storage_class.provisioner)
    driver = storage_class.provisioner if migrated is None else migrated.driver
    volume_name = f"pvc-{claim.metadata.uid}"
    amount = requested_storage(claim)
    made = cluster.post(
        PersistentVolume(
            metadata=ObjectMeta(name=volume_name, annotations={PROVISIONED_BY: driver}),
            spec=PersistentVolumeSpec(
                capacity=None if amount is None else {STORAGE: amount},
                access_modes=claim.spec.access_modes,
                claim_ref=_reference(claim),
                storage_class_name=name,
                volume_mode=claim.spec.volume_mode,
                volume_attributes_class_name=claim.spec.volume_attributes_class_name,
                node_affinity=_topology(cluster, node, driver),
                csi=CSIPersistentVolumeSource(driver=driver, volume_handle=volume_name),
                persistent_volume_reclaim_policy=storage_class.reclaim_policy or "Delete",
            ),
            status=PersistentVolumeStatus(phase=BOUND),
        )
    )
    if made is not None:
        bind(cluster, claim, made)


def _topology(cluster: ControlledCluster, node: Node | None, driver: str) -> VolumeNodeAffinity | None:
    """None: every node reaches the volume."""
    csi_node = None if node is None else cluster.get(CSINode, "", node.metadata.name)
    if node is None or csi_node is None:
        return None
    labels = node.metadata.labels
    keys = [key for each in csi_node.spec.drivers if each.name == driver for key in each.topology_keys if key in labels]
    if not keys:
        return None
    wanted = tuple(NodeSelectorRequirement(key=key, operator="In", values=(labels[key],)) for key in keys)
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=wanted),)))


def _first_node_with_driver(cluster: ControlledCluster, claim: PersistentVolumeClaim) -> Node | None:
    """Where a volume of a class that does not wait goes: a provisioner would take any zone, here it is the first
    node's."""
    storage_class = cluster.get(StorageClass, "", class_of_claim(claim))
    provisioner = "" if storage_class is None else storage_class.provisioner
    for csi_node in cluster.list(CSINode):
        if any(driver.name == provisioner for driver in csi_node.spec.drivers):
            node = cluster.get(Node, "", csi_node.metadata.name)
            if node is not None:
                return node
    return None


def keep_ephemeral_claims(cluster: ControlledCluster, event: InformerEvent) -> None:
    """Generic ephemeral volumes: a pod's claims come with it and go with it (upstream ``ephemeral/controller.go``)."""
    match event:
        case ObjectAdded(Pod() as pod):
            if pod.metadata.deletion_timestamp is None and pod.status.phase in ("", "Pending", "Running"):
                _make_claims(cluster, pod)
        case ObjectDeleted(Pod() as pod):
            for volume in pod.spec.volumes:
                if volume.ephemeral is not None:
                    name = ephemeral_claim_name(pod, volume)
                    claim = cluster.get(PersistentVolumeClaim, pod.metadata.namespace, name)
                    if claim is not None and not_made_for(pod, claim) is None:
                        cluster.delete(claim)


def _make_claims(cluster: ControlledCluster, pod: Pod) -> None:
    for volume in pod.spec.volumes:
        template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
        name, namespace = ephemeral_claim_name(pod, volume), pod.metadata.namespace
        if template is None or cluster.get(PersistentVolumeClaim, namespace, name) is not None:
            continue
        owner = OwnerReference(
            api_version=pod.api_version,
            kind=pod.kind,
            name=pod.metadata.name,
            uid=pod.metadata.uid,
            controller=True,
            block_owner_deletion=True,
        )
        metadata = ObjectMeta(
            name=name,
            namespace=namespace,
            labels=template.metadata.labels,
            annotations=without_sealed_annotations(template.metadata.annotations),
            owner_references=(owner,),
        )
        cluster.post(PersistentVolumeClaim(metadata=metadata, spec=template.spec))


def reclaim_volumes(cluster: ControlledCluster, event: InformerEvent) -> None:
    """The volume of a claim that is gone is deleted or kept, as its reclaim policy says."""
    match event:
        case ObjectDeleted(PersistentVolumeClaim() as claim):
            volume = cluster.get(PersistentVolume, "", claim.spec.volume_name) if claim.spec.volume_name else None
            if volume is None or volume.spec.claim_ref is None or volume.spec.claim_ref.uid != claim.metadata.uid:
                return
            if volume.spec.persistent_volume_reclaim_policy == "Delete":
                cluster.delete(volume)
            else:
                cluster.replace(replace(volume, status=replace(volume.status, phase="Released")))

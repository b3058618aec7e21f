"""What PreBind writes for volumes. kube-scheduler PUTs the whole object; here it is a patch with the version that was
read, which conflicts in the same cases and leaves alone what is not ours."""

from __future__ import annotations

from typing import Final

from framework.objects import KubeObject, ObjectMeta, PersistentVolume, PersistentVolumeClaim
from schedweb.writes.writes import STRATEGIC, About, Body, Write

SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
NOT_WRITTEN: Final = "{}s are not written by this scheduler"


def written(obj: KubeObject) -> Write | None:
    """What has to be written for an object as PreBind of VolumeBinding leaves it; None of what is not written."""
    if isinstance(obj, PersistentVolume) and (to := obj.spec.claim_ref) is not None:
        known = ObjectMeta(namespace=to.namespace, name=to.name, uid=to.uid, resource_version=to.resource_version)
        return bind_volume(obj, PersistentVolumeClaim(metadata=known))
    if isinstance(obj, PersistentVolumeClaim) and SELECTED_NODE in obj.metadata.annotations:
        return choose_node(obj, obj.metadata.annotations[SELECTED_NODE])
    return None


def bind_volume(volume: PersistentVolume, claim: PersistentVolumeClaim) -> Write:
    """The volume is promised to the claim; the volume controller does the rest."""
    to = claim.metadata
    body: Body = {
        "metadata": {
            "resourceVersion": volume.metadata.resource_version,
            "annotations": {BOUND_BY_CONTROLLER: "yes"},
        },
        "spec": {
            "claimRef": {
                "kind": "PersistentVolumeClaim",
                "namespace": to.namespace,
                "name": to.name,
                "uid": to.uid,
                "apiVersion": "v1",
                "resourceVersion": to.resource_version,
            }
        },
    }
    path = f"/api/v1/persistentvolumes/{volume.metadata.name}"
    target = About("", volume.metadata.name, volume.metadata.uid, path)
    return Write("volume", "PATCH", path, body, target, to.namespace, STRATEGIC)


def choose_node(claim: PersistentVolumeClaim, node_name: str) -> Write:
    """The provisioner is told where."""
    metadata = claim.metadata
    body: Body = {"metadata": {"resourceVersion": metadata.resource_version, "annotations": {SELECTED_NODE: node_name}}}
    path = f"/api/v1/namespaces/{metadata.namespace}/persistentvolumeclaims/{metadata.name}"
    target = About(metadata.namespace, metadata.name, metadata.uid, path)
    return Write("node_of_claim", "PATCH", path, body, target, metadata.namespace, STRATEGIC)

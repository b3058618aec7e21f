"""Controllers of workloads: what they make of one that comes, what goes with one that is deleted, and the pods that
they make again.

A pod is made again when it is evicted: how many replicas a workload wants is not known of every cluster, so a pod that
is deleted for other reasons (a trace in which its workload was made smaller) stays away. Workloads that come with a
snapshot or in a timeline have their pods beside them; only for one that a person adds they are made.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from framework.objects import KubeObject, Node, OwnerReference, Pod
from framework.objects.affinity import Affinity, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from framework.objects.generated import generated_name
from framework.objects.kinds import api_group
from framework.objects.older_versions import as_current
from framework.scheduler.controllers.api import ControlledCluster
from framework.scheduler.store import InformerEvent, ObjectEvicted, Store
from framework.workloads import KINDS, Existing, Made, make_pods
from framework.workloads.fields import ManifestDict

REPLACED_BY: Final = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet", "Job", "DaemonSet"})
"""Kinds of controllers that make a new pod when one of theirs goes."""
NODE_NAME: Final = "metadata.name"
TEMPLATE_HASH: Final = "pod-template-hash"


def is_workload(api_version: str, kind: str) -> bool:
    """One of whose manifest pods are made; other API groups have kinds of these names, too."""
    known = KINDS.get(kind)
    return known is not None and api_group(api_version) == api_group(known[0])


def workload_in(manifest: ManifestDict) -> ManifestDict | None:
    """Of the current version; None of anything else."""
    version, kind = str(manifest.get("apiVersion", "")), str(manifest.get("kind", ""))
    newer = as_current(manifest, version, kind) or manifest
    return dict(newer) if is_workload(str(newer.get("apiVersion", "")), kind) else None


def made_of(cluster: Store, manifest: ManifestDict) -> Made:
    """What the controllers make of a workload that comes now, beside the pods that are there. ``manifest`` is of the
    current version and has its namespace."""
    existing = Existing()
    for pod in cluster.list(Pod):
        existing.take(pod)
    taken = {(each.kind, each.metadata.namespace, each.metadata.name) for each in cluster.all()}
    (made,) = make_pods([manifest], existing, cluster.list(Node), taken)
    return made


def dependents(cluster: Store, owner: KubeObject) -> list[KubeObject]:
    """What the garbage collector deletes after ``owner``: what it controls, and what that controls.

    An export may lack a Deployment's ReplicaSets; their pods go with it all the same.
    """
    gone, found = [owner], dict[str, KubeObject]()
    everything = list(cluster.all())
    for each in gone:
        for other in everything:
            about = f"{other.api_version}/{other.kind}/{other.key}"
            if about in found or not _is_of(other, each):
                continue
            found[about] = other
            if is_workload(other.api_version, other.kind):
                gone.append(other)
    return list(found.values())


def _is_of(obj: KubeObject, owner: KubeObject) -> bool:
    if obj.metadata.namespace != owner.metadata.namespace:
        return False
    owners = obj.metadata.owner_references
    return any((each.controller or len(owners) == 1) and _names(each, obj, owner) for each in owners)


def _names(reference: OwnerReference, obj: KubeObject, owner: KubeObject) -> bool:
    if api_group(reference.api_version) != api_group(owner.api_version):
        return False
    if (reference.kind, reference.name) == (owner.kind, owner.metadata.name):
        return True
    hashed = obj.metadata.labels.get(TEMPLATE_HASH) if isinstance(obj, Pod) else None
    between = ("ReplicaSet", f"{owner.metadata.name}-{hashed}")
    return bool(hashed) and owner.kind == "Deployment" and (reference.kind, reference.name) == between


def make_again(cluster: ControlledCluster, event: InformerEvent) -> None:
    match event:
        case ObjectEvicted(Pod() as pod):
            again = replacement(cluster, pod)
            if again is not None:
                cluster.post(again, stored=True)


def controller_of(pod: Pod) -> OwnerReference | None:
    """The owner that controls it, or the first one; None without any."""
    owners = pod.metadata.owner_references
    return next((owner for owner in owners if owner.controller), owners[0] if owners else None)


def replacement(cluster: ControlledCluster, pod: Pod) -> Pod | None:
    """The pod that its controller makes instead; None for a pod without one, or of a DaemonSet whose node is gone."""
    owner = controller_of(pod)
    if owner is None or owner.kind not in REPLACED_BY:
        return None
    spec = replace(pod.spec, node_name="")
    metadata = pod.metadata
    if owner.kind == "DaemonSet":
        node = pod.spec.node_name
        if node and cluster.get(Node, "", node) is None:
            return None
        spec = replace(spec, affinity=_pinned(spec.affinity, node) if node else spec.affinity)
    name = metadata.name
    if owner.kind != "StatefulSet":
        name = generated_name(f"{owner.name}-", metadata.namespace, metadata.uid)
    return Pod(
        metadata=replace(
            metadata,
            name=name,
            generate_name="" if name == metadata.name else f"{owner.name}-",
            uid="",
            resource_version="",
            creation_timestamp=None,
            deletion_timestamp=None,
        ),
        spec=spec,
    )


def _pinned(affinity: Affinity | None, node: str) -> Affinity:
    """As the DaemonSet controller writes it: to this node by name, instead of what was required before."""
    asked = NodeSelectorRequirement(key=NODE_NAME, operator="In", values=(node,))
    affinity = affinity or Affinity()
    chosen = replace(
        affinity.node_affinity or NodeAffinity(),
        required_during_scheduling_ignored_during_execution=NodeSelector(
            node_selector_terms=(NodeSelectorTerm(match_fields=(asked,)),)
        ),
    )
    return replace(affinity, node_affinity=chosen)

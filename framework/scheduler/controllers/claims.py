"""ResourceClaims of pods: made from templates, reserved, given back, deleted (upstream: pkg/controller/resourceclaim).

Reservations are cleaned up when their pod goes; a claim that arrives with reservations is believed. There are no
drivers: what they would say of their devices is said by command.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from framework.objects import ObjectMeta, OwnerReference, Pod, ResourceClaim, ResourceClaimTemplate
from framework.objects.devices import (
    CLAIM_FINALIZER,
    POD_CLAIM_NAME_ANNOTATION,
    ResourceClaimConsumerReference,
)
from framework.objects.generated import generated_name, generated_uid
from framework.objects.pod import PodResourceClaim, PodResourceClaimStatus
from framework.scheduler.controllers.api import ControlledCluster
from framework.scheduler.store import InformerEvent, ObjectAdded, ObjectDeleted, ObjectUpdated

LONGEST_BASE: Final = 57
TERMINAL_PHASES: Final = ("Succeeded", "Failed")


def control_claims(cluster: ControlledCluster, event: InformerEvent) -> None:
    if isinstance(event, ObjectUpdated):
        # Of each pod that is bound; most have no claims.
        pod = event.new
        if isinstance(pod, Pod) and _may_need_claims(pod):
            _sync_pod(cluster, pod)
        return
    match event:
        case ObjectAdded(Pod() as pod):
            if _may_need_claims(pod):
                _sync_pod(cluster, pod)
        case ObjectDeleted(Pod() as pod):
            _pod_ended(cluster, pod)
        case ObjectAdded(ResourceClaimTemplate() as template):
            for pod in cluster.list(Pod, template.namespace):
                if any(each.resource_claim_template_name == template.name for each in pod.spec.resource_claims):
                    _sync_pod(cluster, pod)
        case ObjectDeleted(ResourceClaim() as claim):
            owner = _owner(claim)
            pod_now = None if owner is None else cluster.get(Pod, claim.namespace, owner.name)
            if pod_now is not None and pod_now.spec.resource_claims:
                _sync_pod(cluster, pod_now)


def _may_need_claims(pod: Pod) -> bool:
    return bool(pod.spec.resource_claims) or pod.status.extended_resource_claim_status is not None


def give_claims_back(cluster: ControlledCluster, event: InformerEvent) -> None:
    """Of a pod that is gone; nothing else."""
    match event:
        case ObjectDeleted(Pod() as pod):
            _pod_ended(cluster, pod)


def _sync_pod(cluster: ControlledCluster, known: Pod) -> None:
    pod = cluster.get(Pod, known.namespace, known.name)
    if pod is None or pod.uid != known.uid:
        return
    if _is_done(pod):
        _pod_ended(cluster, pod)
        return
    if pod.metadata.deletion_timestamp is not None:
        return
    made = {}
    for reference in pod.spec.resource_claims:
        if (name := _generated(cluster, pod, reference)) is not None:
            made[reference.name] = name
    if made:
        kept = [each for each in pod.status.resource_claim_statuses if each.name not in made]
        new = [PodResourceClaimStatus(name=name, resource_claim_name=claim) for name, claim in made.items()]
        status = replace(pod.status, resource_claim_statuses=(*kept, *new))
        pod = cluster.replace(replace(pod, status=status))
    if pod.spec.node_name:
        # Bound by somebody who did not reserve; the scheduler does it before.
        for name in _claim_names(pod):
            claim = cluster.get(ResourceClaim, pod.namespace, name)
            if claim is not None and claim.status.allocation is not None:
                _reserve(cluster, claim, pod)


def _generated(cluster: ControlledCluster, pod: Pod, reference: PodResourceClaim) -> str | None:
    """The name of a claim that the pod's status has yet to tell; None when there is nothing to tell."""
    if reference.resource_claim_name is not None or reference.resource_claim_template_name is None:
        return None
    status = next((each for each in pod.status.resource_claim_statuses if each.name == reference.name), None)
    if status is not None:
        if status.resource_claim_name is None:
            return None
        claim = cluster.get(ResourceClaim, pod.namespace, status.resource_claim_name)
        if claim is not None and _is_owned(claim, pod):
            return None
    for claim in cluster.list(ResourceClaim, pod.namespace):
        if _is_owned(claim, pod) and claim.metadata.annotations.get(POD_CLAIM_NAME_ANNOTATION) == reference.name:
            return claim.name
    wanted = reference.resource_claim_template_name
    template = cluster.get(ResourceClaimTemplate, pod.namespace, wanted)
    try:
        if template is None:
            missing = f'resourceclaimtemplate.resource.k8s.io "{wanted}" not found'
            raise ValueError(f'resource claim template "{wanted}": {missing}')
        return cluster.create(_from_template(cluster, template, pod, reference)).name
    except ValueError as error:
        # It is tried again when the pod or the template changes.
        cluster.event("Warning", "FailedResourceClaimCreation", pod, f"PodResourceClaim {reference.name}: {error}")
        return None


def _from_template(
    cluster: ControlledCluster, template: ResourceClaimTemplate, pod: Pod, reference: PodResourceClaim
) -> ResourceClaim:
    base = f"{pod.name}-{reference.name}-"
    if len(base) > LONGEST_BASE:
        # Both names are shortened in proportion to their length.
        of_pod, of_claim = (text[: len(text) * LONGEST_BASE // len(base)] for text in (pod.name, reference.name))
        base = f"{of_pod}-{of_claim}"
    name, number = generated_name(base, pod.uid), 0
    while cluster.get(ResourceClaim, pod.namespace, name) is not None:
        number += 1
        name = generated_name(base, pod.uid, str(number))
    metadata = ObjectMeta(
        name=name,
        generate_name=base,
        namespace=pod.namespace,
        uid=generated_uid("ResourceClaim", pod.uid, reference.name, name, pod.metadata.resource_version),
        creation_timestamp=cluster.now_rfc3339(),
        labels=template.spec.metadata.labels,
        annotations={**template.spec.metadata.annotations, POD_CLAIM_NAME_ANNOTATION: reference.name},
        owner_references=(OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True),),
    )
    return ResourceClaim(metadata=metadata, spec=template.spec.spec)


def _reserve(cluster: ControlledCluster, claim: ResourceClaim, pod: Pod) -> None:
    if any(consumer.uid == pod.uid for consumer in claim.status.reserved_for):
        return
    consumer = ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)
    status = replace(claim.status, reserved_for=(*claim.status.reserved_for, consumer))
    cluster.replace(replace(claim, status=status))


def _pod_ended(cluster: ControlledCluster, pod: Pod) -> None:
    """The pod is gone or will not run any more: its claims are given back, those made for it deleted."""
    for name in _claim_names(pod):
        claim = cluster.get(ResourceClaim, pod.namespace, name)
        if claim is None:
            continue
        kept = tuple(consumer for consumer in claim.status.reserved_for if consumer.uid != pod.uid)
        if len(kept) < len(claim.status.reserved_for):
            claim = _released(cluster, claim, kept)
        if not kept and _is_owned(claim, pod):
            cluster.delete(claim)


def _released(
    cluster: ControlledCluster, claim: ResourceClaim, kept: tuple[ResourceClaimConsumerReference, ...]
) -> ResourceClaim:
    """Without a consumer left it is deallocated, if it was the scheduler who allocated it."""
    metadata, status = claim.metadata, replace(claim.status, reserved_for=kept)
    if not kept and CLAIM_FINALIZER in metadata.finalizers:
        finalizers = tuple(each for each in metadata.finalizers if each != CLAIM_FINALIZER)
        metadata = replace(metadata, finalizers=finalizers)
        # The API server drops the devices' statuses with the allocation.
        status = replace(status, allocation=None, devices=())
    return cluster.replace(replace(claim, metadata=metadata, status=status))


def _claim_names(pod: Pod) -> list[str]:
    names = [each.resource_claim_name for each in pod.spec.resource_claims]
    names += [each.resource_claim_name for each in pod.status.resource_claim_statuses]
    if pod.status.extended_resource_claim_status is not None:
        names.append(pod.status.extended_resource_claim_status.resource_claim_name)
    return list(dict.fromkeys(name for name in names if name))


def _is_done(pod: Pod) -> bool:
    deleted = pod.metadata.deletion_timestamp is not None and not pod.spec.node_name
    return deleted or pod.status.phase in TERMINAL_PHASES


def _owner(claim: ResourceClaim) -> OwnerReference | None:
    for owner in claim.metadata.owner_references:
        if owner.controller and owner.api_version == "v1" and owner.kind == "Pod":
            return owner
    return None


def _is_owned(claim: ResourceClaim, pod: Pod) -> bool:
    owner = _owner(claim)
    return owner is not None and owner.uid == pod.uid

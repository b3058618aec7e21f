"""Which changes of a pod an API server takes as an update; for all others its owner deletes it and makes a new one.

Kubernetes API, Pod: tolerations may be added, scheduling gates removed, images changed; with the subresource ``resize``
the cpu and memory of containers, as long as the pod stays in its class of quality of service.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from framework.objects.metadata import ResourceList
from framework.objects.pod import Container, Pod, ResourceRequirements
from framework.objects.resources import resource_value

RESIZED: Final = ("cpu", "memory")


def is_update(old: Pod, new: Pod) -> bool:
    """Whether the API server would take ``new`` in place of ``old``, a pod without a node."""
    before, after = old.spec, new.spec
    if after.tolerations[: len(before.tolerations)] != before.tolerations:
        return False
    if any(gate not in before.scheduling_gates for gate in after.scheduling_gates):
        return False
    if len(before.containers) != len(after.containers) or len(before.init_containers) != len(after.init_containers):
        return False
    if not all(map(_is_resized, before.containers, after.containers)):
        return False
    if not all(map(_is_sidecar_resized, before.init_containers, after.init_containers)):
        return False
    if quality_of_service(old) != quality_of_service(new):
        return False
    rest = replace(
        after,
        tolerations=before.tolerations,
        scheduling_gates=before.scheduling_gates,
        containers=before.containers,
        init_containers=before.init_containers,
    )
    return rest == before


def _is_resized(old: Container, new: Container) -> bool:
    """Whether nothing but amounts of cpu and memory, and the image, differs; none of them comes or goes."""
    if replace(new, resources=old.resources, image=old.image) != old:
        return False
    before, after = old.resources, new.resources
    if replace(after, requests=before.requests, limits=before.limits) != before:
        return False
    return _same_rest(before.requests, after.requests) and _same_rest(before.limits, after.limits)


def _is_sidecar_resized(old: Container, new: Container) -> bool:
    """Init containers that end are resized by nobody."""
    if replace(new, image=old.image) == old:
        return True
    return old.restart_policy == "Always" and _is_resized(old, new)


def _same_rest(before: ResourceList | None, after: ResourceList | None) -> bool:
    before, after = before or {}, after or {}
    return before.keys() == after.keys() and all(
        name in RESIZED or resource_value(name, amount) == resource_value(name, after[name])
        for name, amount in before.items()
    )


def quality_of_service(pod: Pod) -> str:
    """BestEffort: no container asks for cpu or memory; Guaranteed: all have both as limits and ask for no less."""
    pod_level = pod.spec.resources
    resources = [each.resources for each in (*pod.spec.containers, *pod.spec.init_containers)]
    if pod_level is not None and (_amounts(pod_level.requests) or _amounts(pod_level.limits)):
        resources = [pod_level]
    if not any(_amounts(each.requests) or _amounts(each.limits) for each in resources):
        return "BestEffort"
    return "Guaranteed" if all(map(_is_guaranteed, resources)) else "Burstable"


def _is_guaranteed(resources: ResourceRequirements) -> bool:
    limits = _amounts(resources.limits)
    return len(limits) == len(RESIZED) and {**limits, **_amounts(resources.requests)} == limits


def _amounts(resources: ResourceList | None) -> dict[str, int]:
    """Cpu and memory that are not 0."""
    found = {name: resource_value(name, raw) for name, raw in (resources or {}).items() if name in RESIZED}
    return {name: amount for name, amount in found.items() if amount}

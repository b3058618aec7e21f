"""A pod that asks for less: only the containers that decide how much it asks for are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from framework.objects import Pod
from framework.objects.metadata import ResourceList
from framework.objects.pod import Container, ResourceRequirements
from framework.objects.quantity import Format, format_milli, format_value
from framework.objects.resources import CPU, is_extended_resource_name, pod_requests, resource_value

MEBIBYTE: Final = 1 << 20


def in_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def written(resource: str, amount: int) -> str:
    """As a manifest writes it; ``amount`` in millicores, bytes or units."""
    if resource == CPU:
        return format_milli(amount)
    return format_value(amount, Format.BINARY_SI if in_bytes(resource) else Format.DECIMAL_SI)


def lowered(pod: Pod, targets: Mapping[str, int]) -> Pod | None:
    """The pod asking for ``targets`` at most in all; None where overhead alone is more. Limits of resources that
    cannot be overcommitted follow their requests."""
    asked = pod_requests(pod)
    overhead = {name: resource_value(name, raw) for name, raw in (pod.spec.overhead or {}).items()}
    for resource, target in targets.items():
        wanted = target - overhead.get(resource, 0)
        if wanted < 0 or asked[resource] <= overhead.get(resource, 0):
            return None
        pod = _cut(pod, resource, wanted)
    return pod


def _cut(pod: Pod, resource: str, wanted: int) -> Pod:
    """Containers that run at the same time share the cut; an init container that runs alone is cut where it, with the
    sidecars that were started before it, asks for more."""
    spec = pod.spec
    sidecars = [each for each in spec.init_containers if _is_sidecar(each)]
    together = [_amount(each.resources, resource) for each in (*sidecars, *spec.containers)]
    kept = _shared(together, wanted, MEBIBYTE if in_bytes(resource) else 1)
    of_sidecars, of_containers = iter(kept[: len(sidecars)]), iter(kept[len(sidecars) :])
    started = 0
    init_containers: list[Container] = []
    for each in spec.init_containers:
        if _is_sidecar(each):
            amount = next(of_sidecars)
            started += amount
        else:
            amount = min(_amount(each.resources, resource), wanted - started)
        init_containers.append(_asking(each, resource, amount))
    resources = spec.resources
    if resources is not None:
        resources = _with(resources, resource, min(_amount(resources, resource), wanted))
    containers = tuple(_asking(each, resource, next(of_containers)) for each in spec.containers)
    return replace(
        pod,
        spec=replace(spec, containers=containers, init_containers=tuple(init_containers), resources=resources),
    )


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def _shared(amounts: Sequence[int], wanted: int, unit: int) -> list[int]:
    """In proportion, in whole units where that leaves something, ``wanted`` in all; as they are if that is no more."""
    total = sum(amounts)
    if total <= wanted:
        return list(amounts)
    shares = [each * wanted // total for each in amounts]
    shares = [each // unit * unit or each for each in shares]
    most = max(range(len(shares)), key=lambda index: amounts[index])
    shares[most] += wanted - sum(shares)
    return shares


def _amount(resources: ResourceRequirements, resource: str) -> int:
    raw = (resources.requests or {}).get(resource)
    return 0 if raw is None else resource_value(resource, raw)


def _asking(container: Container, resource: str, amount: int) -> Container:
    return replace(container, resources=_with(container.resources, resource, amount))


def _with(resources: ResourceRequirements, resource: str, amount: int) -> ResourceRequirements:
    """What is asked for already keeps its spelling."""
    requests: ResourceList = dict(resources.requests or {})
    limits: ResourceList = dict(resources.limits or {})
    if resource not in requests or _amount(resources, resource) == amount:
        return resources
    requests[resource] = written(resource, amount)
    if resource in limits and (is_extended_resource_name(resource) or resource.startswith("hugepages-")):
        limits[resource] = requests[resource]
    return replace(resources, requests=requests, limits=limits if resources.limits is not None else None)

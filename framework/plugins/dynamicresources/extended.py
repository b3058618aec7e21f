"""Extended resources that device classes back (gate DRAExtendedResource).

One special claim stands for all of a pod's. Up to PreBind it exists in memory only, under a name that no object has;
each node gets its own requests, because a node may offer a resource through a device plugin instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from framework.objects import Container, DeviceClass, ObjectMeta, OwnerReference, Pod, ResourceClaim
from framework.objects.devices import (
    EXACT_COUNT,
    EXTENDED_RESOURCE_CLAIM_ANNOTATION,
    DeviceRequest,
    ExactDeviceRequest,
)
from framework.objects.pod import ContainerExtendedResourceRequest
from framework.objects.quantity import NANOS, parse_quantity

IN_MEMORY_NAME: Final = "<extended-resources>"
Mappings = list[ContainerExtendedResourceRequest]


def find_claim(pod: Pod, claims: Iterable[ResourceClaim]) -> ResourceClaim | None:
    """The special claim that an earlier attempt left."""
    for claim in claims:
        if claim.metadata.annotations.get(EXTENDED_RESOURCE_CLAIM_ANNOTATION) != "true":
            continue
        for owner in claim.metadata.owner_references:
            if owner.name == pod.name and owner.controller and owner.uid == pod.uid:
                return claim
    return None


def special_claim(pod: Pod) -> ResourceClaim:
    """Without requests. Its uid is for the time in flight only; upstream draws one."""
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
    metadata = ObjectMeta(
        name=IN_MEMORY_NAME,
        generate_name=f"{pod.name}-extended-resources-",
        namespace=pod.namespace,
        uid=f"{pod.uid}{IN_MEMORY_NAME}",
        annotations={EXTENDED_RESOURCE_CLAIM_ANNOTATION: "true"},
        owner_references=(owner,),
    )
    return ResourceClaim(metadata=metadata)


def with_requests(claim: ResourceClaim, requests: Sequence[DeviceRequest]) -> ResourceClaim:
    devices = replace(claim.spec.devices, requests=tuple(requests))
    return replace(claim, spec=replace(claim.spec, devices=devices))


def requests_and_mappings(
    pod: Pod, resources: Iterable[str], classes: Mapping[str, DeviceClass]
) -> tuple[list[DeviceRequest], Mappings]:
    """Requests by name; mappings resource by resource, containers that stay before init containers that end."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    ending = [i for i, each in enumerate(pod.spec.init_containers) if each.restart_policy != "Always"]
    staying = [i for i in range(len(containers)) if i not in ending]
    requests: list[DeviceRequest] = []
    mappings: Mappings = []
    for resource in sorted(resources):
        device_class = classes.get(resource)
        if device_class is None:
            continue
        of_staying: list[DeviceRequest | None] = [None] * len(containers)
        for i in staying:
            of_staying[i], mapped = _of_container(i, containers[i], resource, device_class.name, ())
            mappings += mapped
        largest, mapped = _of_ending(ending, containers, resource, device_class.name, of_staying)
        mappings += mapped
        if largest is not None:
            requests.append(largest)
        requests += [each for each in of_staying if each is not None]
    requests.sort(key=lambda each: each.name)
    return requests, mappings


def _of_ending(
    ending: Sequence[int],
    containers: Sequence[Container],
    resource: str,
    class_name: str,
    of_staying: Sequence[DeviceRequest | None],
) -> tuple[DeviceRequest | None, Mappings]:
    """Init containers that end share one request, the largest; later containers' devices they use first."""
    mappings: Mappings = []
    largest: DeviceRequest | None = None
    names: set[str] = set()
    for i in ending:
        request, mapped = _of_container(i, containers[i], resource, class_name, of_staying[i:])
        mappings += mapped
        if request is None:
            continue
        names.add(request.name)
        if largest is None or _count(largest) < _count(request):
            largest = request
    if largest is None:
        return None, mappings
    return largest, [replace(m, request_name=largest.name) if m.request_name in names else m for m in mappings]


def _of_container(
    index: int, container: Container, resource: str, class_name: str, reusable: Iterable[DeviceRequest | None]
) -> tuple[DeviceRequest | None, Mappings]:
    """What the container needs beyond what it can use of others."""
    wanted = container.resources.requests or {}
    if resource not in wanted:
        return None, []
    nanos = parse_quantity(wanted[resource]).nanos
    if nanos == 0 or nanos % NANOS:
        return None, []
    count = nanos // NANOS
    found = 0
    mappings: Mappings = []

    def map_to(name: str) -> None:
        mappings.append(
            ContainerExtendedResourceRequest(container_name=container.name, resource_name=resource, request_name=name)
        )

    for each in reusable:
        if each is None:
            continue
        found += _count(each)
        map_to(each.name)
        if found >= count:
            return None, mappings
    name = f"container-{index}-request-{sorted(wanted).index(resource)}"
    map_to(name)
    exactly = ExactDeviceRequest(device_class_name=class_name, allocation_mode=EXACT_COUNT, count=count - found)
    return DeviceRequest(name=name, exactly=exactly), mappings


def _count(request: DeviceRequest) -> int:
    assert request.exactly is not None
    return request.exactly.count

"""Objects that a pod refers to and that are not there, made as small as they can be."""

from __future__ import annotations

from collections.abc import Iterator

from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.claims import Choices, claim_choices, in_words, warned
from framework.advice.operations import operation
from framework.advice.patches import Patch, applied, object_diff
from framework.objects import (
    DeviceClass,
    KubeObject,
    ObjectMeta,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from framework.objects.devices import (
    CELDeviceSelector,
    DeviceClaim,
    DeviceClassSpec,
    DeviceRequest,
    DeviceSelector,
    ExactDeviceRequest,
    ResourceClaimSpec,
    ResourceClaimTemplateSpec,
)
from framework.sentences import sentence


def created(case: Case) -> Iterator[Family]:
    """All that is missing at once; of what can be chosen, each choice in turn."""
    lacking = list(_choices(case))
    if not lacking:
        return
    yield (
        _candidate([each for choices in lacking for each in choices[min(turn, len(choices) - 1)]])
        for turn in range(max(len(choices) for choices in lacking))
    )


def _candidate(objects: list[KubeObject]) -> PossibleRemedy:
    patch = Patch(applied(*objects), "\n".join(object_diff(None, each) for each in objects))
    operations = tuple(operation("add", each) for each in objects)
    text = sentence("Create the missing {objects}", objects=in_words(objects))
    return PossibleRemedy("create", warned(objects, text), operations, patch)


def _choices(case: Case) -> Iterator[Choices]:
    """Per missing object the ways in which it can be made; one that cannot is left out."""
    cluster, pod = case.cluster, case.live
    namespace = pod.metadata.namespace
    yield from claim_choices(case)
    for reference in pod.spec.resource_claims:
        if (name := reference.resource_claim_name) and cluster.get(ResourceClaim, namespace, name) is None:
            yield from _given(
                [
                    (ResourceClaim(metadata=ObjectMeta(namespace=namespace, name=name), spec=_one_device(of)),)
                    for of in _device_classes(case)
                ]
            )
        template = reference.resource_claim_template_name
        if template and cluster.get(ResourceClaimTemplate, namespace, template) is None:
            yield from _given(
                [
                    (
                        ResourceClaimTemplate(
                            metadata=ObjectMeta(namespace=namespace, name=template),
                            spec=ResourceClaimTemplateSpec(spec=_one_device(of)),
                        ),
                    )
                    for of in _device_classes(case)
                ]
            )
        yield from _missing_device_classes(case, reference.resource_claim_name, template)


def _given(choices: Choices) -> Iterator[Choices]:
    if choices:
        yield choices


def _missing_device_classes(case: Case, claim: str | None, template: str | None) -> Iterator[Choices]:
    namespace = case.live.metadata.namespace
    found = case.cluster.get(ResourceClaim, namespace, claim) if claim else None
    made = case.cluster.get(ResourceClaimTemplate, namespace, template) if template else None
    spec = found.spec if found is not None else made.spec.spec if made is not None else None
    for request in spec.devices.requests if spec is not None else ():
        name = request.exactly.device_class_name if request.exactly is not None else ""
        if not name or case.cluster.get(DeviceClass, "", name) is not None:
            continue
        drivers = sorted({each.spec.driver for each in case.cluster.list(ResourceSlice)})
        yield from _given(
            [
                (
                    DeviceClass(
                        metadata=ObjectMeta(name=name),
                        spec=DeviceClassSpec(
                            selectors=(
                                DeviceSelector(cel=CELDeviceSelector(expression=f'device.driver == "{driver}"')),
                            )
                        ),
                    ),
                )
                for driver in drivers
            ]
        )


def _device_classes(case: Case) -> list[str]:
    return sorted(each.metadata.name for each in case.cluster.list(DeviceClass))


def _one_device(device_class: str) -> ResourceClaimSpec:
    exactly = ExactDeviceRequest(device_class_name=device_class, allocation_mode="ExactCount", count=1)
    return ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name="device", exactly=exactly),)))

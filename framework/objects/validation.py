"""Whether an object is sound where decisions rely on it; the API server's checks, in its order and words.

Meant for objects with their defaults filled in. What scheduling never reads is not checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Final

from framework.objects.affinity_validation import (
    TAINT_EFFECTS,
    label_errors,
    label_name_errors,
    label_selector_errors,
    node_selector_errors,
)
from framework.objects.catalogue_validation import catalogue_errors
from framework.objects.cluster import (
    Namespace,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    RuntimeClass,
    Service,
    StatefulSet,
)
from framework.objects.device_validation import device_errors
from framework.objects.errors import ObjectError
from framework.objects.field_errors import (
    MOST_ERRORS,
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from framework.objects.metadata import KubeObject, KubernetesObject, ObjectMeta
from framework.objects.names import dns1123_label_errors, dns1123_subdomain_errors, label_value_errors
from framework.objects.node import Node
from framework.objects.pod import Pod
from framework.objects.pod_validation import (
    MAX_INT32,
    NEGATIVE,
    PREEMPTION_POLICIES,
    amount_errors,
    namespace_errors,
    own_errors,
    pod_errors,
    timestamp_errors,
)
from framework.objects.reservations import Reservation, reservation_errors
from framework.objects.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass

HIGHEST_USER_PRIORITY: Final = 1_000_000_000
"""Above it priorities are Kubernetes' own, so that no workload can preempt what a cluster cannot do without."""
_SYSTEM_PREFIX: Final = "system-"
_DECLARED_FEATURE: Final = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
_DECLARED_FEATURE_NAMES: Final = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' "
    "(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")


def validate_object(obj: KubeObject, *, comparisons: bool = False) -> list[FieldError]:
    """All complaints, or the first MOST_ERRORS; none for a sound object.

    ``comparisons``: the API server's gate TaintTolerationComparisonOperators, which lets tolerations use Gt and Lt.
    """
    further: Iterable[FieldError] = ()
    if isinstance(obj, Pod):
        further = pod_errors(obj, comparisons=comparisons)
    elif isinstance(obj, KubernetesObject):
        further = _kind_errors(obj)
    return [*islice(chain(_metadata_errors(obj), further), MOST_ERRORS)]


def replica_errors(pod: Pod) -> list[FieldError]:
    """Complaints about what a pod does not share with the other replicas of a sound one."""
    return metadata_errors(pod.metadata, namespaced=True) + own_errors(pod)


def check_object(obj: KubeObject, *, comparisons: bool = False) -> None:
    """Raises ObjectError, which names the object too."""
    if errors := validate_object(obj, comparisons=comparisons):
        raise ObjectError(obj.kind, obj.key, tuple(errors))


def _metadata_errors(obj: KubeObject) -> list[FieldError]:
    if not isinstance(obj, KubernetesObject):
        return metadata_errors(obj.metadata)
    return metadata_errors(obj.metadata, namespaced=obj.namespaced, of_namespace=isinstance(obj, Namespace))


def metadata_errors(
    meta: ObjectMeta, *, namespaced: bool | None = None, of_namespace: bool = False
) -> list[FieldError]:
    """``namespaced``: None of kinds of which we do not know it; their names may be anything."""
    errors: list[FieldError] = []
    if not meta.name:
        errors.append(required("metadata.name", "name or generateName is required"))
    elif namespaced is not None:
        check = dns1123_label_errors if of_namespace else dns1123_subdomain_errors
        if found := check(meta.name):
            errors += [invalid("metadata.name", meta.name, text) for text in found]
    if namespaced is not None:
        errors += namespace_errors(meta.namespace, namespaced)
    if meta.labels:
        errors += label_errors(meta.labels, "metadata.labels")
    if meta.creation_timestamp is not None:
        errors += timestamp_errors(meta.creation_timestamp, "metadata.creationTimestamp")
    if meta.deletion_timestamp is not None:
        errors += timestamp_errors(meta.deletion_timestamp, "metadata.deletionTimestamp")
    return errors


def _kind_errors(obj: KubernetesObject) -> Iterable[FieldError]:
    match obj:
        case Node():
            yield from _node_errors(obj)
        case PriorityClass():
            yield from _priority_class_errors(obj)
        case PodDisruptionBudget(spec=spec):
            if spec.min_available is not None and spec.max_unavailable is not None:
                text = "minAvailable and maxUnavailable cannot be both set"
                yield invalid(
                    "spec", {"minAvailable": spec.min_available, "maxUnavailable": spec.max_unavailable}, text
                )
            yield from label_selector_errors(spec.selector, "spec.selector")
        case Service() | ReplicationController():
            if obj.spec.selector:
                yield from label_errors(obj.spec.selector, "spec.selector")
        case ReplicaSet() | StatefulSet():
            yield from label_selector_errors(obj.spec.selector, "spec.selector")
        case PodGroup(spec=spec):
            if spec.min_member < 1:
                yield invalid("spec.minMember", spec.min_member, "should be greater than or equal to 1")
            if spec.min_resources:
                yield from amount_errors(spec.min_resources, "spec.minResources")
        case RuntimeClass():
            if obj.overhead is not None:
                yield from amount_errors(obj.overhead.pod_fixed, "overhead.podFixed")
            if obj.scheduling is not None:
                yield from label_errors(obj.scheduling.node_selector, "scheduling.nodeSelector")
        case Reservation():
            yield from reservation_errors(obj)
        case _:
            yield from _storage_errors(obj)
            yield from device_errors(obj)
            yield from catalogue_errors(obj)


def _node_errors(node: Node) -> Iterable[FieldError]:
    """Taints that repeat a key and effect are let through: decisions take each by itself, and the case files have
    them."""
    for i, taint in enumerate(node.spec.taints):
        # Upstream says metadata.taints, by mistake; here the words lead people to the field.
        at = f"spec.taints[{i}]"
        yield from label_name_errors(taint.key, f"{at}.key")
        if found := label_value_errors(taint.value):
            yield invalid(f"{at}.value", taint.value, ";".join(found))
        if not taint.effect:
            yield required(f"{at}.effect")
        elif taint.effect not in TAINT_EFFECTS:
            yield not_supported(f"{at}.effect", taint.effect, TAINT_EFFECTS)
    for name, amounts in (("capacity", node.status.capacity), ("allocatable", node.status.allocatable)):
        if amounts:
            yield from amount_errors(amounts, f"status.{name}", dotted=True)
    for i, image in enumerate(node.status.images):
        if image.size_bytes < 0:
            yield invalid(f"status.images[{i}].sizeBytes", image.size_bytes, NEGATIVE)
    yield from _declared_feature_errors(node.status.declared_features)


def _declared_feature_errors(features: Sequence[str]) -> Iterable[FieldError]:
    for i, feature in enumerate(features):
        at = f"status.declaredFeatures[{i}]"
        if not _DECLARED_FEATURE.fullmatch(feature):
            yield invalid(at, feature, f"invalid feature name {json.dumps(feature)}: {_DECLARED_FEATURE_NAMES}")
        if i and feature == features[i - 1]:
            yield duplicate(at, feature)
        elif i and feature < features[i - 1]:
            yield invalid(at, feature, "list must be sorted alphabetically")


def _priority_class_errors(priority_class: PriorityClass) -> Iterable[FieldError]:
    if not -MAX_INT32 - 1 <= priority_class.value <= MAX_INT32:
        yield invalid("value", priority_class.value, "must fit in 32 bits")
    elif priority_class.value > HIGHEST_USER_PRIORITY and not priority_class.metadata.name.startswith(_SYSTEM_PREFIX):
        yield forbidden("value", f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}")
    policy = priority_class.preemption_policy
    if policy is not None and policy not in PREEMPTION_POLICIES:
        yield not_supported("preemptionPolicy", policy, PREEMPTION_POLICIES)


def _storage_errors(obj: KubernetesObject) -> Iterable[FieldError]:
    match obj:
        case PersistentVolumeClaim(spec=spec):
            yield from amount_errors(spec.resources.requests or {}, "spec.resources.requests")
            yield from label_selector_errors(spec.selector, "spec.selector")
        case PersistentVolume(spec=spec):
            yield from amount_errors(spec.capacity or {}, "spec.capacity")
            if spec.node_affinity is not None and spec.node_affinity.required is not None:
                yield from node_selector_errors(spec.node_affinity.required, "spec.nodeAffinity.required")
        case StorageClass(volume_binding_mode=mode):
            if mode is not None and mode not in _BINDING_MODES:
                yield not_supported("volumeBindingMode", mode, _BINDING_MODES)
        case CSIStorageCapacity():
            amounts = {"capacity": obj.capacity, "maximumVolumeSize": obj.maximum_volume_size}
            for name, raw in amounts.items():
                if raw is not None:
                    yield from (FieldError(name, e.detail) for e in amount_errors({name: raw}, ""))
            yield from label_selector_errors(obj.node_topology, "nodeTopology")

"""What the API server does to an object before a scheduler sees it, as far as decisions depend on it.

In the API server's order: defaults, then admission (priority, runtime class, storage class), then what the pod
registry prepares (matchLabelKeys merged into selectors), then validation. All of it gives back a new object and
leaves one unchanged that has been through it already, so it may be applied to what a cluster exported.

Not done here, as the conformance files want it: default toleration seconds, LimitRanger, ServiceAccount tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from framework.objects.affinity import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    Toleration,
    TopologySpreadConstraint,
)
from framework.objects.claims import BETA_CLASS
from framework.objects.cluster import PriorityClass, RuntimeClass
from framework.objects.defaults import lacks_as_little, with_defaults
from framework.objects.field_errors import FieldError, aggregate
from framework.objects.kinds import group_kind, group_resource
from framework.objects.metadata import KubeObject, KubernetesObject, LabelSelector, LabelSelectorRequirement, ObjectMeta
from framework.objects.pod import Pod, PodSpec
from framework.objects.quantity import parse_quantity
from framework.objects.storage import PersistentVolumeClaim, StorageClass
from framework.objects.timestamps import parse_timestamp
from framework.objects.validation import validate_object

O = TypeVar("O", bound=KubernetesObject)  # noqa: E741
A = TypeVar("A", bound=KubeObject)

PREEMPT_LOWER_PRIORITY: Final = "PreemptLowerPriority"
SYSTEM_PRIORITY_CLASSES: Final = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""Every API server creates these two; an export or a case need not hold them."""


class ObjectLister(Protocol):
    """The objects admission asks for; the store of the cluster is one."""

    def get(self, kind: type[O], namespace: str, name: str) -> O | None: ...

    def list(self, kind: type[O], namespace: str | None = None) -> Sequence[O]: ...


@dataclass(frozen=True, slots=True)
class AdmissionError:
    """The API server's answer to an object that it refuses."""

    message: str
    errors: tuple[FieldError, ...] = ()

    def __str__(self) -> str:
        return self.message


def admit(
    obj: A, store: ObjectLister, *, stored: bool = False, validate: bool = True, comparisons: bool = False
) -> A | AdmissionError:
    """The object as the API server would keep it, or its refusal.

    ``stored``: it comes out of a cluster, where it was admitted once. Its priority and overhead stay what they are,
    even if the classes they came from are not there any more.
    ``comparisons``: the API server's gate TaintTolerationComparisonOperators; what is stored passed it.
    """
    admitted: KubeObject | AdmissionError = with_defaults(obj)
    if isinstance(admitted, Pod):
        admitted = _admit_pod(admitted, store, stored)
    elif isinstance(admitted, PersistentVolumeClaim):
        admitted = _admit_claim(admitted, store)
    elif isinstance(admitted, PriorityClass) and not stored:
        admitted = _admit_priority_class(admitted, store)
    if isinstance(admitted, AdmissionError):
        return admitted
    if validate and (errors := validate_object(admitted, comparisons=comparisons or stored)):
        return invalid_object(admitted, errors)
    return admitted  # type: ignore[return-value]  # every step keeps the type


class Unchanged:
    """Specs that came out of a cluster and that admission left as they were, so that replicas need not be looked at.

    ``says`` a pod is one of them when all that ``admit(pod, store, stored=True, validate=False)`` reads of it is the
    same, but for its labels, which none of its selectors names; then ``admit`` would give back the pod itself.
    """

    def __init__(self) -> None:
        self._specs: dict[int, PodSpec] = {}
        """By the identity of their containers: replicas that were decoded together share them."""

    def learn(self, pod: Pod) -> None:
        """Of a pod that ``admit`` gave back."""
        spec = pod.spec
        if spec.priority is not None and not _names_label_keys(spec):
            self._specs[id(spec.containers)] = spec

    def says(self, pod: Pod) -> bool:
        spec = pod.spec
        known = self._specs.get(id(spec.containers))
        return (
            known is not None
            and spec.containers is known.containers
            and lacks_as_little(spec, known)
            and spec.affinity is known.affinity
            and spec.topology_spread_constraints is known.topology_spread_constraints
            and spec.priority is not None
            and pod.metadata.namespace != ""
        )


def invalid_object(obj: KubeObject, errors: Sequence[FieldError]) -> AdmissionError:
    text = f'{group_kind(obj)} "{obj.metadata.name}" is invalid: {aggregate(errors)}'
    return AdmissionError(text, tuple(errors))


def _forbidden(obj: KubeObject, reason: str) -> AdmissionError:
    name = obj.metadata.name or obj.metadata.generate_name
    return AdmissionError(f'{group_resource(obj)} "{name}" is forbidden: {reason}')


def _admit_pod(pod: Pod, store: ObjectLister, stored: bool) -> Pod | AdmissionError:
    if not (stored and pod.spec.priority is not None):
        prioritised = _with_priority(pod, store)
        if isinstance(prioritised, AdmissionError):
            return prioritised
        pod = prioritised
    if not stored:
        wrapped = _with_runtime_class(pod, store)
        if isinstance(wrapped, AdmissionError):
            return wrapped
        pod = wrapped
    return with_label_keys(pod)


# Priority (upstream: plugin/pkg/admission/priority)


def _with_priority(pod: Pod, store: ObjectLister) -> Pod | AdmissionError:
    spec = pod.spec
    name, value, policy = spec.priority_class_name, 0, None
    if not name:
        chosen = _default_priority_class(store)
        if chosen is None:
            policy = PREEMPT_LOWER_PRIORITY
        else:
            name, value, policy = chosen.metadata.name, chosen.value, chosen.preemption_policy
    elif found := store.get(PriorityClass, "", name):
        value, policy = found.value, found.preemption_policy or PREEMPT_LOWER_PRIORITY
    elif name in SYSTEM_PRIORITY_CLASSES:
        value, policy = SYSTEM_PRIORITY_CLASSES[name], PREEMPT_LOWER_PRIORITY
    else:
        return _forbidden(pod, f"no PriorityClass with name {name} was found")
    if spec.priority is not None and spec.priority != value:
        return _forbidden(
            pod,
            f"the integer value of priority ({spec.priority}) must not be provided in pod spec; "
            f"priority admission controller computed {value} from the given PriorityClass name",
        )
    if policy is not None and spec.preemption_policy not in (None, policy):
        return _forbidden(
            pod,
            f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name",
        )
    policy = policy if policy is not None else spec.preemption_policy
    if (name, value, policy) == (spec.priority_class_name, spec.priority, spec.preemption_policy):
        return pod
    return replace(pod, spec=replace(spec, priority_class_name=name, priority=value, preemption_policy=policy))


def _default_priority_class(store: ObjectLister) -> PriorityClass | None:
    """Of several global defaults (left by a race) the one with the lowest value."""
    default: PriorityClass | None = None
    for candidate in store.list(PriorityClass):
        if candidate.global_default and (default is None or default.value > candidate.value):
            default = with_defaults(candidate)
    return default


def _admit_priority_class(new: PriorityClass, store: ObjectLister) -> PriorityClass | AdmissionError:
    if new.global_default:
        default = _default_priority_class(store)
        if default is not None and default.metadata.name != new.metadata.name:
            text = f"PriorityClass {default.metadata.name} is already marked as default. Only one default can exist"
            return _forbidden(new, text)
    return new


# Runtime class (upstream: plugin/pkg/admission/runtimeclass)


def _with_runtime_class(pod: Pod, store: ObjectLister) -> Pod | AdmissionError:
    """A pod that names no runtime class keeps the overhead it comes with: the case files have such pods, and so has
    what people copy from one cluster to another. (The API server would refuse it.)"""
    spec = pod.spec
    if spec.runtime_class_name is None:
        return pod
    runtime = store.get(RuntimeClass, "", spec.runtime_class_name)
    if runtime is None:
        return _forbidden(pod, f'pod rejected: RuntimeClass "{spec.runtime_class_name}" not found')
    if runtime.overhead is None:
        if spec.overhead is not None:
            return _forbidden(pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
    else:
        fixed = runtime.overhead.pod_fixed
        if spec.overhead and not _same_amounts(spec.overhead, fixed):
            return _forbidden(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        spec = replace(spec, overhead=fixed)
    if runtime.scheduling is not None:
        merged = _with_runtime_scheduling(spec, runtime)
        if isinstance(merged, str):
            return _forbidden(pod, merged)
        spec = merged
    return pod if spec is pod.spec else replace(pod, spec=spec)


def _same_amounts(left: dict[str, str | int | float], right: dict[str, str | int | float]) -> bool:
    return left.keys() == right.keys() and all(
        parse_quantity(amount).nanos == parse_quantity(right[name]).nanos for name, amount in left.items()
    )


def _with_runtime_scheduling(spec: PodSpec, runtime: RuntimeClass) -> PodSpec | str:
    assert runtime.scheduling is not None
    wanted = runtime.scheduling.node_selector
    selector = dict(spec.node_selector or {})
    for key, value in wanted.items():
        if selector.get(key, value) != value:
            return (
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}"
            )
        selector[key] = value
    return replace(
        spec,
        node_selector=selector if selector or spec.node_selector is not None else None,
        tolerations=_merged_tolerations((*spec.tolerations, *runtime.scheduling.tolerations)),
    )


def _merged_tolerations(every: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """Without those that another one covers; of equal ones the first stays."""
    merged: list[Toleration] = []
    for i, toleration in enumerate(every):
        if any(_covers(kept, toleration) for kept in merged):
            continue
        if any(later != toleration and _covers(later, toleration) for later in every[i + 1 :]):
            continue
        merged.append(toleration)
    return tuple(merged)


def _covers(wide: Toleration, narrow: Toleration) -> bool:
    if wide == narrow:
        return True
    if narrow.key != wide.key and (wide.key or wide.operator != "Exists"):
        return False
    if narrow.effect != wide.effect and wide.effect:
        return False
    if wide.effect == "NoExecute" and wide.toleration_seconds is not None:
        seconds = narrow.toleration_seconds
        if seconds is None or seconds > wide.toleration_seconds:
            return False
    if wide.operator in ("", "Equal"):
        # Upstream asks for the word Equal here, not for its meaning: an empty operator is not covered.
        return narrow.operator == "Equal" and narrow.value == wide.value
    return wide.operator == "Exists"


# Storage class (upstream: plugin/pkg/admission/storage/storageclass/setdefault)

DEFAULT_CLASS_ANNOTATIONS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _admit_claim(claim: PersistentVolumeClaim, store: ObjectLister) -> PersistentVolumeClaim:
    if claim.spec.storage_class_name is not None or BETA_CLASS in claim.metadata.annotations:
        return claim
    defaults = [c for c in store.list(StorageClass) if _is_default_class(c.metadata)]
    if not defaults:
        return claim
    newest = min(defaults, key=lambda c: (-_created(c.metadata), c.metadata.name))
    return replace(claim, spec=replace(claim.spec, storage_class_name=newest.metadata.name))


def _is_default_class(metadata: ObjectMeta) -> bool:
    return any(metadata.annotations.get(name) == "true" for name in DEFAULT_CLASS_ANNOTATIONS)


def _created(metadata: ObjectMeta) -> int:
    return parse_timestamp(metadata.creation_timestamp) if metadata.creation_timestamp else 0


# matchLabelKeys and mismatchLabelKeys (upstream pkg/registry/core/pod/strategy.go `mutatePodAffinity`)


def with_label_keys(pod: Pod) -> Pod:
    """The values of the pod's own labels merged into the selectors that name their keys."""
    spec = pod.spec
    if not spec.topology_spread_constraints and (
        spec.affinity is None or (spec.affinity.pod_affinity is None and spec.affinity.pod_anti_affinity is None)
    ):
        return pod
    labels = pod.metadata.labels
    constraints = tuple(_merged_constraint(c, labels) for c in spec.topology_spread_constraints)
    affinity = _merged_affinity(spec.affinity, labels) if spec.affinity else None
    if constraints == spec.topology_spread_constraints and affinity == spec.affinity:
        return pod
    return replace(pod, spec=replace(spec, topology_spread_constraints=constraints, affinity=affinity))


def _names_label_keys(spec: PodSpec) -> bool:
    terms: list[PodAffinityTerm] = []
    if spec.affinity is not None:
        for each in (spec.affinity.pod_affinity, spec.affinity.pod_anti_affinity):
            if each is not None:
                terms += each.required_during_scheduling_ignored_during_execution
                preferred = each.preferred_during_scheduling_ignored_during_execution
                terms += (weighted.pod_affinity_term for weighted in preferred)
    return any(each.match_label_keys for each in spec.topology_spread_constraints) or any(
        term.match_label_keys or term.mismatch_label_keys for term in terms
    )


def _merged_constraint(constraint: TopologySpreadConstraint, labels: dict[str, str]) -> TopologySpreadConstraint:
    if not constraint.match_label_keys or constraint.label_selector is None:
        return constraint
    selector = _merged_selector(constraint.label_selector, constraint.match_label_keys, "In", labels)
    return replace(constraint, label_selector=selector)


def _merged_affinity(affinity: Affinity, labels: dict[str, str]) -> Affinity:
    return replace(
        affinity,
        pod_affinity=_merged_terms(affinity.pod_affinity, labels) if affinity.pod_affinity else None,
        pod_anti_affinity=_merged_terms(affinity.pod_anti_affinity, labels) if affinity.pod_anti_affinity else None,
    )


P = TypeVar("P", PodAffinity, PodAntiAffinity)


def _merged_terms(terms: P, labels: dict[str, str]) -> P:
    required = terms.required_during_scheduling_ignored_during_execution
    preferred = terms.preferred_during_scheduling_ignored_during_execution
    return replace(
        terms,
        required_during_scheduling_ignored_during_execution=tuple(_merged_term(term, labels) for term in required),
        preferred_during_scheduling_ignored_during_execution=tuple(
            replace(weighted, pod_affinity_term=_merged_term(weighted.pod_affinity_term, labels))
            for weighted in preferred
        ),
    )


def _merged_term(term: PodAffinityTerm, labels: dict[str, str]) -> PodAffinityTerm:
    if not (term.match_label_keys or term.mismatch_label_keys) or term.label_selector is None:
        return term
    selector = _merged_selector(term.label_selector, term.match_label_keys, "In", labels)
    return replace(term, label_selector=_merged_selector(selector, term.mismatch_label_keys, "NotIn", labels))


def _merged_selector(
    selector: LabelSelector, keys: tuple[str, ...], operator: str, labels: dict[str, str]
) -> LabelSelector:
    """A key that the pod has no label for adds nothing; what is there already (a stored pod) is not added again."""
    wanted = [
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],)) for key in keys if key in labels
    ]
    missing = [requirement for requirement in wanted if requirement not in selector.match_expressions]
    return replace(selector, match_expressions=(*selector.match_expressions, *missing)) if missing else selector

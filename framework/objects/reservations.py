"""Reservation: a pod-shaped hold on a node, as users of koordinator know it (docs/koordinator.md#reservation).

Field names are those of koordinator's Go types; what no rule here reads is not typed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from framework.objects.affinity import NodeSelector, NodeSelectorTerm
from framework.objects.affinity_validation import label_selector_errors
from framework.objects.defaults import with_defaults
from framework.objects.field_errors import FieldError, invalid, not_supported, required
from framework.objects.metadata import KubernetesObject, LabelSelector, Manifest, ObjectMeta, ResourceList
from framework.objects.pod import Pod, PodSpec
from framework.objects.pod_validation import amount_errors, pod_errors, timestamp_errors
from framework.objects.resources import CPU
from framework.objects.timestamps import SECOND, TimestampError, parse_timestamp

RESERVATION_AFFINITY: Final = "scheduling.koordinator.sh/reservation-affinity"
"""Annotation of a pod, as JSON: it must use a reservation, and which."""
RESERVATION_ALLOCATED: Final = "scheduling.koordinator.sh/reservation-allocated"
"""Annotation of a pod that has its node, as JSON (name, uid): the reservation that it uses."""
RESERVATION_ORDER: Final = "scheduling.koordinator.sh/reservation-order"
"""Label of a reservation, a number above 0: of several on a node the lowest is used first."""
PENDING: Final = "Pending"
AVAILABLE: Final = "Available"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
EXPIRED: Final = "Expired"
RESTRICTED: Final = "Restricted"
ALLOCATE_POLICIES: Final = ("", "Default", "Aligned", RESTRICTED)
_DURATION: Final = re.compile(r"0|([0-9]+(\.[0-9]*)?(ns|us|µs|μs|ms|s|m|h))+", re.ASCII)
_TERM: Final = re.compile(r"([0-9.]+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3600 * SECOND,
}


class ReservationTemplate(Manifest, frozen=True, kw_only=True):
    """The pod whose place is held."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class ObjectReference(Manifest, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class ReservationController(Manifest, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ReservationOwner(Manifest, frozen=True, kw_only=True):
    """Who may use it: all that is given here must be true of a pod."""

    object: ObjectReference | None = None
    controller: ReservationController | None = None
    label_selector: LabelSelector | None = None


class ReservationSpec(Manifest, frozen=True, kw_only=True):
    template: ReservationTemplate | None = None
    owners: tuple[ReservationOwner, ...] = ()
    ttl: str | None = None
    expires: str | None = None
    allocate_once: bool | None = None
    allocate_policy: str = ""
    unschedulable: bool = False


class ReservationCondition(Manifest, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ReservationStatus(Manifest, frozen=True, kw_only=True):
    phase: str = ""
    node_name: str = ""
    allocatable: ResourceList | None = None
    allocated: ResourceList | None = None
    current_owners: tuple[ObjectReference, ...] = ()
    conditions: tuple[ReservationCondition, ...] = ()


class Reservation(KubernetesObject, frozen=True, kw_only=True):
    api_version: ClassVar[str] = "scheduling.koordinator.sh/v1alpha1"
    kind: ClassVar[str] = "Reservation"
    plural: ClassVar[str] = "reservations"
    namespaced: ClassVar[bool] = False

    spec: ReservationSpec = ReservationSpec()
    status: ReservationStatus = ReservationStatus()

    @property
    def is_used_once(self) -> bool:
        return self.spec.allocate_once is not False

    @property
    def waits(self) -> bool:
        """It has no node yet and is to get one."""
        return self.status.phase in ("", PENDING)


class ReservationTerms(Manifest, frozen=True, kw_only=True):
    reservation_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class ReservationAffinity(Manifest, frozen=True, kw_only=True):
    """What the annotation RESERVATION_AFFINITY says. Nothing: any reservation that the pod may use."""

    name: str = ""
    reservation_selector: dict[str, str] | None = None
    required_during_scheduling_ignored_during_execution: ReservationTerms | None = None

    @property
    def terms(self) -> NodeSelector | None:
        required_terms = self.required_during_scheduling_ignored_during_execution
        if required_terms is None:
            return None
        return NodeSelector(node_selector_terms=required_terms.reservation_selector_terms)


def reservation_of(pod: Pod) -> str:
    """The name of the reservation for which this pod looks for a node; "" of every other pod."""
    for owner in pod.metadata.owner_references:
        if owner.controller and owner.kind == Reservation.kind and owner.api_version == Reservation.api_version:
            return owner.name
    return ""


def allocated_to(pod: Pod) -> tuple[str, str] | None:
    """(name, uid) of the reservation that a pod with a node uses; None of one that uses none."""
    text = pod.metadata.annotations.get(RESERVATION_ALLOCATED)
    if not text or not pod.spec.node_name:
        return None
    try:
        told = json.loads(text)
    except ValueError:
        return None
    if not isinstance(told, dict) or not isinstance(told.get("name"), str):
        return None
    return told["name"], str(told.get("uid", ""))


def amounts_written(amounts: Mapping[str, int]) -> ResourceList:
    """Of cpu in millicores and everything else in units, as a manifest has them."""
    return {
        name: (f"{amount}m" if amount % 1000 else str(amount // 1000)) if name == CPU else str(amount)
        for name, amount in amounts.items()
    }


def duration_of(text: str) -> int | None:
    """Nanoseconds of a Go duration that is not negative; None of what is none."""
    if _DURATION.fullmatch(text) is None:
        return None
    total = 0
    for number, unit in _TERM.findall(text):
        whole, _, fraction = number.partition(".")
        total += int(whole) * _UNITS[unit]
        total += int(fraction or "0") * _UNITS[unit] // 10 ** len(fraction)
    return total


def expires_at(reservation: Reservation, default_ttl: int) -> int | None:
    """When it expires, in nanoseconds; None: never. ``default_ttl``: of one that names neither, 0 for never."""
    spec, created = reservation.spec, reservation.metadata.creation_timestamp
    try:
        if spec.expires is not None:
            return parse_timestamp(spec.expires)
        ttl = default_ttl if spec.ttl is None else duration_of(spec.ttl)
        return parse_timestamp(created) + ttl if ttl and created is not None else None
    except TimestampError:  # of an object that was stored unchecked
        return None


def reservation_errors(reservation: Reservation) -> Iterable[FieldError]:
    """What an API server with koordinator's definitions refuses, and what is wrong with the template as a pod."""
    spec = reservation.spec
    if spec.template is None:
        yield required("spec.template")
    else:
        about = ObjectMeta(name=reservation.metadata.name, namespace="default", labels=spec.template.metadata.labels)
        for error in pod_errors(with_defaults(Pod(metadata=about, spec=spec.template.spec))):
            yield FieldError(f"spec.template.{error.path}", error.detail)
    if not spec.owners:
        yield required("spec.owners")
    for i, owner in enumerate(spec.owners):
        at = f"spec.owners[{i}]"
        if owner == ReservationOwner():
            yield required(at, "one of object, controller and labelSelector must be given")
        yield from label_selector_errors(owner.label_selector, f"{at}.labelSelector")
    if spec.ttl is not None and duration_of(spec.ttl) is None:
        yield invalid("spec.ttl", spec.ttl, "must be a duration that is not negative, as 30m or 24h")
    if spec.expires is not None:
        yield from timestamp_errors(spec.expires, "spec.expires")
    if spec.allocate_policy not in ALLOCATE_POLICIES:
        yield not_supported("spec.allocatePolicy", spec.allocate_policy, ALLOCATE_POLICIES[1:])
    yield from amount_errors(reservation.status.allocatable or {}, "status.allocatable")
    yield from amount_errors(reservation.status.allocated or {}, "status.allocated")

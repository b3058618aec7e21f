"""What koordinator's controllers do for Reservations (docs/koordinator.md#what-becomes-of-it).

One that waits for a node gets a pod that looks for one; when that is bound, the reservation is available there and the
pod is gone: from then on the plugin Reservation keeps the place. Who uses it is read from pods' annotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from framework.objects import Node, ObjectMeta, OwnerReference, Pod
from framework.objects.reservations import (
    AVAILABLE,
    EXPIRED,
    FAILED,
    PENDING,
    RESERVATION_ALLOCATED,
    SUCCEEDED,
    ObjectReference,
    Reservation,
    ReservationCondition,
    ReservationStatus,
    allocated_to,
    amounts_written,
    expires_at,
    reservation_errors,
    reservation_of,
)
from framework.objects.resources import pod_requests, resource_value
from framework.scheduler.controllers.api import ControlledCluster
from framework.scheduler.store import FINISHED, InformerEvent, ObjectAdded, ObjectDeleted, ObjectUpdated

PREFIX: Final = "reservation-"
DEFAULT_SCHEDULER: Final = "default-scheduler"


def keep_reservations(cluster: ControlledCluster, event: InformerEvent) -> None:
    match event:
        case ObjectAdded(Reservation() as reservation):
            _seek(cluster, reservation)
        case ObjectUpdated(Reservation() as old, Reservation() as new):
            if old.spec.template != new.spec.template or not new.waits:
                _seek_no_more(cluster, old, new)
            _seek(cluster, new)
        case ObjectDeleted(Reservation() as reservation):
            _seek_no_more(cluster, reservation)
        case ObjectAdded(Pod() as pod):
            _count(cluster, (pod,))
        case ObjectUpdated(Pod() as before, Pod() as pod):
            _pod_changed(cluster, before, pod)
        case ObjectDeleted(Pod() as pod):
            _pod_gone(cluster, pod)
        case ObjectDeleted(Node() as node):
            for reservation in cluster.list(Reservation):
                if reservation.status.phase == AVAILABLE and reservation.status.node_name == node.metadata.name:
                    _end(cluster, reservation, FAILED, "NodeNotFound", f"node {node.metadata.name} is gone")


def next_expiry(reservations: Iterable[Reservation], ttls: Mapping[str, int]) -> int | None:
    """The earliest instant, in nanoseconds, at which one of them expires. ``ttls``: scheduler → default in ns."""
    return min((at for at, _ in _expiries(reservations, ttls)), default=None)


def expire_reservations(cluster: ControlledCluster, now: int) -> None:
    """Those whose time has come."""
    for at, reservation in list(_expiries(cluster.list(Reservation), cluster.reserving)):
        if at <= now:
            _end(cluster, reservation, EXPIRED, "Expired", "its time is over")


def _expiries(reservations: Iterable[Reservation], ttls: Mapping[str, int]) -> Iterator[tuple[int, Reservation]]:
    for reservation in reservations:
        ttl = ttls.get(_scheduler_of(reservation))
        if ttl is not None and (reservation.waits or reservation.status.phase == AVAILABLE):
            at = expires_at(reservation, ttl)
            if at is not None:
                yield at, reservation


def _scheduler_of(reservation: Reservation) -> str:
    template = reservation.spec.template
    return (template.spec.scheduler_name if template else "") or DEFAULT_SCHEDULER


# --- a place is looked for --------------------------------------------------------------------------------------------


def _pod_name(reservation: Reservation) -> tuple[str, str]:
    template = reservation.spec.template
    namespace = template.metadata.namespace if template else ""
    return namespace or "default", PREFIX + reservation.metadata.name


def _is_for(pod: Pod, reservation: Reservation) -> bool:
    about = reservation.metadata
    return reservation_of(pod) == about.name and any(owner.uid == about.uid for owner in pod.metadata.owner_references)


def _pod_of(cluster: ControlledCluster, reservation: Reservation) -> Pod | None:
    pod = cluster.get(Pod, *_pod_name(reservation))
    return pod if pod is not None and _is_for(pod, reservation) else None


def _seek(cluster: ControlledCluster, told: Reservation) -> None:
    """A pod looks for a node, if a profile keeps reservations and none looks already."""
    reservation = cluster.get(Reservation, "", told.metadata.name)
    if reservation is None or not reservation.waits or reservation.spec.template is None:
        return
    if _scheduler_of(reservation) not in cluster.reserving or _pod_of(cluster, reservation) is not None:
        return
    wrong = next(iter(reservation_errors(reservation)), None)
    if wrong is not None:  # one that was stored unchecked
        _end(cluster, reservation, FAILED, "Unschedulable", str(wrong))
        return
    template, (namespace, name) = reservation.spec.template, _pod_name(reservation)
    owner = OwnerReference(
        api_version=Reservation.api_version,
        kind=Reservation.kind,
        name=reservation.metadata.name,
        uid=reservation.metadata.uid,
        controller=True,
    )
    about = template.metadata
    annotations = {key: text for key, text in about.annotations.items() if key != RESERVATION_ALLOCATED}
    metadata = ObjectMeta(
        name=name, namespace=namespace, labels=about.labels, annotations=annotations, owner_references=(owner,)
    )
    pod = Pod(metadata=metadata, spec=replace(template.spec, node_name=""))
    # A template may say its priority itself, which a pod may not.
    if cluster.post(pod, stored=pod.spec.priority is not None) is None:
        _end(cluster, reservation, FAILED, "Unschedulable", f"its pod {namespace}/{name} was refused")
    elif reservation.status.phase != PENDING:
        cluster.replace(replace(reservation, status=replace(reservation.status, phase=PENDING)))


def _seek_no_more(cluster: ControlledCluster, *versions: Reservation) -> None:
    """``versions``: of one reservation, whose template may name another namespace than before."""
    for reservation in versions:
        pod = _pod_of(cluster, reservation)
        if pod is not None:
            cluster.delete(pod)


def _pod_changed(cluster: ControlledCluster, before: Pod, pod: Pod) -> None:
    name = reservation_of(pod)
    if not name:
        if before.metadata.annotations or pod.metadata.annotations:
            _count(cluster, (before, pod))
        return
    reservation = cluster.get(Reservation, "", name)
    if reservation is None or not pod.spec.node_name or before.spec.node_name or not _is_for(pod, reservation):
        return
    if reservation.waits:
        status = ReservationStatus(
            phase=AVAILABLE,
            node_name=pod.spec.node_name,
            allocatable=amounts_written(pod_requests(pod)),
            conditions=(_condition(cluster, "Available", ""),),
        )
        cluster.replace(replace(reservation, status=status))
    if cluster.find(pod) is not None:
        cluster.delete(pod)


def _pod_gone(cluster: ControlledCluster, pod: Pod) -> None:
    name = reservation_of(pod)
    reservation = cluster.get(Reservation, "", name) if name else None
    if reservation is not None:
        _seek(cluster, reservation)
    elif pod.metadata.annotations:
        _count(cluster, (pod,))


# --- who uses it ------------------------------------------------------------------------------------------------------


def _count(cluster: ControlledCluster, pods: Iterable[Pod]) -> None:
    """Of what these pods use or used."""
    about = {ref: pod for pod in pods if (ref := allocated_to(pod)) is not None}
    for (name, uid), pod in about.items():
        reservation = cluster.get(Reservation, "", name)
        if reservation is not None and reservation.metadata.uid == uid and reservation.status.phase == AVAILABLE:
            _count_again(cluster, reservation, pod)


def _count_again(cluster: ControlledCluster, reservation: Reservation, pod: Pod) -> None:
    ref, users = (reservation.metadata.name, reservation.metadata.uid), dict[str, Pod]()
    known = [(each.namespace, each.name) for each in reservation.status.current_owners]
    for namespace, name in (*known, (pod.metadata.namespace, pod.metadata.name)):
        user = cluster.get(Pod, namespace, name)
        if user is not None and allocated_to(user) == ref and user.status.phase not in FINISHED:
            users[user.key] = user
    amounts: dict[str, int] = dict.fromkeys(reservation.status.allocatable or {}, 0)
    for user in users.values():
        for name, amount in pod_requests(user).items():
            if name in amounts:
                amounts[name] += amount
    before = {name: resource_value(name, amount) for name, amount in (reservation.status.allocated or {}).items()}
    allocated = {name: amount for name, amount in amounts.items() if amount}
    owners = tuple(_reference(user) for user in users.values())
    if owners == reservation.status.current_owners and allocated == before:
        return
    status = replace(reservation.status, allocated=amounts_written(allocated), current_owners=owners)
    if owners and reservation.is_used_once:
        condition = _condition(cluster, "Succeeded", f"used by pod {owners[0].namespace}/{owners[0].name}")
        status = replace(status, phase=SUCCEEDED, conditions=(condition,))
    cluster.replace(replace(reservation, status=status))


def _reference(pod: Pod) -> ObjectReference:
    return ObjectReference(namespace=pod.metadata.namespace, name=pod.metadata.name, uid=pod.metadata.uid)


# --- it ends ----------------------------------------------------------------------------------------------------------


def _condition(cluster: ControlledCluster, reason: str, message: str) -> ReservationCondition:
    return ReservationCondition(
        type="Ready",
        status="True" if reason == AVAILABLE else "False",
        reason=reason,
        message=message,
        last_transition_time=cluster.now_rfc3339(),
    )


def _end(cluster: ControlledCluster, reservation: Reservation, phase: str, reason: str, message: str) -> None:
    status = replace(reservation.status, phase=phase, conditions=(_condition(cluster, reason, message),))
    cluster.replace(replace(reservation, status=status))

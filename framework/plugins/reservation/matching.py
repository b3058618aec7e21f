"""Which pods may use which reservation (docs/koordinator.md#who-may-use-it)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from framework.objects import Pod
from framework.objects.reservations import (
    RESERVATION_AFFINITY,
    ObjectReference,
    Reservation,
    ReservationAffinity,
    ReservationController,
    ReservationOwner,
)
from framework.objects.selectors import LabelMatcher, NodeSelectorMatcher, compile_label_selector, compile_node_selector


class Affinity(NamedTuple):
    """Of a pod that must use a reservation: which."""

    name: str
    """"" for any."""
    selector: NodeSelectorMatcher

    def admits(self, reservation: Reservation) -> bool:
        metadata = reservation.metadata
        if self.name:
            return self.name == metadata.name
        return self.selector.matches(metadata.labels, metadata.name)


class AffinityError(ValueError):
    """The annotation cannot be read; the text says why."""


def affinity_of(pod: Pod) -> Affinity | None:
    """None of a pod that need not use a reservation. Raises AffinityError."""
    text = pod.metadata.annotations.get(RESERVATION_AFFINITY)
    if text is None:
        return None
    found = _read(text)
    if isinstance(found, str):
        raise AffinityError(found)
    return found


@lru_cache(maxsize=1024)
def _read(text: str) -> Affinity | str:
    """An error's text instead."""
    try:
        told = msgspec.json.decode(text, type=ReservationAffinity)
    except msgspec.DecodeError as error:
        return str(error)
    selector = compile_node_selector(told.terms, told.reservation_selector)
    if selector.errors:
        return str(selector.errors[0])
    return Affinity(told.name, selector)


class Owner(NamedTuple):
    """An entry of spec.owners; what is None is true of every pod."""

    object: ObjectReference | None
    controller: ReservationController | None
    labels: LabelMatcher | None

    @classmethod
    def of(cls, owner: ReservationOwner) -> Owner:
        selector = owner.label_selector
        return cls(owner.object, owner.controller, None if selector is None else compile_label_selector(selector))

    def includes(self, pod: Pod) -> bool:
        if self.labels is not None and not self.labels.matches(pod.metadata.labels):
            return False
        if self.object is not None and not _is_object(self.object, pod):
            return False
        return self.controller is None or _is_of(self.controller, pod)


def _same(wanted: str, found: str) -> bool:
    """What is not given is not looked at."""
    return wanted in ("", found)


def _is_object(wanted: ObjectReference, pod: Pod) -> bool:
    about = pod.metadata
    return (
        _same(wanted.kind, Pod.kind)
        and _same(wanted.api_version, Pod.api_version)
        and _same(wanted.namespace, about.namespace)
        and _same(wanted.name, about.name)
        and _same(wanted.uid, about.uid)
    )


def _is_of(wanted: ReservationController, pod: Pod) -> bool:
    return _same(wanted.namespace, pod.metadata.namespace) and any(
        owner.controller
        and _same(wanted.api_version, owner.api_version)
        and _same(wanted.kind, owner.kind)
        and _same(wanted.name, owner.name)
        and _same(wanted.uid, owner.uid)
        for owner in pod.metadata.owner_references
    )

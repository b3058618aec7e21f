"""What Reservations hold on nodes, as the objects say now (docs/koordinator.md#what-is-held)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from framework.objects.decode import decode_manifest
from framework.objects.reservations import AVAILABLE, Reservation
from framework.objects.resources import resource_value
from schedweb.engine.amounts import amount_text
from schedweb.runs.objects.claims import Objects
from schedweb.runs.objects.serializers import AmountSerializer


class HeldAmountSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    held = AmountSerializer(help_text="not yet asked for by pods that use it")
    allocatable = AmountSerializer()


class HeldPlaceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="of the Reservation")
    resources = HeldAmountSerializer(many=True)


def reservations(objects: Objects) -> dict[str, Reservation]:
    """By name."""
    manifests = ({"apiVersion": Reservation.api_version, **each} for each in objects.all(Reservation.kind))
    decoded = map(decode_manifest, manifests)
    return {each.metadata.name: each for each in decoded if isinstance(each, Reservation)}


def left_of(reservation: Reservation) -> dict[str, int]:
    """Resource → what it still holds, in millicores of cpu, else in units; nothing of what is used up."""
    status = reservation.status
    used = {name: resource_value(name, amount) for name, amount in (status.allocated or {}).items()}
    whole = {name: resource_value(name, amount) for name, amount in (status.allocatable or {}).items()}
    return {name: amount - used.get(name, 0) for name, amount in whole.items() if amount > used.get(name, 0)}


def held_on(objects: Objects, node: str) -> list[dict[str, Any]]:
    """Places that are available there, by name."""
    here = [
        each
        for each in reservations(objects).values()
        if each.status.phase == AVAILABLE and each.status.node_name == node
    ]
    return [_body(each) for each in sorted(here, key=lambda each: each.metadata.name)]


def _body(reservation: Reservation) -> dict[str, Any]:
    left = left_of(reservation)
    return {
        "name": reservation.metadata.name,
        "resources": [
            {
                "name": name,
                "held": _amount(name, left.get(name, 0)),
                "allocatable": _amount(name, resource_value(name, amount)),
            }
            for name, amount in (reservation.status.allocatable or {}).items()
        ],
    }


def _amount(resource: str, amount: int) -> dict[str, Any]:
    return {"amount": amount, "text": amount_text(resource, amount)}

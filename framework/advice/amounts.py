"""Amounts of resources in sentences of the advice: cpu in cores, memory and storage in binary units."""

from __future__ import annotations

from typing import Final

from framework.advice.lowering import in_bytes
from framework.objects.resources import CPU
from framework.said import Content, said

UNITS: Final = ((1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))
PLACES: Final = 3


def exactly(resource: str, amount: int) -> Content:
    """``1.37``, ``96 Gi``, ``22.375 Gi``, ``22,913 Mi``: not rounded, as it is to be asked for.

    ``amount`` in millicores, bytes or units.
    """
    if resource == CPU:
        return _figure(amount, 1000)
    if in_bytes(resource):
        for size, unit in UNITS:
            if amount >= size and amount * 10**PLACES % size == 0:
                return said("{amount} {unit}", amount=_figure(amount, size), unit=unit)
    return amount


def about(resource: str, amount: int) -> Content:
    """``47.92``, ``191.1 Gi``: memory and storage with one place at most, enough to tell sizes of nodes apart."""
    if in_bytes(resource):
        for size, unit in UNITS:
            if amount >= size:
                return said("{amount} {unit}", amount=_figure(round(amount * 10 / size), 10), unit=unit)
    return exactly(resource, amount)


def _figure(amount: int, of: int) -> Content:
    return amount // of if amount % of == 0 else said("{amount:,.10g}", amount=amount / of)

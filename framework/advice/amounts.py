"""Amounts of resources in sentences of the advice: cpu in cores, memory and storage in binary units."""

from __future__ import annotations

from typing import Final

from framework.advice.lowering import in_bytes
from framework.objects.resources import CPU
from framework.sentences import Content, sentence

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
                return sentence("{amount} {unit}", amount=_figure(amount, size), unit=unit)
    return amount


def about(resource: str, amount: int) -> Content:
    """``47.92``, ``191.1 Gi``: memory and storage with one place at most, enough to tell sizes of nodes apart."""
    if in_bytes(resource):
        for size, unit in UNITS:
            if amount >= size:
                return sentence("{amount} {unit}", amount=_figure(round(amount * 10 / size), 10), unit=unit)
    return exactly(resource, amount)


def before_and_after(resource: str, before: int, after: int) -> tuple[Content, Content]:
    """``16 Gi``, ``512 Mi`` where that is exact; else both in one unit, with as few places as tell them apart."""
    if not in_bytes(resource) or (_is_short(before) and _is_short(after)):
        return exactly(resource, before), exactly(resource, after)
    least = min(before, after) or max(before, after)
    size, unit = next(((size, unit) for size, unit in UNITS if least >= size), (1, ""))
    if not unit:
        return before, after
    for places in range(1, PLACES + 1):
        fraction = 10**places
        rounded = [round(amount * fraction / size) for amount in (before, after)]
        if rounded[0] != rounded[1]:
            first, second = (sentence("{amount} {unit}", amount=_figure(each, fraction), unit=unit) for each in rounded)
            return first, second
    return exactly(resource, before), exactly(resource, after)


def _is_short(amount: int) -> bool:
    size = next((size for size, _ in UNITS if amount >= size), 1)
    return amount * 10**PLACES % size == 0


def _figure(amount: int, fraction: int) -> Content:
    return amount // fraction if amount % fraction == 0 else sentence("{amount:,.10g}", amount=amount / fraction)

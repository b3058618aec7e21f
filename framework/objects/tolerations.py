"""Which taints a pod tolerates (docs/semantics/plugins.md#tainttoleration)."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import Final

from framework.objects.affinity import Toleration
from framework.objects.node import Taint
from framework.objects.selectors import parse_int64

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"
COMPARISONS_GATE: Final = "TaintTolerationComparisonOperators"
LESS: Final = "Lt"
GREATER: Final = "Gt"
_DECIMAL: Final = re.compile(r"0|-?[1-9][0-9]*")


def is_decimal(text: str) -> bool:
    """Whether it is an integer as a person would write it: no leading zero, no plus sign."""
    return _DECIMAL.fullmatch(text) is not None


def _number(text: str) -> int | None:
    return parse_int64(text) if is_decimal(text) else None


def toleration_tolerates(toleration: Toleration, taint: Taint, *, comparisons: bool = False) -> bool:
    """An empty effect or key stands for all of them. tolerationSeconds plays no part.

    ``comparisons``: the gate TaintTolerationComparisonOperators. Without it Lt and Gt tolerate nothing; with it they
    tolerate taints whose value is a number below or above the toleration's.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    if comparisons and toleration.operator in (LESS, GREATER):
        limit, value = _number(toleration.value), _number(taint.value)
        if limit is None or value is None:
            return False
        return value < limit if toleration.operator == LESS else value > limit
    return toleration.operator == "Exists"


def tolerates(tolerations: Iterable[Toleration], taint: Taint, *, comparisons: bool = False) -> bool:
    for toleration in tolerations:  # noqa: SIM110 (the hot path: a generator costs three times as much)
        if toleration_tolerates(toleration, taint, comparisons=comparisons):
            return True
    return False


def find_untolerated_taint(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], effects: Container[str], *, comparisons: bool = False
) -> Taint | None:
    """The first taint with one of the effects that no toleration covers."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.effect in effects and not tolerates(tolerations, taint, comparisons=comparisons):
            return taint
    return None

"""Which taints a pod tolerates (spec: plugins-intree §4)."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Final

from framework.objects.affinity import Toleration
from framework.objects.node import Taint

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"


def toleration_tolerates(toleration: Toleration, taint: Taint) -> bool:
    """An empty effect or key stands for all of them. tolerationSeconds plays no part.

    Lt and Gt tolerate nothing: the gate TaintTolerationComparisonOperators is off in 1.36.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    for toleration in tolerations:  # noqa: SIM110 (the hot path: a generator costs three times as much)
        if toleration_tolerates(toleration, taint):
            return True
    return False


def find_untolerated_taint(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], effects: Container[str]
) -> Taint | None:
    """The first taint with one of the effects that no toleration covers."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.effect in effects and not tolerates(tolerations, taint):
            return taint
    return None

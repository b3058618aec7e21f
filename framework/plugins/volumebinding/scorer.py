"""How full a node's storage would be; only with the gate StorageCapacityScoring.

Rules: docs/semantics/volumes.md#volumebinding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from framework.interface.scores import MAX_NODE_SCORE
from framework.objects.claims import capacity_quantity, requested_quantity
from framework.objects.quantity import parse_quantity
from framework.plugins.volumebinding.pod_claims import PodVolumes

MAX_UTILIZATION: Final = 100
MAX_CUSTOM_SCORE: Final = 10
"""Shapes are written in the range that scores had before the framework, 0 to 10."""

Shape = Sequence[tuple[int, int]]
"""(utilization, score), utilization growing; scores up to 100."""


@dataclass(slots=True)
class StorageUse:
    requested: int = 0
    capacity: int = 0


def use_by_class(volumes: PodVolumes) -> dict[str, StorageUse]:
    """Of the matched volumes; of the claims to provision only when nothing was matched.

    The beta annotation that names a class is not looked at here, as upstream.
    """
    classes: dict[str, StorageUse] = {}
    for match in volumes.matches:
        use = classes.setdefault(match.volume.spec.storage_class_name, StorageUse())
        use.requested += requested_quantity(match.claim).value()
        use.capacity += capacity_quantity(match.volume).value()
    if volumes.matches:
        return classes
    for provision in volumes.provisions:
        if provision.capacity is not None:
            use = classes.setdefault(provision.claim.spec.storage_class_name or "", StorageUse())
            raw = provision.capacity.capacity
            # The node's capacity of a class is one, however many claims take from it.
            use.capacity = 0 if raw is None else parse_quantity(raw).value()
            use.requested += requested_quantity(provision.claim).value()
    return classes


def scaled_shape(points: Sequence[tuple[int, int]]) -> Shape:
    """Configured scores go up to 10."""
    return [(utilization, score * (MAX_NODE_SCORE // MAX_CUSTOM_SCORE)) for utilization, score in points]


def broken_linear(shape: Shape, utilization: int) -> int:
    """Between two points on their line, outside on the nearest one (upstream BuildBrokenLinearFunction)."""
    for i, (at, score) in enumerate(shape):
        if utilization <= at:
            if i == 0:
                return score
            before, low = shape[i - 1]
            rise = (score - low) * (utilization - before)
            steps = abs(rise) // (at - before)  # Go truncates toward zero
            return low + (steps if rise >= 0 else -steps)
    return shape[-1][1]


def score_classes(shape: Shape, classes: Mapping[str, StorageUse]) -> int:
    """The mean over the classes, rounded half away from zero."""
    if not classes:
        return 0
    total = 0
    for use in classes.values():
        if use.capacity == 0 or use.requested > use.capacity:
            total += broken_linear(shape, MAX_UTILIZATION)
        else:
            total += broken_linear(shape, use.requested * MAX_UTILIZATION // use.capacity)
    return (2 * total + len(classes)) // (2 * len(classes))

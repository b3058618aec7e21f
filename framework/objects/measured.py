"""What a node's figures of load say of one resource (docs/semantics/catalogue.md#load)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from framework.objects.catalogue import LoadMetric

CPU_LOAD: Final = "CPU"
MEMORY_LOAD: Final = "Memory"
AVERAGE: Final = "AVG"
DEVIATION: Final = "STD"
LATEST: Final = "Latest"


class Usage(NamedTuple):
    """Percent of what the node has."""

    average: float
    deviation: float


def usage_of(metrics: Sequence[LoadMetric], kind: str) -> Usage | None:
    """AVG wins; Latest or no operator count only where no AVG came before. None without any entry of this kind."""
    average = deviation = 0.0
    averaged = found = False
    for metric in metrics:
        if metric.type != kind:
            continue
        if metric.operator == AVERAGE:
            average, averaged = metric.value, True
        elif metric.operator == DEVIATION:
            deviation = metric.value
        elif metric.operator in ("", LATEST) and not averaged:
            average = metric.value
        found = True
    return Usage(average, deviation) if found else None

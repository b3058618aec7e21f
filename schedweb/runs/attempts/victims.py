"""On which nodes the victims of a preemption were, where pods leave several nodes for room on one of them.

A trace names victims without their nodes; they are read from the run's pods as it has them, those that went included.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from framework.plugins.crossnodepreemption.plugin import CrossNodePreemption
from framework.trace.attempt import PostFilterOutcome
from schedweb.runs.models import PodRecord, Preemption, Run

ACROSS: Final = CrossNodePreemption.name


def nodes_of(run: Run, number: int, outcome: PostFilterOutcome, victims: Iterable[str]) -> dict[str, str]:
    """namespace/name → node. Without those of whom several pods had the name; empty for plugins that evict from the
    candidate alone. ``number`` of the attempt."""
    if outcome.plugin != ACROSS:
        return {}
    keys = set(victims)
    if run.moment is not None:
        records = [each for each in run.moment.pods if each.node]
    else:
        names = {key.partition("/")[2] for key in keys}
        placed = PodRecord.objects.filter(run=run, name__in=names).exclude(node="")
        records = list(placed.only("uid", "namespace", "name", "node"))
    evicted = set(Preemption.objects.filter(run=run, number=number).values_list("victim_uid", flat=True))
    found: dict[str, set[str]] = {}
    left: dict[str, str] = {}
    for each in records:
        key = f"{each.namespace}/{each.name}"
        if key in keys:
            found.setdefault(key, set()).add(each.node)
            if each.uid in evicted:
                left[key] = each.node
    return {key: next(iter(nodes)) for key, nodes in found.items() if len(nodes) == 1} | left

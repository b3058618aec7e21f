"""Room that an attempt found kept for others: pods that preempted somebody and had not come back to their node yet.

The Filter plugins count such a pod as if it stood on the node already, for every pod that is not more important
(kube-scheduler's RunFilterPluginsWithNominatedPods). Nominations that the snapshot brought are not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

from schedweb.engine.usage_log import padded
from schedweb.runs.models import Attempt, PodRecord, Preemption


@dataclass(frozen=True)
class Kept:
    pod: str
    """``namespace/name`` of the nominated pod."""
    amounts: list[int]
    """What it asks for, in the order of the run's resources."""


def kept_rooms(asking: Attempt, priority: int, resources: int, *, before: int | None = None) -> dict[str, list[Kept]]:
    """Node → for whom ``asking``, of a pod of this priority, had to leave room there.

    ``resources``: how many the run has; ``before``: for whom an attempt of this number would have to, instead.
    """
    number = asking.number if before is None else before
    preemptions = Preemption.objects.filter(
        run=asking.run_id, number__lt=number, priority__gte=priority, place=0
    ).exclude(uid=asking.pod_uid)
    newest = {row.uid: row for row in preemptions.order_by("number")}
    if not newest:
        return {}
    tried_again = {
        uid
        for uid, again in Attempt.objects.filter(run=asking.run_id, pod_uid__in=newest, number__lt=number).values_list(
            "pod_uid", "number"
        )
        if again > newest[uid].number
    }
    details = dict(PodRecord.objects.filter(run=asking.run_id, uid__in=newest).values_list("uid", "detail"))
    kept: dict[str, list[Kept]] = {}
    for uid, row in newest.items():
        if uid not in tried_again:
            amounts = padded(details.get(uid, {}).get("amounts", []), resources)[:resources]
            kept.setdefault(row.node, []).append(Kept(f"{row.namespace}/{row.name}", amounts))
    return kept

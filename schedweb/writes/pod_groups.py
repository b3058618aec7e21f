"""The condition PodGroupScheduled of a pod group, as kube-scheduler patches it at the end of the group's cycle:
pkg/scheduler/schedule_one_podgroup.go ``updatePodGroupCondition``, pkg/scheduler/util/utils.go ``PatchPodGroupStatus``.

A strategic merge patch of the status, without uid or version: what differs from the group as the scheduler knows it,
and the order of all conditions where the group has some. Of a metav1.Condition only observedGeneration is left out
where it is empty.
"""

from __future__ import annotations

from typing import Any

from framework.objects.scheduling import SCHEDULING_V1ALPHA2, Condition, SchedulingPodGroup
from schedweb.writes.writes import STRATEGIC, About, Body, Write


def patch_status(known: SchedulingPodGroup, wanted: SchedulingPodGroup) -> Write | None:
    """None where no condition of ``wanted`` is new or differs: kube-scheduler sends no patch that changes nothing."""
    before = {each.type: _as_json(each) for each in known.status.conditions}
    changed = [difference for each in wanted.status.conditions if (difference := _differs(before.get(each.type), each))]
    if not changed:
        return None
    status: Body = {"conditions": changed}
    if before:
        status["$setElementOrder/conditions"] = [{"type": each.type} for each in wanted.status.conditions]
    metadata = known.metadata
    path = f"/apis/{SCHEDULING_V1ALPHA2}/namespaces/{metadata.namespace}/podgroups/{metadata.name}"
    about = About(metadata.namespace, metadata.name, metadata.uid, path)
    return Write("pod_group", "PATCH", f"{path}/status", {"status": status}, about, metadata.namespace, STRATEGIC)


def _differs(before: dict[str, Any] | None, condition: Condition) -> dict[str, Any]:
    after = _as_json(condition)
    if before is None:
        return after
    changed = {name: after.get(name) for name in {**before, **after} if before.get(name) != after.get(name)}
    return {**changed, "type": condition.type} if changed else {}


def _as_json(condition: Condition) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": condition.type,
        "status": condition.status,
        "lastTransitionTime": condition.last_transition_time,
        "reason": condition.reason,
        "message": condition.message,
    }
    return {**found, "observedGeneration": condition.observed_generation} if condition.observed_generation else found

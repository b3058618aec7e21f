"""The condition PodGroupScheduled, set at the end of a group's cycle (docs/semantics/pod-groups.md#group-cycle)."""

from __future__ import annotations

from msgspec.structs import replace

from framework.cycle.core import SchedulingCore
from framework.interface.status import Status
from framework.objects.scheduling import POD_GROUP_SCHEDULED, Condition, SchedulingPodGroup


def set_scheduled_condition(core: SchedulingCore, namespace: str, name: str, status: Status) -> None:
    """A group that was scheduled once stays so: later cycles are about further pods."""
    group = core.objects.get(SchedulingPodGroup, namespace, name)
    if group is None:
        core.observer.logged(f"Failed to get PodGroup for status update: {namespace}/{name}")
        return
    scheduled = status.is_success
    reason = "Scheduled" if scheduled else "Unschedulable" if status.is_rejected else "SchedulerError"
    wanted = Condition(
        type=POD_GROUP_SCHEDULED,
        status="True" if scheduled else "False",
        reason=reason,
        message=status.message,
        observed_generation=group.metadata.generation,
    )
    conditions = list(group.status.conditions)
    at = next((i for i, each in enumerate(conditions) if each.type == POD_GROUP_SCHEDULED), None)
    old = None if at is None else conditions[at]
    if old is not None and old.status == "True" and not scheduled:
        return
    if old is not None and old.status == wanted.status:
        wanted = replace(wanted, last_transition_time=old.last_transition_time)
    else:
        wanted = replace(wanted, last_transition_time=core.api.now_rfc3339())
    if wanted == old:
        return
    if at is None:
        conditions.append(wanted)
    else:
        conditions[at] = wanted
    error = core.api.update(replace(group, status=replace(group.status, conditions=tuple(conditions))))
    if error is not None:
        core.observer.logged(f"Failed to update PodGroup status: {error}")

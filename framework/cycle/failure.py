"""The failure handler: a failed attempt is explained to the API, its pod goes back to the queue.

Rules: docs/semantics/framework.md#failure.
"""

from __future__ import annotations

from typing import Final

from framework.cycle.core import SchedulingCore
from framework.cycle.diagnosis import FitError
from framework.interface.node_info import PodInfo
from framework.interface.status import Code, Status
from framework.objects import Pod, PodCondition
from framework.queue import Nomination, QueuedPodInfo
from framework.trace.attempt import AttemptTrace

NOTE_LIMIT: Final = 1024
"""Bytes of an event's note, which is what the API takes; the condition keeps the whole message."""
_ELLIPSIS: Final = " ..."


def truncated(message: str) -> str:
    raw = message.encode()
    if len(raw) <= NOTE_LIMIT:
        return message
    return raw[: NOTE_LIMIT - len(_ELLIPSIS)].decode(errors="ignore") + _ELLIPSIS


def handle_failure(
    core: SchedulingCore,
    queued: QueuedPodInfo,
    pod: Pod,
    status: Status,
    fit_error: FitError | None,
    nomination: Nomination | None,
    trace: AttemptTrace,
) -> None:
    """``pod`` is the pod as the attempt knew it: the assumed one if it got that far."""
    reason = "Unschedulable" if status.is_rejected else "SchedulerError"
    message = status.message
    _note(core, trace, status, fit_error, nomination, reason, message)
    queued.clear_rejectors()
    if fit_error is not None:
        queued.unschedulable_plugins = set(fit_error.unschedulable_plugins)
        queued.pending_plugins = set(fit_error.pending_plugins)

    uid = pod.metadata.uid
    approved = core.proposals.is_used and core.proposals.attempt_ended(uid, is_placed=False)
    live = core.objects.get(Pod, pod.metadata.namespace, pod.metadata.name)
    if live is None or live.spec.node_name:
        core.queue.done(uid)
        core.queue.leave(queued, "ScheduleAttemptFailure")
    elif live.metadata.uid != uid:
        # Recreated meanwhile: neither event nor condition.
        core.queue.done(uid)
        core.queue.leave(queued, "ScheduleAttemptFailure")
        return
    else:
        if queued.pod_info.pod is not live:
            queued.pod_info = PodInfo(live)
        pod = live
        refused = core.queue.add_unschedulable_if_not_present(queued, core.now)
        if refused is not None:
            core.observer.logged(refused)
            core.queue.leave(queued, "ScheduleAttemptFailure")
    core.queue.nominator.add(pod, nomination)
    if approved:
        core.queue.activate([pod], core.now)

    if status.code is Code.SKIP:
        # All Bind plugins skipped, a status without error: no event, no condition
        # (docs/semantics/framework.md#binding-cycle).
        return
    core.api.event("Warning", "FailedScheduling", pod, truncated(message))
    condition = PodCondition(type="PodScheduled", status="False", reason=reason, message=message)
    error = core.api.patch_pod_status(pod, condition, nomination)
    if error is not None:
        core.observer.logged(f"Error updating pod: {error}")


def _note(
    core: SchedulingCore,
    trace: AttemptTrace,
    status: Status,
    fit_error: FitError | None,
    nomination: Nomination | None,
    reason: str,
    message: str,
) -> None:
    trace.result = "failed"
    trace.finished_at = core.now
    trace.status = status
    trace.reason = reason
    trace.message = message
    trace.nomination = None if nomination is None else nomination.node_name
    if fit_error is not None:
        trace.fit_error = True
        trace.fit_error_nodes = fit_error.total_nodes
        trace.unschedulable_plugins = tuple(sorted(fit_error.unschedulable_plugins))
        trace.pending_plugins = tuple(sorted(fit_error.pending_plugins))
    core.observer.attempt(trace)

"""What trying out a pod group came to: per pod, and as a whole (upstream ``podGroupAlgorithmResult``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from framework.cycle.diagnosis import FitError
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.status import SUCCESS, Code, Status
from framework.queue import CLEAR_NOMINATION, Nomination, QueuedPodInfo
from framework.trace.attempt import AttemptTrace, PlacementOutcome

UNSCHEDULABLE: Final = "pod group is unschedulable"
Member = tuple[QueuedPodInfo, AttemptTrace]


@dataclass(slots=True, eq=False)
class MemberOutcome:
    """What trying out one pod of the group came to."""

    queued: QueuedPodInfo
    trace: AttemptTrace
    state: CycleState
    node_name: str = ""
    """Where it was assumed: its node, or the one it was nominated to."""
    status: Status = SUCCESS
    fit_error: FitError | None = None
    nomination: Nomination | None = CLEAR_NOMINATION
    requires_preemption: bool = False
    permit: Status | None = None
    """Only of a pod that found a node, or was nominated to one."""
    assumed: PodInfo | None = None

    def failed(self, status: Status, fit_error: FitError | None, nomination: Nomination | None) -> None:
        self.status, self.fit_error, self.nomination = status, fit_error, nomination


@dataclass(slots=True)
class GroupResult:
    status: Status
    tried_pods: list[MemberOutcome] = field(default_factory=list)
    """In the order of the pods; after an error fewer than there are pods."""
    waiting_on_preemption: bool = False
    placement: str = ""
    placements: tuple[PlacementOutcome, ...] = ()

    @property
    def would_do(self) -> bool:
        return self.status.is_success or self.waiting_on_preemption

    def failure_of(self, tried: MemberOutcome | None) -> tuple[Status, FitError | None, Nomination | None]:
        """What the failure handler is told of a pod that is not to be bound; None for one that was not tried."""
        if self.status.code is Code.ERROR:
            own = tried is not None and tried.status.code is Code.ERROR
            return (tried.status if tried is not None and own else self.status), None, CLEAR_NOMINATION
        if tried is None:
            return self.status, None, None
        if tried.status.is_success and self.waiting_on_preemption:
            return self.status, None, Nomination(tried.node_name)
        if tried.status.is_success or (tried.requires_preemption and not self.waiting_on_preemption):
            # What Permit said, "" included; that the pod asked for a preemption counts no more.
            message = "" if tried.permit is None else tried.permit.message
            return unschedulable(message), None, CLEAR_NOMINATION
        return tried.status, tried.fit_error, tried.nomination


def unschedulable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE, reasons, error=UNSCHEDULABLE)


def fresh(trace: AttemptTrace, nodes_total: int) -> AttemptTrace:
    """The same attempt with nothing in it yet: each placement is tried out by itself."""
    return AttemptTrace(
        pod=trace.pod,
        uid=trace.uid,
        profile=trace.profile,
        attempt=trace.attempt,
        cycle=trace.cycle,
        at=trace.at,
        priority=trace.priority,
        nodes_total=nodes_total,
    )


def take_over(trace: AttemptTrace, tried: AttemptTrace) -> None:
    """What was written in one of several trials becomes the attempt's."""
    for name in AttemptTrace.__struct_fields__:
        setattr(trace, name, getattr(tried, name))

"""PreemptionToleration's PostFilter, and which pods a PriorityClass spares.

Rules: docs/semantics/catalogue.md#preemptiontoleration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from framework.interface import (
    AskExtenders,
    Candidate,
    Code,
    CycleState,
    DryRun,
    NodeStatuses,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    Status,
)
from framework.objects import Pod, PodDisruptionBudget, PriorityClass
from framework.objects.catalogue import MINIMUM_PREEMPTABLE_PRIORITY, TOLERATION_SECONDS
from framework.objects.go_numbers import parse_int
from framework.objects.timestamps import SECOND, parse_timestamp
from framework.plugins.preemptiontoleration.args import PreemptionTolerationArgs
from framework.preemption.evaluator import NEVER, TERMINATING, preempt, terminating_below
from framework.preemption.limits import candidates_wanted
from framework.preemption.victims import priority_of, reprieve_all, take_off
from framework.sentences import noted


class PreemptionToleration(PostFilterPlugin):
    name: ClassVar[str] = "PreemptionToleration"
    origin = "scheduler-plugins"
    args_type: ClassVar[type[PreemptionTolerationArgs]] = PreemptionTolerationArgs
    description: ClassVar[str] = noted(
        "Evicts pods of lower priority when a pod fits nowhere, unless their PriorityClass spares them for a time."
    )

    args: PreemptionTolerationArgs

    def post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses
    ) -> tuple[PostFilterResult | None, Status | None] | AskExtenders:
        return preempt(self.name, self.handle, self, state, pod, statuses)

    # --- rules of preemption ----------------------------------------------------------------------------------------

    def not_eligible(self, state: CycleState, pod: Pod, nominated: Status | None) -> str:
        if pod.spec.preemption_policy == "Never":
            return NEVER
        if nominated is None or nominated.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            return ""
        return TERMINATING if terminating_below(self.handle, pod) else ""

    def offset_and_number(self, nodes: int) -> tuple[int, int]:
        args = self.args
        wanted = candidates_wanted(nodes, args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute)
        return self.handle.random_below(nodes), wanted

    def select_victims(
        self, dry_run: DryRun, state: CycleState, pod: PodInfo, budgets: Sequence[PodDisruptionBudget]
    ) -> Candidate | Status:
        priority = priority_of(pod.pod)
        potential: list[PodInfo] = []
        for placed in list(dry_run.node.pods):
            if priority_of(placed.pod) >= priority:
                continue
            spared = self._is_spared(placed.pod, pod.pod)
            if isinstance(spared, Status):
                return spared
            if not spared:
                potential.append(placed)
                if (failed := take_off(dry_run, placed)) is not None:
                    return failed
        if not potential:
            return no_victims(dry_run, pod)
        if not (status := dry_run.run_filters()).is_success:
            return status
        return reprieve_all(dry_run, potential, budgets, self.handle.now())

    def _is_spared(self, victim: Pod, preemptor: Pod) -> bool | Status:
        """Whether the pod may stay, though its priority is lower; an error where its PriorityClass does not exist."""
        name = victim.spec.priority_class_name
        if not name:
            return False
        of_victim = self.handle.objects.get(PriorityClass, "", name)
        if of_victim is None:
            return Status.as_error(f'priorityclass.scheduling.k8s.io "{name}" not found')
        if preemptor.spec.preemption_policy == "Never":
            return True
        tolerates = toleration_of(victim, of_victim)
        if tolerates is None or priority_of(preemptor) >= tolerates.minimum:
            return False
        return tolerates.until is None or tolerates.until > self.handle.now()


class Toleration(NamedTuple):
    """How long a pod stays in spite of a pod of higher priority."""

    minimum: int
    """The priority from which on it yields at once."""
    seconds: int
    """Since it was scheduled; below 0 for ever."""
    until: int | None
    """Nanoseconds since 1970; None for ever, and of a pod that is not scheduled."""


def toleration_of(victim: Pod, of_victim: PriorityClass) -> Toleration | None:
    """By its PriorityClass; None where the annotations cannot be read, which spares nobody."""
    policy = _policy(of_victim)
    if policy is None:
        return None
    minimum, seconds = policy
    scheduled = next((each for each in victim.status.conditions if each.type == "PodScheduled"), None)
    if seconds < 0 or scheduled is None or scheduled.status != "True":
        return Toleration(minimum, seconds, None)
    since = parse_timestamp(scheduled.last_transition_time) if scheduled.last_transition_time else 0
    return Toleration(minimum, seconds, since + seconds * SECOND)


def no_victims(dry_run: DryRun, pod: PodInfo) -> Status:
    name = pod.pod.metadata.name
    return Status.unresolvable(f"No victims found on node {dry_run.node.name} for preemptor pod {name}")


def _policy(of_victim: PriorityClass) -> tuple[int, int] | None:
    """(the priority from which it yields at once, seconds for which it does not yield to others); None: unreadable."""
    annotations = of_victim.metadata.annotations
    minimum: int | None = of_victim.value + 1
    if MINIMUM_PREEMPTABLE_PRIORITY in annotations:
        minimum = parse_int(annotations[MINIMUM_PREEMPTABLE_PRIORITY], 32)
    seconds: int | None = 0
    if TOLERATION_SECONDS in annotations:
        seconds = parse_int(annotations[TOLERATION_SECONDS], 64)
    return None if minimum is None or seconds is None else (minimum, seconds)

"""Whom CapacityScheduling evicts from one node (docs/semantics/catalogue.md#victims-of-a-quota)."""

from __future__ import annotations

from collections.abc import Sequence

from framework.interface import Candidate, DryRun, PodInfo, Status
from framework.interface.go_sort import go_sorted
from framework.objects import PodDisruptionBudget
from framework.plugins.capacityscheduling.quotas import Quota, Quotas
from framework.preemption.victims import failed, more_important, priority_of, split_by_budget, take_off


def select_victims(
    dry_run: DryRun, quotas: Quotas, preemptor: PodInfo, budgets: Sequence[PodDisruptionBudget], now: int
) -> Candidate | Status:
    """``quotas`` are the dry run's own: they follow the pods that are taken off and put back."""

    def by_importance(a: PodInfo, b: PodInfo) -> bool:
        return more_important(a.pod, b.pod, now)

    own = quotas.by_namespace.get(preemptor.pod.metadata.namespace)
    # Not a strict order: of equally important pods the order is turned round.
    ordered = go_sorted(dry_run.node.pods, lambda a, b: not by_importance(a, b))
    borrows = own is not None and own.over_least_with(quotas.request_in_quota)
    potential: list[PodInfo] = []
    for placed in ordered:
        if _may_go(quotas, own, borrows=borrows, placed=placed, preemptor=preemptor):
            potential.append(placed)
            if (gone_wrong := take_off(dry_run, placed)) is not None:
                return gone_wrong
    if not potential:
        name = preemptor.pod.metadata.name
        return Status.unresolvable(f"No victims found on node {dry_run.node.name} for preemptor pod {name}")
    if not (status := dry_run.run_filters()).is_success:
        return status
    if own is not None and (own.over_most_with(quotas.request) or quotas.all_over_least_with(quotas.request)):
        return Status.unschedulable("global quota max exceeded")
    return _Reprieve(dry_run, quotas, own).candidate(go_sorted(potential, by_importance), budgets, now)


def _may_go(quotas: Quotas, own: Quota | None, *, borrows: bool, placed: PodInfo, preemptor: PodInfo) -> bool:
    """A pod that has to borrow takes from its own namespace, by priority; one that claims what it is guaranteed takes
    from those that borrow, as long as they do, whatever the priority. Outside of quotas priority decides."""
    theirs = quotas.by_namespace.get(placed.pod.metadata.namespace)
    is_lower = priority_of(placed.pod) < priority_of(preemptor.pod)
    if own is None:
        return theirs is None and is_lower
    if theirs is None:
        return False
    same = placed.pod.metadata.namespace == preemptor.pod.metadata.namespace
    return same and is_lower if borrows else not same and theirs.over_least()


class _Reprieve:
    def __init__(self, dry_run: DryRun, quotas: Quotas, own: Quota | None) -> None:
        self._dry_run = dry_run
        self._quotas = quotas
        self._own = own
        self._victims: list[PodInfo] = []

    def candidate(
        self, potential: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget], now: int
    ) -> Candidate | Status:
        violating, others = split_by_budget(potential, budgets)
        violations = 0
        for pod in violating:
            fits = self._let_back(pod)
            if isinstance(fits, Status):
                return fits
            violations += not fits
        for pod in others:
            fits = self._let_back(pod)
            if isinstance(fits, Status):
                return fits
        victims = self._victims
        if violating and others:
            victims = go_sorted(victims, lambda a, b: more_important(a.pod, b.pod, now))
        return Candidate(self._dry_run.node.name, tuple(victim.pod for victim in victims), violations)

    def _let_back(self, pod: PodInfo) -> bool | Status:
        """Whether filters let the pod stay; one that its quota does not let stay is a victim all the same."""
        if not (status := self._dry_run.add_pod(pod)).is_success:
            return failed(status)
        fits = self._dry_run.run_filters().is_success
        if not fits and (gone_wrong := self._take(pod)) is not None:
            return gone_wrong
        own, quotas = self._own, self._quotas
        if own is not None and (
            own.over_most_with(quotas.request_in_quota) or quotas.all_over_least_with(quotas.request_in_all)
        ):
            if not fits:
                # Upstream takes the pod off once more, which fails.
                name, node = pod.pod.metadata.name, self._dry_run.node.name
                return Status.as_error(f"no corresponding pod {name} in pods of node {node}")
            if (gone_wrong := self._take(pod)) is not None:
                return gone_wrong
        return fits

    def _take(self, pod: PodInfo) -> Status | None:
        self._victims.append(pod)
        return take_off(self._dry_run, pod)

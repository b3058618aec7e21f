"""Which pods of one node would have to go (docs/semantics/preemption.md#victims), and the order of their importance."""

from __future__ import annotations

from collections.abc import Sequence

from framework.interface import Candidate, Code, DryRun, PodInfo, Status
from framework.interface.go_sort import go_sorted
from framework.objects import Pod, PodDisruptionBudget
from framework.objects.selectors import SelectorError, compile_label_selector
from framework.objects.timestamps import parse_timestamp

NO_VICTIMS = Status.unresolvable("No preemption victims found for incoming pod")


def priority_of(pod: Pod) -> int:
    return pod.spec.priority or 0


def start_time(pod: Pod, now: int) -> int:
    """Nanoseconds; a pod that has not started counts as starting now."""
    return parse_timestamp(pod.status.start_time) if pod.status.start_time else now


def more_important(a: Pod, b: Pod, now: int) -> bool:
    """Higher priority, then the longer running."""
    if priority_of(a) != priority_of(b):
        return priority_of(a) > priority_of(b)
    return start_time(a, now) < start_time(b, now)


def select_victims(
    dry_run: DryRun, preemptor: PodInfo, budgets: Sequence[PodDisruptionBudget], now: int
) -> Candidate | Status:
    """Removes every pod of lower priority, then lets back as many as still leave room, the most important first.

    Returns the status that makes the node unsuitable when even without them the pod does not fit.
    """
    potential = [p for p in dry_run.node.pods if priority_of(p.pod) < priority_of(preemptor.pod)]
    for pod in potential:
        if (gone_wrong := take_off(dry_run, pod)) is not None:
            return gone_wrong
    if not potential:
        return NO_VICTIMS
    if not (status := dry_run.run_filters()).is_success:
        return status

    return reprieve_all(dry_run, potential, budgets, now)


def take_off(dry_run: DryRun, pod: PodInfo) -> Status | None:
    """None, or the error that makes the node no candidate."""
    status = dry_run.remove_pod(pod)
    return None if status.is_success else failed(status)


def reprieve_all(
    dry_run: DryRun, potential: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget], now: int
) -> Candidate | Status:
    """Lets back as many of those that were taken off as still leave room, those under a budget first."""

    def by_importance(a: PodInfo, b: PodInfo) -> bool:
        return more_important(a.pod, b.pod, now)

    violating, others = split_by_budget(go_sorted(potential, by_importance), budgets)
    evicted_violating = reprieve(dry_run, violating)
    if isinstance(evicted_violating, Status):
        return evicted_violating
    evicted_others = reprieve(dry_run, others)
    if isinstance(evicted_others, Status):
        return evicted_others
    victims = [*evicted_violating, *evicted_others]
    if violating and others:
        victims = go_sorted(victims, by_importance)
    return Candidate(dry_run.node.name, tuple(v.pod for v in victims), len(evicted_violating))


def reprieve(dry_run: DryRun, pods: Sequence[PodInfo]) -> list[PodInfo] | Status:
    """Puts pods back one by one while the preemptor still fits; returns those that must go."""
    evicted: list[PodInfo] = []
    for pod in pods:
        if not (status := dry_run.add_pod(pod)).is_success:
            return failed(status)
        if dry_run.run_filters().is_success:
            continue
        if not (status := dry_run.remove_pod(pod)).is_success:
            return failed(status)
        evicted.append(pod)
    return evicted


def failed(status: Status) -> Status:
    """An AddPod or RemovePod extension that failed is an error, whatever its code (upstream ``AsStatus(err)``)."""
    return status if status.code is Code.ERROR else Status.as_error(status.message)


def go_aggregate(errors: Sequence[str]) -> str:
    """``utilerrors.NewAggregate``: one message bare, several as a list without repetitions."""
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def split_by_budget(
    pods: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """(pods whose eviction would violate a PodDisruptionBudget, the others), each in the given order."""
    violating: list[PodInfo] = []
    others: list[PodInfo] = []
    for info, broken in zip(pods, broken_budgets([info.pod for info in pods], budgets), strict=True):
        (violating if broken else others).append(info)
    return violating, others


def broken_budgets(pods: Sequence[Pod], budgets: Sequence[PodDisruptionBudget]) -> list[list[PodDisruptionBudget]]:
    """Of each pod: the budgets that do not allow its eviction, once those before it are gone.

    Every matching budget is charged, also after one was found violated (docs/semantics/preemption.md#victims).
    """
    allowed = [budget.status.disruptions_allowed for budget in budgets]
    found: list[list[PodDisruptionBudget]] = []
    for pod in pods:
        broken = []
        for i, budget in enumerate(budgets):
            if covers(budget, pod):
                allowed[i] -= 1
                if allowed[i] < 0:
                    broken.append(budget)
        found.append(broken)
    return found


def covers(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """A nil or empty selector matches nothing; a pod listed in disruptedPods is already being evicted."""
    if not pod.metadata.labels or budget.metadata.namespace != pod.metadata.namespace:
        return False
    selector = budget.spec.selector
    if selector is None or not (selector.match_labels or selector.match_expressions):
        return False
    try:
        matches = compile_label_selector(selector).matches(pod.metadata.labels)
    except SelectorError:
        # Upstream ignores budgets with an invalid selector.
        return False
    return matches and pod.metadata.name not in budget.status.disrupted_pods

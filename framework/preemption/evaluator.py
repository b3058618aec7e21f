"""Preemption node by node, for plugins with rules of their own about who may be evicted (upstream ``Evaluator``).

It is played as one step: the victims are gone before PostFilter returns. DefaultPreemption keeps what dry runs came to
and looks at thousands of nodes (framework/plugins/defaultpreemption); here each potential node is tried out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

import numpy as np

from framework.interface import (
    AskExtenders,
    Candidate,
    Code,
    CycleState,
    DryRun,
    DryRuns,
    Handle,
    NodeStatuses,
    PodInfo,
    PostFilterResult,
    Status,
)
from framework.interface.decisions import passes_of
from framework.interface.fit_error import counted_fit_error_message
from framework.objects import Pod, PodDisruptionBudget
from framework.preemption.choice import CRITERIA, best_candidates, costs_of
from framework.preemption.evictions import evict_then_clear
from framework.preemption.victims import go_aggregate

NOT_HELPFUL: Final = Status.unresolvable("Preemption is not helpful for scheduling")
NOBODY_LEFT: Final = Status.unschedulable("no candidate node for preemption")
"""Extenders left none."""
NEVER: Final = "not eligible due to preemptionPolicy=Never."
TERMINATING: Final = "not eligible due to a terminating pod on the nominated node."


class Rules(Protocol):
    """What a plugin decides (upstream ``preemption.Interface``)."""

    def not_eligible(self, state: CycleState, pod: Pod, nominated: Status | None) -> str:
        """Why this pod may not preempt now, or "". ``nominated``: Filter's status of the node it is nominated on."""
        ...

    def offset_and_number(self, nodes: int) -> tuple[int, int]:
        """Of so many potential nodes: at which to begin, and how many candidates are enough."""
        ...

    def select_victims(
        self, dry_run: DryRun, state: CycleState, pod: PodInfo, budgets: Sequence[PodDisruptionBudget]
    ) -> Candidate | Status:
        """``state`` is the dry run's own, with what AddPod and RemovePod change."""
        ...


def preempt(
    plugin: str, handle: Handle, rules: Rules, state: CycleState, pod: PodInfo, statuses: NodeStatuses
) -> tuple[PostFilterResult | None, Status] | AskExtenders:
    """PostFilter's answer; the victims of the chosen node are evicted."""
    metadata = pod.pod.metadata
    current = handle.objects.get(Pod, metadata.namespace, metadata.name)
    if current is None:
        return None, Status.as_error(f'pod "{metadata.name}" not found')
    on = current.status.nominated_node_name
    if refusal := rules.not_eligible(state, current, statuses.get(on) if on else None):
        return None, Status.unschedulable(refusal)
    total = len(handle.snapshot.list())
    if total == 0:
        return None, Status.as_error("no nodes available")
    preemptor = pod if pod.pod is current else PodInfo(current)
    asking = handle.evictions
    candidates: list[Candidate] = []
    if asking is not None and (node := asking.approved_on(plugin, current)):
        candidates, failures, runs = _find_candidates(handle, rules, state, preemptor, statuses, node)
        if not asking.allows(current, candidates):
            candidates = []
    if not candidates:
        candidates, failures, runs = _find_candidates(handle, rules, state, preemptor, statuses)
    if not candidates:
        errors = [status.message for status, _ in failures if status.code is Code.ERROR]
        if errors:
            return None, Status.as_error(go_aggregate(errors))
        message = counted_fit_error_message(total, [(status, 1) for status, _ in failures], NOT_HELPFUL)
        refused: dict[str, list[str]] = {}
        for status, node in failures:
            refused.setdefault(", ".join(status.all_reasons), []).append(node)
        return PostFilterResult(nominated_node="", refused=refused, dry_runs=runs), Status.unschedulable(message)
    return choose(plugin, handle, current, candidates, dry_runs=runs)


def choose(
    plugin: str,
    handle: Handle,
    preemptor: Pod,
    candidates: Sequence[Candidate],
    not_tried: Sequence[str] = (),
    dry_runs: DryRuns | None = None,
) -> tuple[PostFilterResult | None, Status] | AskExtenders:
    """PostFilter's answer where there are candidates; extenders may leave some out first.

    ``not_tried``: nodes that were left out because enough had been tried.
    """
    searched = PostFilterResult(not_tried=not_tried, dry_runs=dry_runs)
    if handle.asks_extenders(preemptor):
        return AskExtenders(preemptor, candidates, lambda left: _reviewed(plugin, handle, preemptor, left, searched))
    return _take(plugin, handle, preemptor, candidates, searched)


def _reviewed(
    plugin: str,
    handle: Handle,
    preemptor: Pod,
    left: Sequence[Candidate] | Status,
    searched: PostFilterResult,
) -> tuple[PostFilterResult | None, Status]:
    if isinstance(left, Status):
        return None, left
    return _take(plugin, handle, preemptor, left, searched) if left else (searched, NOBODY_LEFT)


def _take(
    plugin: str, handle: Handle, preemptor: Pod, candidates: Sequence[Candidate], searched: PostFilterResult
) -> tuple[PostFilterResult | None, Status]:
    """The best of the candidates: its victims are evicted, or a person is asked about them."""
    now = handle.now()
    asking = handle.evictions
    if asking is not None:
        left = asking.admissible(plugin, preemptor, candidates)
        if isinstance(left, Status):
            return replace(searched, nominated_node=""), left
        candidates = [candidates[place] for place in left]
    equal, lost_by = best_candidates(np.array([costs_of(each, now) for each in candidates], dtype=np.int64), now)
    equal_nodes = [candidates[place].node for place in equal.tolist()]
    chosen_node = None if asking is None else asking.standing(preemptor, [candidates[each] for each in equal])
    if chosen_node is None:
        chosen_node = handle.choose_among(equal_nodes)
    chosen = candidates[int(equal[equal_nodes.index(chosen_node)])]
    waits = None if asking is None else asking.propose(plugin, preemptor, chosen)
    if waits is None and (error := evict_then_clear(plugin, handle, preemptor, chosen)) is not None:
        return None, Status.as_error(error)
    return replace(
        searched,
        nominated_node=chosen.node if waits is None else "",
        victims=tuple(victim for victim in chosen.victims if victim.metadata.deletion_timestamp is None),
        candidates=candidates,
        nominated_any=tuple(equal_nodes),
        lost_by=[CRITERIA[criterion] if criterion >= 0 else "" for criterion in lost_by.tolist()],
    ), Status() if waits is None else waits


def _find_candidates(
    handle: Handle,
    rules: Rules,
    state: CycleState,
    pod: PodInfo,
    statuses: NodeStatuses,
    only: str | None = None,
) -> tuple[list[Candidate], list[tuple[Status, str]], DryRuns | None]:
    """(candidates, those without budget violations first; why other nodes are none; how they were looked for).

    ``only``: no other node.
    """
    rows = statuses.rows_with_unschedulable().tolist()
    if only is not None:
        rows = [row for row in rows if handle.snapshot.name_of_row(row) == only]
    if not rows:
        return [], [], None
    budgets = handle.objects.list(PodDisruptionBudget)
    offset, wanted = rules.offset_and_number(len(rows))
    clean: list[Candidate] = []
    violating: list[Candidate] = []
    failures: list[tuple[Status, str]] = []
    passes: dict[tuple[str, str], int] = {}
    for row in (*rows[offset:], *rows[:offset]):
        node = handle.snapshot.get(handle.snapshot.name_of_row(row))
        assert node is not None, f"Filter answered for row {row}, which is not in the snapshot"
        dry_run = handle.dry_run(state, pod, node)
        found = rules.select_victims(dry_run, dry_run.state, pod, budgets)
        for ended, times in dry_run.passes.items():
            passes[ended] = passes.get(ended, 0) + times
        if isinstance(found, Candidate) and not found.victims:
            found = Status.as_error(f'expected at least one victim pod on node "{node.name}"')
        if isinstance(found, Status):
            failures.append((found, node.name))
            continue
        (violating if found.pdb_violations else clean).append(found)
        if clean and len(clean) + len(violating) >= wanted:
            break
    runs = DryRuns(len(rows), len(budgets), offset, wanted, passes_of(passes))
    return [*clean, *violating], failures, runs


def terminating_below(handle: Handle, pod: Pod) -> bool:
    """Whether a pod of lower priority terminates on the node that ``pod`` is nominated on, whoever deleted it."""
    node = handle.snapshot.get(pod.status.nominated_node_name)
    priority = pod.spec.priority or 0
    return node is not None and any(
        placed.pod.metadata.deletion_timestamp is not None and (placed.pod.spec.priority or 0) < priority
        for placed in node.pods
    )

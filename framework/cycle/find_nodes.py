"""Which nodes can take the pod: PreFilter, the nominated node, Filter with sampling.

Rules: docs/semantics/framework.md#find-nodes.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.cycle.core import SchedulingCore
from framework.cycle.diagnosis import Diagnosis, NodeToStatus
from framework.cycle.extending import ExtenderFilter
from framework.extenders import EXTENDER
from framework.interface.cycle_state import CycleState
from framework.interface.decisions import passes_of
from framework.interface.node_info import PodInfo
from framework.interface.status import SUCCESS, Code, Status
from framework.profiles import FeasibleNodes, FilterRun, PodClass, Profile
from framework.profiles.batch import Batch, HintTold
from framework.profiles.filter_run import Answers, AsTheyAre, Promised, ask_nodes, count_nominated
from framework.profiles.outcomes import error_text
from framework.trace.attempt import AttemptTrace, FilterTrace

MIN_FEASIBLE_NODES: Final = 100
"""So few are looked through at little cost, and fewer to choose from would crowd pods onto them."""
MIN_PERCENTAGE: Final = 5
"""What the adaptive share falls to, at 5,625 nodes: pods are still spread over hundreds of nodes."""
_NONE: Final = np.zeros(0, dtype=np.intp)


@dataclass(slots=True)
class FoundNodes:
    """``error``: the search broke off. ``hint``: the node that batching named, whether it was taken or not."""

    nodes: FeasibleNodes
    diagnosis: Diagnosis
    error: Status | None = None
    hint: str = ""

    @classmethod
    def none(
        cls, pod_class: PodClass, snapshot: Snapshot, diagnosis: Diagnosis, error: Status | None = None
    ) -> FoundNodes:
        return cls(FeasibleNodes(pod_class, snapshot.order, 0, _NONE), diagnosis, error)


def feasible_nodes_to_find(percentage: int, nodes: int) -> int:
    """How many feasible nodes end the search. Small clusters are searched whole; 0 percent is adaptive."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:
        # Half of a small cluster, and a point less per 125 nodes: what is scored grows slower than the cluster
        # (docs/semantics/framework.md#sampling).
        percentage = max(50 - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


def find_nodes(
    core: SchedulingCore,
    profile: Profile,
    state: CycleState,
    pod: PodInfo,
    pod_class: PodClass,
    trace: AttemptTrace,
    extenders: ExtenderFilter | None,
) -> Generator[str, None, FoundNodes | str]:
    """``pod_class``: the pod's class. ``extenders``: None where none are configured.

    The name of a node: batching named it, the pod fits there, and nothing else was to be known.
    """
    snapshot, batch = core.snapshot, profile.batch
    answer = profile.filtering.run_pre_filter(state, pod, trace, pod_class)
    yield "PreFilter"
    nominated = pod.pod.status.nominated_node_name
    hint: str | None = None
    answers: AsTheyAre | None = None
    if batch is not None and not nominated and not core.queue.nominator.has_nodes and answer.status is SUCCESS:
        # Equal pods came before: their columns say all of the two nodes in question.
        answers = profile.filtering.known_answers(pod_class)
    if batch is not None and answers is not None:
        hint = _hint(core, profile, batch, pod, trace.pod, answers)
        place = snapshot.place(hint) if hint and core.placement is None else None
        if place is not None and answers.status(*place) is SUCCESS:
            position = snapshot.position_of_row.item(place[0])
            trace.filter = FilterTrace.of_one(snapshot.order_names, position)
            trace.more_passes = answers.passes
            trace.batched_with = batch.scored_pod
            yield "Filter"
            return hint
    diagnosis = Diagnosis(NodeToStatus(snapshot), set(answer.limiting))
    if answer.status is not SUCCESS:
        if not answer.status.is_rejected:
            return FoundNodes.none(pod_class, snapshot, diagnosis, Status.as_error(error_text(answer.status)))
        trace.pre_filter_status = trace.absent_status = answer.status
        diagnosis.statuses.set_absent(answer.status)
        diagnosis.pre_filter_message = answer.status.message
        diagnosis.add_plugin_status(answer.status)
        return FoundNodes.none(pod_class, snapshot, diagnosis)

    trace.filter = diagnosis.statuses.trace
    if extenders is not None:
        extenders.statuses = diagnosis.statuses
    search = NodeSearch(core, profile, profile.filtering.make_run(state, pod, pod_class), pod_class, diagnosis)
    state.filter_run = search.run
    now = AsTheyAre(search.run.entries, snapshot, search.run)
    if hint is None:
        hint = "" if batch is None else _hint(core, profile, batch, pod, trace.pod, now)
    looked = (answers or now).looked
    if looked is not None:
        search.run.count(looked)
    first = nominated or hint
    row = search.only(first, now) if first and _is_candidate(core, first) else None
    trace.more_passes = passes_of(search.run.more_passes)
    if row is not None:
        # Tried even when the PreFilter node lists leave it out (docs/semantics/framework.md#find-nodes).
        alone = FeasibleNodes.alone(pod_class, snapshot.order, row)
        if extenders is not None:
            alone = yield from _extenders_alone(core, extenders, alone)
        if alone.count:
            if nominated:
                trace.nominated_node_used = nominated
            elif batch is not None:
                trace.batched_with = batch.scored_pod
            yield "Filter"
            return FoundNodes(alone, diagnosis, hint=hint)

    positions = core.placement
    every = trace.nodes_total if positions is None else len(positions)
    names = answer.result.node_names
    if names is not None:
        known = sorted(int(snapshot.position_of_row[snapshot.row(n)]) for n in names if _is_candidate(core, n))
        positions = np.array(known, dtype=np.intp)
        # Upstream's list of limiting plugins is this very set, so it may have grown
        # (docs/semantics/framework.md#node-lists-of-prefilter).
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(diagnosis.unschedulable_plugins))}]"
        trace.absent_status = Status.unresolvable(text)
        diagnosis.statuses.set_absent(trace.absent_status)
    nodes, error = search.among(positions)
    trace.more_passes = passes_of(search.run.more_passes)
    if diagnosis.statuses.named:
        diagnosis.statuses.plugins_looked_again()
    processed = nodes.count + len(diagnosis.statuses)
    # The next search begins where this one stopped, so that every node has its turn though each search sees a part.
    core.next_start_node_index = (core.next_start_node_index + processed) % every
    yield "Filter"
    if extenders is None or error is not None:
        return FoundNodes(nodes, diagnosis, error, hint)
    left = yield from extenders.run(nodes)
    if isinstance(left, Status):
        return FoundNodes(nodes, diagnosis, left)
    if left.count != nodes.count:
        # Only by number, as upstream: one that is dropped and one that is doubled go unnoticed.
        diagnosis.unschedulable_plugins.add(EXTENDER)
    return FoundNodes(left, diagnosis)


def _hint(core: SchedulingCore, profile: Profile, batch: Batch, pod: PodInfo, key: str, now: AsTheyAre) -> str:
    """The node that batching names, or "". ``key``: the pod's ``namespace/name``."""
    cycle = core.queue.scheduling_cycle
    hint, unusable = batch.hint(pod, cycle, core.clock.now, now.rejects)
    core.observer.batched(HintTold(key, profile.name, cycle, hint, batch.left, unusable))
    return hint


def _extenders_alone(
    core: SchedulingCore, extenders: ExtenderFilter, alone: FeasibleNodes
) -> Generator[str, None, FeasibleNodes]:
    """The nominated node, if extenders leave it. An error is only logged, and all nodes are asked about."""
    left = yield from extenders.run(alone)
    if isinstance(left, FeasibleNodes):
        return left
    core.observer.logged(f"Evaluation failed on nominated node: {error_text(left)}")
    return FeasibleNodes(alone.pod_class, alone.order, 0, _NONE)


def _is_candidate(core: SchedulingCore, name: str) -> bool:
    snapshot = core.snapshot
    if snapshot.get(name) is None:
        return False
    placement = core.placement
    return placement is None or bool(np.isin(snapshot.position_of_row[snapshot.row(name)], placement))


class NodeSearch:
    """Walks nodes in rotation order until enough are feasible."""

    __slots__ = ("_core", "_diagnosis", "_pod_class", "_profile", "_start", "_untouched", "run")

    def __init__(
        self, core: SchedulingCore, profile: Profile, run: FilterRun, pod_class: PodClass, diagnosis: Diagnosis
    ) -> None:
        self._core = core
        self._profile = profile
        self._pod_class = pod_class
        self.run = run
        self._diagnosis = diagnosis
        self._start = core.next_start_node_index
        self._untouched = True
        """No node has a status yet."""

    def only(self, node_name: str, now: AsTheyAre) -> int | None:
        """The row of the nominated node if the pod fits there. An error is only logged; pending plugins are not
        remembered (Go copies the diagnosis, so only what is shared by reference stays)."""
        snapshot = self._core.snapshot
        row = snapshot.row(node_name)
        node = snapshot.get(node_name)
        assert node is not None
        if not self._profile.enabled.filter:
            status = SUCCESS
        elif self._core.queue.nominator.has_nodes:
            status = now.with_nominated(row, node)
        else:
            status = now.status(row, node)
        if status.code is Code.ERROR:
            self._core.observer.logged(f"Evaluation failed on nominated node: {error_text(status)}")
            return None
        self._untouched = False
        self._diagnosis.statuses.set(int(snapshot.position_of_row[row]), status)
        if status.is_success:
            return row
        if status.plugin:
            self._diagnosis.unschedulable_plugins.add(status.plugin)
        return None

    def among(self, positions: NDArray[np.intp] | None) -> tuple[FeasibleNodes, Status | None]:
        """(the feasible nodes of these positions, None for all; the error that broke the search off)."""
        snapshot = self._core.snapshot
        total = len(snapshot) if positions is None else len(positions)
        wanted = feasible_nodes_to_find(self._profile.percentage_of_nodes_to_score, total)
        if not self._profile.enabled.score and self._core.takes_first_fit and not self._extenders_choose:
            wanted = 1
        if total == 0:
            if wanted and not self._profile.enabled.filter:
                # Upstream divides by zero here (docs/semantics/framework.md#node-lists-of-prefilter).
                return self._found(_NONE), Status.as_error("no node of the PreFilter node lists exists")
            return self._found(_NONE), None
        run = self.run
        run.verdicts.follow()
        promised = self._promised()
        if positions is None and run.columnar and not promised and self._untouched:
            found = self._everywhere(wanted)
            if found is not None:
                return found, None
        if positions is None:
            positions = np.arange(total, dtype=np.intp)
        visit = positions[(self._start + np.arange(total)) % total]
        if not self._profile.enabled.filter:
            chosen = visit[:wanted]
            self._diagnosis.statuses.set_many(chosen, np.zeros(len(chosen), dtype=np.int32), [SUCCESS])
            return self._found(snapshot.order[chosen]), None
        answers = Answers(run.verdicts)
        rows = snapshot.order[visit]
        if not run.columnar:
            asked = ask_nodes(run, rows, wanted, answers, promised)
            alone = not promised and self._untouched
            if alone and asked.nobody_objected and total == len(snapshot):
                found = self._everywhere(wanted)
                if found is not None:
                    return found, None
            rows, visit = rows[: asked.visited], visit[: asked.visited]
        elif promised:
            count_nominated(run, rows, wanted, answers, promised)
        return self._cut(visit, rows, wanted, answers)

    @property
    def _extenders_choose(self) -> bool:
        return any(each.filters or each.prioritizes for each in self._core.extenders)

    def _found(self, rows: NDArray[np.intp]) -> FeasibleNodes:
        return FeasibleNodes(self._pod_class, self._core.snapshot.order, self._start, rows)

    def _promised(self) -> Promised:
        """The nodes where pods are nominated that this pod has to count."""
        snapshot, run, queue = self._core.snapshot, self.run, self._core.queue
        if not self._profile.enabled.filter or not queue.nominator.has_nodes:
            return {}
        return {
            snapshot.row(name): node
            for name in queue.nominated_nodes()
            if (node := snapshot.get(name)) is not None and run.nominated_for(name)
        }

    def _everywhere(self, wanted: int) -> FeasibleNodes | None:
        """When the search comes round without an end or an error, verdicts are the answer as they are."""
        verdicts = self.run.verdicts
        statuses, numbers = verdicts.canonical()
        if verdicts.counts[0] > wanted:
            return None
        for status in statuses:
            if status.code is Code.ERROR:
                return None
        snapshot = self._core.snapshot
        total = len(snapshot)
        first = self._start % total
        nodes = FeasibleNodes.all_of(self._pod_class, snapshot, verdicts, first, numbers)
        assert nodes.recorded is not None
        counted = None
        if nodes.count == 0:
            # Only then somebody asks, and before verdicts change.
            counted = [
                (verdicts.statuses[number], count) for number, count in enumerate(verdicts.counts) if number and count
            ]
        self._diagnosis.statuses.set_all(statuses, total - nodes.count, nodes.recorded, counted)
        for status in statuses:
            if status is not SUCCESS:
                self._diagnosis.add_plugin_status(status)
        return nodes

    def _cut(
        self, visit: NDArray[np.intp], rows: NDArray[np.intp], wanted: int, answers: Answers
    ) -> tuple[FeasibleNodes, Status | None]:
        """Every node's verdict is known: ends where a loop would have stopped.

        The node that would be one too many ends the search and is dropped without a status
        (docs/semantics/framework.md#sampling).
        """
        verdict, statuses = answers.verdicts(rows)
        feasible = np.flatnonzero(verdict == 0)
        end = int(feasible[wanted]) if len(feasible) > wanted else len(visit)
        error: Status | None = None
        errors = [number for number, status in enumerate(statuses) if status.code is Code.ERROR]
        if errors and len(broken := np.flatnonzero(np.isin(verdict[:end], errors))):
            end = int(broken[0])
            error = Status.as_error(error_text(statuses[int(verdict[end])]))
        ranked, numbers = answers.ranked(np.flatnonzero(np.bincount(verdict[:end], minlength=1)).tolist())
        self._diagnosis.statuses.set_many(visit[:end], numbers[verdict[:end]], ranked)
        for status in ranked:
            self._diagnosis.add_plugin_status(status)
        return self._found(rows[feasible[feasible < end]]), error

"""Which nodes can take the pod: PreFilter, the nominated node, Filter with sampling (spec: framework §5)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.cycle.core import SchedulingCore
from framework.cycle.diagnosis import Diagnosis, NodeToStatus
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.status import SUCCESS, Code, Status
from framework.profiles import FilterRun, Profile
from framework.profiles.outcomes import error_text
from framework.trace.attempt import AttemptTrace

MIN_FEASIBLE_NODES: Final = 100
MIN_PERCENTAGE: Final = 5
_NONE: Final = np.zeros(0, dtype=np.intp)


@dataclass(slots=True)
class FoundNodes:
    """``rows`` in the order in which they were found. ``error``: the search broke off."""

    rows: NDArray[np.intp]
    diagnosis: Diagnosis
    error: Status | None = None


def feasible_nodes_to_find(percentage: int, nodes: int) -> int:
    """How many feasible nodes end the search. Small clusters are searched whole; 0 percent is adaptive."""
    if nodes < MIN_FEASIBLE_NODES:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_PERCENTAGE)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES)


def find_nodes(
    core: SchedulingCore, profile: Profile, state: CycleState, pod: PodInfo, trace: AttemptTrace
) -> Generator[str, None, FoundNodes]:
    snapshot = core.snapshot
    answer = profile.run_pre_filter(state, pod, trace)
    yield "PreFilter"
    # The set is shared on purpose: upstream's list of limiting plugins grows with it (additions 2).
    diagnosis = Diagnosis(NodeToStatus(snapshot), answer.limiting)
    if not answer.status.is_success:
        if not answer.status.is_rejected:
            return FoundNodes(_NONE, diagnosis, Status.as_error(error_text(answer.status)))
        trace.pre_filter_status = trace.absent_status = answer.status
        diagnosis.statuses.set_absent(answer.status)
        diagnosis.pre_filter_message = answer.status.message
        diagnosis.add_plugin_status(answer.status)
        return FoundNodes(_NONE, diagnosis)

    trace.filter = diagnosis.statuses.trace
    search = _Search(core, profile, profile.make_filter_run(state, pod), diagnosis)
    profile.handle.current_filter = search.run
    nominated = pod.pod.status.nominated_node_name
    if nominated and snapshot.get(nominated) is not None and len(found := search.only(nominated)):
        # Tried even when the PreFilter node lists leave it out (additions 2).
        trace.nominated_node_used = nominated
        yield "Filter"
        return FoundNodes(found, diagnosis)

    positions = np.arange(len(snapshot), dtype=np.intp)
    names = answer.result.node_names
    if names is not None:
        known = sorted(int(snapshot.position_of_row[snapshot.row(n)]) for n in names if snapshot.get(n) is not None)
        positions = np.array(known, dtype=np.intp)
        text = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(answer.limiting))}]"
        trace.absent_status = Status.unresolvable(text)
        diagnosis.statuses.set_absent(trace.absent_status)
    rows, error = search.among(positions)
    processed = len(rows) + len(diagnosis.statuses)
    core.next_start_node_index = (core.next_start_node_index + processed) % len(snapshot)
    yield "Filter"
    return FoundNodes(rows, diagnosis, error)


class _Search:
    """Walks nodes in rotation order until enough are feasible."""

    def __init__(self, core: SchedulingCore, profile: Profile, run: FilterRun, diagnosis: Diagnosis) -> None:
        self._core = core
        self._profile = profile
        self.run = run
        self._diagnosis = diagnosis
        self._start = core.next_start_node_index

    def only(self, node_name: str) -> NDArray[np.intp]:
        """The nominated node alone. An error is only logged; pending plugins are not remembered (Go copies the
        diagnosis, so only what is shared by reference stays)."""
        snapshot = self._core.snapshot
        row = snapshot.row(node_name)
        node = snapshot.get(node_name)
        assert node is not None
        status = self.run.with_nominated(row, node) if self._profile.filter else SUCCESS
        position = int(snapshot.position_of_row[row])
        if status.code is Code.ERROR:
            self._core.observer.logged(f"Evaluation failed on nominated node: {error_text(status)}")
            return _NONE
        self._diagnosis.statuses.set(position, status)
        if status.is_success:
            return np.array([row], dtype=np.intp)
        if status.plugin:
            self._diagnosis.unschedulable_plugins.add(status.plugin)
        return _NONE

    def among(self, positions: NDArray[np.intp]) -> tuple[NDArray[np.intp], Status | None]:
        """(rows of feasible nodes, the error that broke the search off)."""
        total = len(positions)
        wanted = feasible_nodes_to_find(self._profile.percentage_of_nodes_to_score, total)
        if not self._profile.score:
            wanted = 1
        if total == 0:
            if wanted and not self._profile.filter:
                # Upstream divides by zero here (additions 5).
                return _NONE, Status.as_error("no node of the PreFilter node lists exists")
            return _NONE, None
        visit = positions[(self._start + np.arange(total)) % total]
        if not self._profile.filter:
            chosen = visit[:wanted]
            self._diagnosis.statuses.set_many(chosen, np.zeros(len(chosen), dtype=np.int32), [SUCCESS])
            return self._core.snapshot.order[chosen], None
        return self._columns(visit, wanted) if self.run.columnar else self._node_by_node(visit, wanted)

    def _node_by_node(self, visit: NDArray[np.intp], wanted: int) -> tuple[NDArray[np.intp], Status | None]:
        """The node that would be one too many ends the search and is dropped without a status (additions 13)."""
        snapshot = self._core.snapshot
        rows = snapshot.order[visit].tolist()
        feasible: list[int] = []
        for position, row in zip(visit.tolist(), rows, strict=True):
            node = snapshot.info_of_row(row)
            assert node is not None
            status = self.run.with_nominated(row, node)
            if status.code is Code.ERROR:
                return np.array(feasible, dtype=np.intp), Status.as_error(error_text(status))
            if status.is_success:
                if len(feasible) == wanted:
                    break
                feasible.append(row)
            self._diagnosis.statuses.set(position, status)
            self._diagnosis.add_plugin_status(status)
        return np.array(feasible, dtype=np.intp), None

    def _columns(self, visit: NDArray[np.intp], wanted: int) -> tuple[NDArray[np.intp], Status | None]:
        """The same, with every node's verdict known beforehand: cut where the loop would have stopped."""
        snapshot = self._core.snapshot
        by_row, statuses = self.run.verdicts()
        for name in self._core.queue.nominated_nodes():
            node = snapshot.get(name)
            if node is not None and self.run.nominated_for(name):
                statuses.append(self.run.with_nominated(snapshot.row(name), node))
                by_row[snapshot.row(name)] = 0 if statuses[-1].is_success else len(statuses) - 1
        rows = snapshot.order[visit]
        verdict = by_row[rows]
        feasible = np.flatnonzero(verdict == 0)
        end = int(feasible[wanted]) if len(feasible) > wanted else len(visit)
        error: Status | None = None
        errors = [number for number, status in enumerate(statuses) if status.code is Code.ERROR]
        if errors and len(broken := np.flatnonzero(np.isin(verdict[:end], errors))):
            end = int(broken[0])
            error = Status.as_error(error_text(statuses[int(verdict[end])]))
        self._diagnosis.statuses.set_many(visit[:end], verdict[:end], statuses)
        for number in np.flatnonzero(np.bincount(verdict[:end], minlength=1)).tolist():
            self._diagnosis.add_plugin_status(statuses[number])
        return rows[feasible[feasible < end]], error

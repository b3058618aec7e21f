"""FilterRun: the Filter plugins of one profile for one pod in one cycle.

Rules: docs/semantics/framework.md#extension-points, docs/semantics/framework.md#nominated-pods.

Columnar plugins are answered for all nodes at once; per-node plugins are called node by node. One node with other pods
on it (nominated pods, preemption's dry runs) is a NodeCase: a change to the columns' inputs, and copies of node and
state only where a per-node plugin will look at them. Verdicts that differ from those of the pod's class, because
nominated pods count or plugins were asked node by node, are Answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.cycle_state import CycleState
from framework.interface.decisions import Passes
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.plugin import PreFilterExtensions
from framework.interface.status import SUCCESS, Code, Status
from framework.objects import Pod
from framework.profiles.outcomes import answer, error_text, raised
from framework.profiles.pod_class import PodClass
from framework.profiles.verdicts import FilterEntry, Verdicts, filter_status, rank_of
from framework.reuse.columns import Work

ExtensionCall = Callable[[CycleState, Pod, PodInfo, NodeInfo], Status | None]


def add_pass(passes: dict[tuple[str, str], int], status: Status) -> None:
    ended = ("" if status.is_success else status.plugin, status.code.name_)
    passes[ended] = passes.get(ended, 0) + 1


def priority_of(pod: Pod) -> int:
    return pod.spec.priority or 0


def asked_by_node(entries: Sequence[FilterEntry]) -> list[tuple[int, FilterEntry]]:
    """The entries that have to be called for every node in question, with their places among all."""
    return [(place, entry) for place, entry in enumerate(entries) if entry.asked]


class FilterRun:
    def __init__(
        self,
        entries: Sequence[FilterEntry],
        extensions: Sequence[tuple[str, PreFilterExtensions]],
        state: CycleState,
        pod: PodInfo,
        snapshot: Snapshot,
        nominated: Callable[[str], Sequence[PodInfo]],
        verdicts: Verdicts,
        work: Work,
        pod_class: PodClass | None = None,
        per_node: list[tuple[int, FilterEntry]] | None = None,
    ) -> None:
        """``per_node``: what ``asked_by_node`` says of the entries, if it is known."""
        self.entries = tuple(entries)
        self.extensions = tuple(extensions)
        self.state = state
        self.pod = pod
        self.snapshot = snapshot
        self._nominated = nominated
        self.work = work
        self.pod_class = pod_class
        """None for a state that is not the cycle's."""
        self.verdicts = verdicts
        """What the columnar plugins say, followed up to this cycle."""
        self.per_node = asked_by_node(entries) if per_node is None else per_node
        """(place, entry) of the plugins that are asked node by node."""
        self.columnar = not self.per_node
        """No plugin has to be asked node by node for this pod: all nodes can be decided at once."""
        self.stateful = bool(extensions) or not self.columnar
        self.more_passes: dict[tuple[str, str], int] = {}
        """As ``DryRun.passes``, of looks at a node beside the one that decides about it."""

    def case(self, case: NodeCase, entries: Sequence[FilterEntry] | None = None) -> Status:
        """``entries``: those that are asked; None for all."""
        for entry in self.entries if entries is None else entries:
            if entry.per_node is not None:
                status = self.call(entry, case.state, case.node)
                if not status.is_success:
                    return status
            elif entry.error is not None:
                return entry.error
            else:
                code = self._code(entry, case)
                if code:
                    return entry.status(code)
        return SUCCESS

    def call(self, entry: FilterEntry, state: CycleState, node: NodeInfo) -> Status:
        assert entry.per_node is not None
        try:
            status = answer(entry.per_node(state, self.pod.pod, node))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            status = raised(error)
        return filter_status(entry.plugin, status)

    @staticmethod
    def _code(entry: FilterEntry, case: NodeCase) -> int:
        assert entry.plan is not None
        plan = entry.plan
        if case.changed and entry.follows_pods:
            return int(plan.kernel(*[each.gather_changed(case) for each in plan.inputs])[0])
        return int(entry.all_codes()[case.row])

    def nominated_for(self, node_name: str) -> list[PodInfo]:
        """Other pods nominated to the node whose priority this pod must yield to."""
        if not (nominated := self._nominated(node_name)):
            return []
        mine = priority_of(self.pod.pod)
        return [pod for pod in nominated if priority_of(pod.pod) >= mine and pod.uid != self.pod.uid]

    def with_nominated(self, row: int, node: NodeInfo) -> Status:
        """Both passes of docs/semantics/framework.md#nominated-pods: with them and, if that succeeds, without."""
        case = NodeCase(self, row, node)
        status = case.run_filters()
        if case.second_looks:
            self.count(SUCCESS)
        return status

    def count(self, status: Status) -> None:
        """A look that ended so, beside the one that decides."""
        add_pass(self.more_passes, status)


class AsTheyAre:
    """What the plugins say of some nodes without a change, all of it asked before anything changes: columns are brought
    up to date once."""

    __slots__ = ("_columns", "_entries", "_run", "_snapshot", "looked")

    def __init__(self, entries: Sequence[FilterEntry], snapshot: Snapshot, run: FilterRun | None = None) -> None:
        """``run``: that of the cycle; None where no plugin has to be asked node by node and no pod is nominated."""
        self._entries = entries
        self._snapshot = snapshot
        self._run = run
        self.looked: Status | None = None
        """How the look ended that ``rejects`` took, beside the one that decides."""
        self._columns: list[NDArray[np.generic] | None] = []
        """Codes of the first entries, as far as they were asked for; None of those that are an error."""

    def status(self, row: int, node: NodeInfo) -> Status:
        run, columns = self._run, self._columns
        if run is not None and not run.columnar:
            return run.case(NodeCase(run, row, node))
        known = len(columns)
        for place, entry in enumerate(self._entries):
            if place < known:
                codes = columns[place]
            else:
                codes = None if entry.column is None else entry.column.follow().values
                columns.append(codes)
            if codes is None:
                assert entry.error is not None
                return entry.error
            if code := codes[row]:
                return entry.status(int(code))
        return SUCCESS

    def rejects(self, name: str) -> bool | None:
        """Whether the plugins reject the pod on the node of this name; None where it is gone."""
        place = self._snapshot.place(name)
        if place is None:
            return None
        self.looked = status = self.status(*place)
        return status.is_rejected

    @property
    def passes(self) -> Passes:
        """Of that look, if there was one."""
        status = self.looked
        return () if status is None else (("" if status.is_success else status.plugin, status.code.name_, 1),)

    def with_nominated(self, row: int, node: NodeInfo) -> Status:
        """As ``FilterRun.with_nominated``."""
        run = self._run
        if run is not None and run.nominated_for(node.name):
            return run.with_nominated(row, node)
        return self.status(row, node)


class NodeCase:
    """One node with pods taken away or put on. A PodChange for the columns and a DryRun for PostFilter plugins."""

    def __init__(self, run: FilterRun, row: int, node: NodeInfo, state: CycleState | None = None) -> None:
        """``state``: one that is written to, in place of a copy of the run's."""
        self.run = run
        self.row = row
        self.removed: list[PodInfo] = []
        self.added: list[PodInfo] = []
        self.port_moves: list[tuple[PodInfo, bool]] = []
        self.elsewhere: Sequence[tuple[int, PodInfo]] = ()
        self.state = run.state if state is None else state
        self._base = node
        self._own: NodeInfo | None = None
        self._pending: list[tuple[PodInfo, bool]] = []
        self._state_is_own = state is not None
        self.passes: dict[tuple[str, str], int] = {}
        self.second_looks = 0

    @property
    def changed(self) -> bool:
        return bool(self.removed or self.added or self.port_moves or self.elsewhere)

    @property
    def node(self) -> NodeInfo:
        if self._pending:
            if self._own is None:
                self._own = self._base.copy()
            for pod, put_on in self._pending:
                if put_on:
                    self._own.add_pod(pod)
                else:
                    self._own.remove_pod(pod.uid)
            self._pending.clear()
        return self._base if self._own is None else self._own

    def remove_pod(self, pod: PodInfo) -> Status:
        if not _take(self.added, pod.uid):
            self.removed.append(pod)
        self._moved(pod, put_on=False)
        return self._extend("RemovePod", [(name, each.remove_pod) for name, each in self.run.extensions], pod)

    def add_pod(self, pod: PodInfo) -> Status:
        if not _take(self.removed, pod.uid):
            self.added.append(pod)
        self._moved(pod, put_on=True)
        return self._extend("AddPod", [(name, each.add_pod) for name, each in self.run.extensions], pod)

    def _moved(self, pod: PodInfo, *, put_on: bool) -> None:
        self._pending.append((pod, put_on))
        if pod.host_ports:
            self.port_moves.append((pod, put_on))

    def _extend(self, operation: str, calls: Sequence[tuple[str, ExtensionCall]], pod: PodInfo) -> Status:
        if not calls:
            return SUCCESS
        self.own_state()
        for plugin, call in calls:
            try:
                status = answer(call(self.state, self.run.pod.pod, pod, self.node))
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                status = raised(error)
            if not status.is_success:
                return Status.as_error(f'running {operation} on PreFilter plugin "{plugin}": {error_text(status)}')
        return SUCCESS

    def own_state(self) -> None:
        if not self._state_is_own:
            self.state = self.state.clone()
            self._state_is_own = True

    def _fork(self) -> NodeCase:
        other = NodeCase(self.run, self.row, self.node)
        other.removed, other.added, other.port_moves = list(self.removed), list(self.added), list(self.port_moves)
        other.elsewhere = self.elsewhere
        other.state = self.state
        if self.run.stateful:
            other.own_state()
        return other

    def run_filters(self, entries: Sequence[FilterEntry] | None = None) -> Status:
        """``entries``: those that are asked; None for all."""
        nominated = self.run.nominated_for(self._base.name)
        if nominated:
            with_them = self._fork()
            for pod in nominated:
                status = with_them.add_pod(pod)
                if not status.is_success:
                    return status
            status = self._pass(with_them, entries)
            if not status.is_success:
                return status
            self.second_looks += 1
        return self._pass(self, entries)

    def _pass(self, case: NodeCase, entries: Sequence[FilterEntry] | None) -> Status:
        status = self.run.case(case, entries)
        add_pass(self.passes, status)
        return status


def _take(pods: list[PodInfo], uid: str) -> bool:
    for i, pod in enumerate(pods):
        if pod.uid == uid:
            del pods[i]
            return True
    return False


AFTER_ALL: Final = 1 << 30
"""The place behind every plugin's."""


class Answers:
    def __init__(self, verdicts: Verdicts) -> None:
        self._statuses = list(verdicts.statuses)
        self._ranks = [verdicts.rank(number) for number in range(len(self._statuses))]
        self._numbers: dict[tuple[Status, int], int] = {}
        self.by_row: NDArray[np.int32] = verdicts.history.values.astype(np.int32)
        """Verdict numbers; those of own statuses follow after the class's."""

    def put(self, row: int, status: Status, place: int = AFTER_ALL) -> None:
        """``place`` of the plugin that was asked node by node; without one, of whatever they said together."""
        if status.is_success:
            self.by_row[row] = 0
            return
        number = self._numbers.get((status, place))
        if number is None:
            number = self._numbers[status, place] = len(self._statuses)
            self._statuses.append(status)
            self._ranks.append(rank_of(place, status))
        self.by_row[row] = number

    def place(self, row: int) -> int:
        """Of the plugin that said no; after all others if none did."""
        number = int(self.by_row[row])
        return self._ranks[number][0] if number else AFTER_ALL

    def status(self, row: int) -> Status:
        return self._statuses[int(self.by_row[row])]

    def verdicts(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int32], list[Status]]:
        """(verdict number of each row, status of each number)."""
        return self.by_row[rows], self._statuses

    def ranked(self, used: Sequence[int]) -> tuple[list[Status], NDArray[np.int32]]:
        """(success and the statuses of these numbers, by rank; number → index in them)."""
        numbers = np.zeros(len(self._statuses), dtype=np.int32)
        ordered = sorted((number for number in used if number), key=self._ranks.__getitem__)
        for index, number in enumerate(ordered):
            numbers[number] = index + 1
        return [self._statuses[0], *(self._statuses[number] for number in ordered)], numbers


@dataclass(frozen=True, slots=True)
class Asked:
    visited: int
    """Nodes that were looked at, the one that was one too many included."""
    nobody_objected: bool


Promised = Mapping[int, NodeInfo]
"""Row → node, of the nodes where pods are nominated that count for this pod."""


def count_nominated(run: FilterRun, rows: NDArray[np.intp], wanted: int, answers: Answers, promised: Promised) -> None:
    """Asks all plugins about the promised nodes, in the order of ``rows``, as far as the search for nodes comes."""
    verdict, statuses = answers.verdicts(rows)
    is_promised = np.zeros(len(answers.by_row), dtype=np.bool_)
    is_promised[list(promised)] = True
    places = np.flatnonzero(is_promised[rows])
    feasible_before = np.cumsum(verdict == 0)
    errors = [number for number, status in enumerate(statuses) if status.code is Code.ERROR]
    broken = np.flatnonzero(np.isin(verdict, errors) & ~is_promised[rows])
    end = int(broken[0]) if len(broken) else len(rows)
    changed = 0
    """How many more of the nodes that were looked at are feasible than their own verdicts say."""
    for place in places.tolist():
        was_feasible = bool(verdict[place] == 0)
        if place > end or int(feasible_before[place]) - was_feasible + changed > wanted:
            return
        row = int(rows[place])
        status = run.with_nominated(row, promised[row])
        answers.put(row, status)
        if status.code is Code.ERROR:
            return
        changed += status.is_success - was_feasible


def ask_nodes(run: FilterRun, rows: NDArray[np.intp], wanted: int, answers: Answers, promised: Promised) -> Asked:
    """Asks plugins that answer node by node, in the order of ``rows``, until enough nodes are feasible or one fails.

    A plugin is asked about nodes that every plugin before it passes; about promised nodes all plugins are asked.
    """
    if len(run.per_node) == 1 and wanted >= len(rows) and not promised:
        return _ask_everywhere(run, *run.per_node[0], rows, answers)
    feasible = 0
    agreed = True
    for visited, row in enumerate(rows.tolist()):
        if row in promised:
            answers.put(row, run.with_nominated(row, promised[row]))
        else:
            last = answers.place(row)
            node = run.snapshot.info_of_row(row)
            assert node is not None
            for place, entry in run.per_node:
                if place > last:
                    break
                run.work.node_calls += 1
                status = run.call(entry, run.state, node)
                if not status.is_success:
                    answers.put(row, status, place)
                    agreed = False
                    break
        status = answers.status(row)
        if status.is_success:
            feasible += 1
            if feasible > wanted:
                return Asked(visited + 1, agreed)
        elif status.code is Code.ERROR:
            return Asked(visited + 1, agreed)
    return Asked(len(rows), agreed)


def _ask_everywhere(run: FilterRun, place: int, entry: FilterEntry, rows: NDArray[np.intp], answers: Answers) -> Asked:
    """One plugin, and the search does not end before the last node."""
    verdicts, work = run.verdicts, run.work
    assert entry.per_node is not None
    passes = np.array([not number or verdicts.rank(number)[0] > place for number in range(len(verdicts.statuses))])
    chosen = np.flatnonzero(passes[verdicts.history.values[rows]])
    alive = rows if len(chosen) == len(rows) else rows[chosen]
    agreed = True
    number = 0
    failed: Status | None = None
    try:
        for status in map(entry.per_node, repeat(run.state), repeat(run.pod.pod), run.snapshot.nodes_of_rows(alive)):
            if status is not None and not status.is_success:
                failed = filter_status(entry.plugin, status)
                answers.put(int(alive[number]), failed, place)
                agreed = False
                if failed.code is Code.ERROR:
                    break
            number += 1
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        failed = filter_status(entry.plugin, raised(error))
        answers.put(int(alive[number]), failed, place)
        agreed = False
    work.node_calls += number
    if failed is not None and failed.code is Code.ERROR:
        return Asked(int(chosen[number]) + 1, agreed)
    return Asked(len(rows), agreed)

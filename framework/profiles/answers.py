"""Answers: verdicts of one attempt that differ from its class's: nominated pods count, plugins were asked per node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.interface.node_info import NodeInfo
from framework.interface.status import Code, Status
from framework.profiles.filter_entry import FilterEntry, filter_status, rank_of
from framework.profiles.filter_run import FilterRun
from framework.profiles.outcomes import raised
from framework.profiles.verdicts import Verdicts

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

    def of(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int32], list[Status]]:
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
    verdict, statuses = answers.of(rows)
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

"""Answers: verdicts of one attempt that differ from its class's: nominated pods count, plugins were asked per node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.interface.status import Code, Status
from framework.profiles.filter_entry import FilterEntry, filter_status
from framework.profiles.filter_run import FilterRun
from framework.profiles.outcomes import raised
from framework.profiles.verdicts import Verdicts

_AFTER_ALL: Final = 1 << 30


class Answers:
    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        self._own: list[Status] = []
        self._base = len(verdicts.statuses)
        self.by_row: NDArray[np.int32] = verdicts.history.values.astype(np.int32)
        """Verdict numbers; those of own statuses follow after the class's."""

    def put(self, row: int, status: Status) -> None:
        if status.is_success:
            self.by_row[row] = 0
            return
        self.by_row[row] = self._base + len(self._own)
        self._own.append(status)

    def of(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int32], list[Status]]:
        """(verdict number of each row, status of each number)."""
        return self.by_row[rows], [*self._verdicts.statuses[: self._base], *self._own]

    def ranked(self, used: Sequence[int]) -> tuple[list[Status], NDArray[np.int32]]:
        """(success and the statuses of these numbers, in the order of plugins and codes; number → index in them)."""
        numbers = np.zeros(self._base + len(self._own), dtype=np.int32)
        ordered = sorted((number for number in used if number), key=self._rank)
        for index, number in enumerate(ordered):
            numbers[number] = index + 1
        statuses = [*self._verdicts.statuses[: self._base], *self._own]
        return [statuses[0], *(statuses[number] for number in ordered)], numbers

    def _rank(self, number: int) -> tuple[int, int]:
        return self._verdicts.whose(number) if number < self._base else (_AFTER_ALL, number)


@dataclass(frozen=True, slots=True)
class Asked:
    visited: int
    """Nodes that were looked at, the one that was one too many included."""
    nobody_objected: bool


def ask_nodes(run: FilterRun, rows: NDArray[np.intp], wanted: int, answers: Answers, settled: frozenset[int]) -> Asked:
    """Asks plugins that answer node by node, in the order of ``rows``, until enough nodes are feasible or one fails.

    A plugin is asked about nodes that every plugin before it passes. ``settled`` rows have their answer already.
    """
    if len(run.per_node) == 1 and wanted >= len(rows) and not settled:
        return _ask_everywhere(run, *run.per_node[0], rows, answers)
    verdicts = run.verdicts
    places = [verdicts.whose(number)[0] for number in range(len(verdicts.statuses))]
    feasible = 0
    agreed = True
    for visited, row in enumerate(rows.tolist()):
        number = int(answers.by_row[row])
        if row not in settled:
            last = places[number] if number else _AFTER_ALL
            node = run.snapshot.info_of_row(row)
            assert node is not None
            for place, entry in run.per_node:
                if place > last:
                    break
                run.work.node_calls += 1
                status = run.call(entry, run.state, node)
                if not status.is_success:
                    answers.put(row, status)
                    agreed = False
                    break
            number = int(answers.by_row[row])
        if number == 0:
            feasible += 1
            if feasible > wanted:
                return Asked(visited + 1, agreed)
        elif answers.of(rows[visited : visited + 1])[1][number].code is Code.ERROR:
            return Asked(visited + 1, agreed)
    return Asked(len(rows), agreed)


def _ask_everywhere(run: FilterRun, place: int, entry: FilterEntry, rows: NDArray[np.intp], answers: Answers) -> Asked:
    """One plugin, and the search does not end before the last node."""
    verdicts, work = run.verdicts, run.work
    assert entry.per_node is not None
    passes = np.array([not number or verdicts.whose(number)[0] > place for number in range(len(verdicts.statuses))])
    chosen = np.flatnonzero(passes[verdicts.history.values[rows]])
    alive = rows if len(chosen) == len(rows) else rows[chosen]
    agreed = True
    number = 0
    failed: Status | None = None
    try:
        for status in map(entry.per_node, repeat(run.state), repeat(run.pod.pod), run.snapshot.nodes_of_rows(alive)):
            if status is not None and not status.is_success:
                failed = filter_status(entry.plugin, status)
                answers.put(int(alive[number]), failed)
                agreed = False
                if failed.code is Code.ERROR:
                    break
            number += 1
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        failed = filter_status(entry.plugin, raised(error))
        answers.put(int(alive[number]), failed)
        agreed = False
    work.node_calls += number
    if failed is not None and failed.code is Code.ERROR:
        return Asked(int(chosen[number]) + 1, agreed)
    return Asked(len(rows), agreed)

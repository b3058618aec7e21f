"""StateColumn: the scores of a plan whose inputs tell rows apart by few things, one per state that a row can be in.

5,000 nodes in 3 zones with 0 to 4 pods of a workload are in at most 15 states. A placement brings one row to another
state and changes the scores of some states, so a kernel sees one row of each state, and normalising is a matter of 15
numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from framework.columns import Grouping, Groups, Numbered, Snapshot, are_facts, groupings
from framework.interface.columns import Input, Plan
from framework.profiles.work import Work
from framework.trace.history import History

Ints = NDArray[np.int64]
MOST_MOVES: Final = 256
"""When more rows have moved all are sorted anew."""
SPARE_STATES: Final = 256
"""States beyond the number of rows; they may have lost their rows."""


class States:
    """Which state every row is in. Shared by all columns with these inputs."""

    def __init__(self, snapshot: Snapshot, inputs: tuple[Input, ...]) -> None:
        self._snapshot = snapshot
        self.nodes_log = snapshot.nodes_log
        self._inputs = inputs
        self._numbered: list[Numbered] = []
        """Inputs that tell rows apart by a number, too."""
        self._positions: list[int] = []
        self._groupings: tuple[Grouping, ...] | None = None
        self._groups: Groups | None = None
        self._group_of: NDArray[Any] | None = None
        self._known: dict[Hashable, int] = {}
        """(group, numbers) → state, where a number is not 0; else the group is the state."""
        self._rows: list[int] = []
        """One of each state."""
        self._sizes: list[int] = []
        self.serial = 0
        """Another number when states were numbered anew."""
        self._occurring: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
        self.history = History(np.zeros(0, dtype=np.int16))
        """By row. It begins with the groups, an array that all States with these axes share."""

    def follow(self) -> None:
        found = groupings(self._inputs)
        groups = self._groups
        if found != self._groupings or groups is None:
            self._groupings = found
            axes = () if found is None else tuple(dict.fromkeys(axis for how in found for axis in how.axes))
            groups = self._groups = self._snapshot.groups(axes, apart=found is None)
            self._numbered = [
                cast("Numbered", each)
                for each, how in zip(self._inputs, found or (), strict=found is not None)
                if how.numbered
            ]
            self._group_of = None
        groups.refresh()
        if groups.numbers is not self._group_of:
            self._start_over(groups)
            return
        for k, each in enumerate(self._numbered):
            position = each.version
            if position == self._positions[k]:
                continue
            moved = each.changed_since(self._positions[k])
            if moved is None or len(moved) > MOST_MOVES or len(self._rows) > len(self.history.values) + SPARE_STATES:
                self._start_over(groups)
                return
            self._positions[k] = position
            for row in moved.tolist():
                self._move(row)

    def _start_over(self, groups: Groups) -> None:
        self.serial += 1
        self._group_of = groups.numbers
        self._positions = [each.version for each in self._numbered]
        self._known.clear()
        self._rows, self._sizes = list(groups.rows), list(groups.sizes)
        self._occurring = None
        self.history.replace(groups.numbers)
        numbers = [each.numbers() for each in self._numbered]
        if not numbers:
            return
        rows = np.logical_or.reduce(numbers).nonzero()[0]
        if not len(rows):
            return
        # Each combination of group and numbers is looked up once.
        combined = groups.numbers[rows].astype(np.int64)
        for each in numbers:
            distinct, found = np.unique(each[rows], return_inverse=True)
            combined = combined * len(distinct) + found
        _, first, found = np.unique(combined, return_index=True, return_inverse=True)
        own = np.array([self._state_of(row) for row in rows[first].tolist()], dtype=groups.numbers.dtype)
        states = own[found]
        if len(rows) <= MOST_MOVES:
            for row, state in zip(rows.tolist(), states.tolist(), strict=True):
                self.history.write(row, state, 1)
        else:
            by_row = groups.numbers.copy()
            by_row[rows] = states
            self.history.replace(by_row)
        self._sizes = np.bincount(self.history.values, minlength=len(self._rows)).tolist()
        for state, row in enumerate(self._rows):
            self._keep_row(state, row)

    def _state_of(self, row: int) -> int:
        assert self._group_of is not None
        group = int(self._group_of[row])
        numbers = tuple(each.number_of(row) for each in self._numbered)
        if not any(number != 0 for number in numbers):
            return group
        state = self._known.get((group, numbers))
        if state is None:
            state = self._known[group, numbers] = len(self._rows)
            self._rows.append(row)
            self._sizes.append(0)
        return state

    def _keep_row(self, state: int, row: int) -> None:
        """``row`` may have left ``state``: another one is taken for it."""
        if self._sizes[state] and self.history.values[row] != state:
            self._rows[state] = int((self.history.values == state).argmax())

    def _move(self, row: int) -> None:
        before, state = int(self.history.values[row]), self._state_of(row)
        if state == before:
            return
        self.history.write(row, state, 1)
        self._occurring = None
        self._sizes[before] -= 1
        self._sizes[state] += 1
        self._rows[state] = row
        if self._rows[before] == row:
            self._keep_row(before, row)

    @property
    def is_whole(self) -> bool:
        """No node has come since."""
        return len(self.history.values) == self._snapshot.row_count

    def __len__(self) -> int:
        return len(self._sizes)

    def occurring(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """(states that some row is in, one row of each)."""
        if self._occurring is None:
            sizes = self._sizes
            states = [state for state in range(len(sizes)) if sizes[state]]
            rows = self._rows
            self._occurring = (
                np.array(states, dtype=np.intp),
                np.array([rows[state] for state in states], dtype=np.intp),
            )
        return self._occurring

    def among(self, rows: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The states that some of these rows are in."""
        present = np.zeros(len(self._sizes), dtype=np.bool_)
        present[self.history.values[rows]] = True
        return present.nonzero()[0]


class StateColumn:
    """``states`` are those of the plan's inputs."""

    __slots__ = ("_is_of_nodes", "_of_nodes", "_serial", "_versions", "_work", "alone", "plan", "states", "table")

    def __init__(self, states: States, work: Work, plan: Plan) -> None:
        self.plan = plan
        self.states = states
        self._work = work
        self._versions: list[int] = []
        self._serial = -1
        self._is_of_nodes = are_facts(plan.inputs)
        self._of_nodes = -1
        """The version of the nodes it was brought up to, if it depends on nothing else."""
        self.table: Ints = np.zeros(0, dtype=np.int64)
        """State → score. Another array whenever one has changed; not to be written to. States without rows have any."""
        self.alone: tuple[Ints, object, Ints] | None = None
        """(table of one state, what normalised it, its normalised score): the same for every class."""

    def follow(self) -> None:
        states, plan = self.states, self.plan
        nodes = states.nodes_log.version
        if nodes == self._of_nodes and states.serial == self._serial:
            return
        versions = [each.version for each in plan.inputs]
        if versions == self._versions and states.serial == self._serial and states.is_whole:
            return
        states.follow()
        self._versions, self._serial = versions, states.serial
        if self._is_of_nodes:
            self._of_nodes = nodes
        occurring, rows = states.occurring()
        self._work.rows += len(rows)
        found = plan.kernel(*[each.gather(rows) for each in plan.inputs])
        if len(rows) == len(states):
            table = found.astype(np.int64, copy=False)
        else:
            table = np.zeros(len(states), dtype=np.int64)
            table[occurring] = found
        if len(table) != len(self.table) or table.tobytes() != self.table.tobytes():
            self.table = table

    def by_row(self) -> Ints:
        """By row, as it was followed."""
        scores: Ints = self.table.take(self.states.history.values)
        return scores

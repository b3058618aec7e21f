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

from framework.columns import Grouping, Groups, Incremental, Numbered, Snapshot, are_facts, groupings
from framework.interface.columns import Input, Plan
from framework.reuse.work import Work
from framework.trace.history import History

Ints = NDArray[np.int64]
MOST_MOVES: Final = 256
"""When more rows have moved all are sorted anew."""
FEW_MOVES: Final = 12
"""So many rows are moved one by one before NumPy has begun to sort them."""
SPARE_STATES: Final = 256
"""States beyond the number of rows; they may have lost their rows."""


class States(Incremental):
    """Which state every row is in. Shared by all columns with these inputs."""

    def __init__(self, snapshot: Snapshot, inputs: tuple[Input, ...]) -> None:
        super().__init__(snapshot.extent, ())
        self._snapshot = snapshot
        self.nodes_log = snapshot.nodes_log
        self._inputs = inputs
        self._nodes = -1
        """The version of the nodes it was brought up to, if the groupings change only with them."""
        self._numbered: list[Numbered] = []
        """Inputs that tell rows apart by a number, too."""
        self._groupings: tuple[Grouping, ...] | None = None
        self._groups: Groups | None = None
        self._group_of: NDArray[Any] | None = None
        self._known: dict[Hashable, int] = {}
        """(group, numbers) → state, where a number is not 0; else the group is the state."""
        self._examples: list[int] = []
        """A row of each state."""
        self._sizes: list[int] = []
        self.serial = 0
        """Another number when states were numbered anew."""
        self._occurring: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None
        self.history = History()
        """By row. It begins with the groups, an array that all States with these axes share."""

    def follow(self) -> None:
        groups = self._groups
        if groups is None or self._nodes != self.nodes_log.version:
            groups = self._regrouped()
        if self._group_of is not None and self._group_of is not groups.numbers:
            self.forget()
        self.refresh()

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        if len(rows) > MOST_MOVES:
            self._make_all()
            return
        for row in rows.tolist():
            self._make_one(row)

    def _regrouped(self) -> Groups:
        found = groupings(self._inputs)
        if found is not None and all(how.is_of_nodes for how in found):
            self._nodes = self.nodes_log.version
        groups = self._groups
        if found != self._groupings or groups is None:
            self._groupings = found
            axes = () if found is None else tuple(dict.fromkeys([axis for how in found for axis in how.axes]))
            groups = self._groups = self._snapshot.groups(axes, apart=found is None)
            self._numbered = [
                cast("Numbered", each)
                for each, how in zip(self._inputs, found or (), strict=found is not None)
                if how.numbered
            ]
            super().__init__(self._snapshot.extent, self._numbered)
            self._group_of = None
        groups.refresh()
        return groups

    def _make_all(self) -> None:
        groups = self._groups
        assert groups is not None
        self.serial += 1
        self._group_of = groups.numbers
        self._known.clear()
        self._examples, self._sizes = list(groups.rows), list(groups.sizes)
        self._occurring = None
        self.history.replace(groups.numbers)
        numbers = [each.numbers() for each in self._numbered]
        if not numbers:
            return
        rows = (numbers[0] if len(numbers) == 1 else np.logical_or.reduce(numbers)).nonzero()[0]
        if len(rows) <= FEW_MOVES:
            for row in rows.tolist():
                self._move(row)
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
            self.history.write(rows, states, len(rows))
        else:
            by_row = groups.numbers.copy()
            by_row[rows] = states
            self.history.replace(by_row)
        self._sizes = np.bincount(self.history.values, minlength=len(self._examples)).tolist()
        for state, row in enumerate(self._examples):
            self._keep_row(state, row)

    def _state_of(self, row: int) -> int:
        assert self._group_of is not None
        group = int(self._group_of[row])
        numbers = tuple(each.number_of(row) for each in self._numbered)
        if not any(number != 0 for number in numbers):
            return group
        state = self._known.get((group, numbers))
        if state is None:
            state = self._known[group, numbers] = len(self._examples)
            self._examples.append(row)
            self._sizes.append(0)
        return state

    def _keep_row(self, state: int, row: int) -> None:
        """``row`` may have left ``state``: another one is taken for it."""
        if self._sizes[state] and self.history.values[row] != state:
            self._examples[state] = int((self.history.values == state).argmax())

    def _make_one(self, row: int) -> None:
        if len(self._examples) > len(self.history.values) + SPARE_STATES:
            self._make_all()
        else:
            self._move(row)

    def _move(self, row: int) -> None:
        before, state = int(self.history.values[row]), self._state_of(row)
        if state == before:
            return
        self.history.write(row, state, 1)
        sizes, rows = self._sizes, self._examples
        sizes[before] -= 1
        sizes[state] += 1
        if sizes[state] == 1:
            rows[state], self._occurring = row, None
        if rows[before] == row:
            self._occurring = None
            self._keep_row(before, row)

    def __len__(self) -> int:
        return len(self._sizes)

    def occurring(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """(states that some row is in, one row of each)."""
        if self._occurring is None:
            sizes = self._sizes
            states = [state for state in range(len(sizes)) if sizes[state]]
            rows = self._examples
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

    __slots__ = ("_moving", "_nodes", "_serial", "_versions", "_work", "normalized", "plan", "states", "table")

    def __init__(self, states: States, work: Work, plan: Plan) -> None:
        self.plan = plan
        self.states = states
        self._work = work
        self._serial = -1
        self._versions: list[int] = []
        self._moving = [each for each in plan.inputs if not are_facts((each,))]
        """Inputs that change while the nodes stay as they are."""
        self._nodes = -1
        self.table: Ints = np.zeros(0, dtype=np.int64)
        """State → score. Another array whenever one has changed; not to be written to. States without rows have any."""
        self.normalized: object = None
        """What ``framework.profiles.scores`` makes of it."""

    def follow(self) -> None:
        states, plan = self.states, self.plan
        nodes = states.nodes_log.version
        versions = [each.version for each in self._moving]
        if nodes == self._nodes and versions == self._versions and states.serial == self._serial:
            return
        self._nodes = -1  # until all is well: kernels may raise
        states.follow()
        occurring, rows = states.occurring()
        self._work.rows += len(rows)
        found = plan.answers(rows)
        self._versions, self._nodes, self._serial = versions, nodes, states.serial
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

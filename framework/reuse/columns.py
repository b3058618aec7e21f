"""What plugins' plans answered, kept as columns.

PlanColumn: a plan's answers by row. StateColumn: scores per state that a row can be in, for plans whose inputs tell
rows apart by few things. ColumnStore hands them out; equal plans share a column.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from framework.columns import (
    WHOLE,
    CodedFact,
    Grouping,
    Groups,
    Incremental,
    Numbered,
    Sights,
    Snapshot,
    Unknown,
    are_facts,
    groupings,
)
from framework.interface.columns import ALL_ROWS, Input, Plan, Rows, one_row
from framework.trace.history import History, narrowest


@dataclass(slots=True)
class Work:
    """How much was worked out: counters that tests hold against bounds, since no test may look at the time."""

    rows: int = 0
    """Rows that kernels were given."""
    whole: int = 0
    """Passes over a whole array: a column worked out anew or spread, a renormalisation, a search for the best."""
    plans: int = 0
    """Plans that plugins were asked for."""
    node_calls: int = 0
    """Calls of plugins that answer node by node."""
    dry_runs: int = 0
    """Nodes on which preemption was tried out."""


KEPT_STATES: Final = 4096
FEW_VALUES: Final = 8
"""A plan is worked out per value of its axis when there are at least this many rows for every value."""


class PlanColumn(Incremental):
    """A plugin's answer for every row, kept and worked out again only where an input of its plan has changed.

    What changed is in the column's history, so a column is a source of other incremental arrays. Many classes of pods
    may share it.
    """

    __slots__ = ("_axis", "_axis_version", "_by_code", "_by_state", "_code", "_work", "history", "plan")

    def __init__(self, snapshot: Snapshot, work: Work, plan: Plan) -> None:
        inputs = plan.inputs
        # Facts of nodes stay the same while node objects do.
        counter = snapshot.nodes_log if inputs and are_facts(inputs) else None
        super().__init__(snapshot.extent, inputs or (Unknown(),), counter)
        self.plan = plan
        self._work = work
        self._axis: CodedFact | None = None
        """Set when rows with equal codes of this fact have equal values: those in ``_by_code``."""
        self._axis_version = -1
        self._by_code: NDArray[Any] | None = None
        self.history = History()
        self._code: Callable[[int], int | None] | None = (
            getattr(plan.inputs[0], "code", None) if len(plan.inputs) == 1 else None
        )
        """Set when one input is all that the answer depends on, and numbers its states."""
        self._by_state: dict[int | None, Any] = {}

    @property
    def is_of_nodes(self) -> bool:
        """Whether no answer changes while the nodes themselves stay as they are."""
        return self._counter is not None

    def follow(self) -> History:
        """Brought up to date."""
        if self._counter is None or self._counter.version != self._counted:
            self.refresh()
        return self.history

    @property
    def version(self) -> int:
        if self._counter is None or self._counter.version != self._counted:
            self.refresh()
        return self.history.version

    def changed_since(self, version: int) -> Rows:
        return self.history.changed_since(version)

    def _make_all(self) -> None:
        plan, history, count = self.plan, self.history, self._rows.used
        self._by_state.clear()
        if not count:
            history.replace(np.zeros(0, dtype=np.int8))
            return
        axis = self._axis_of(plan)
        self._always_all = axis is not None
        if axis is not None:
            self._make_codes(axis)
            return
        self._axis = self._by_code = None
        self._work.rows += count
        self._work.whole += 1
        values = plan.answers(ALL_ROWS)
        if values.strides == (0,):
            low = high = values.item(0)  # ``framework.interface.columns.everywhere``
        else:
            low, high = int(np.minimum.reduce(values)), int(np.maximum.reduce(values))
        if low == high:
            if history.limits != (low, high) or len(history.values) != count:
                history.fill(low, count)
            return
        if len(history.values) == count:
            changed = np.flatnonzero(history.values != values)
            if len(changed) * 2 < count:
                if len(changed):
                    history.write(changed, values[changed], len(changed))
                return
        # A copy, unless it gets narrower: a kernel may hand out an array that is somebody else's.
        history.replace(values.astype(narrowest(low, high)), (low, high))

    def _make_one(self, row: int) -> None:
        """Nodes that offer and hold the same have the same answer: it may be known."""
        code = None if self._code is None else self._code(row)
        value = None if code is None else self._by_state.get(code)
        if value is None:
            self._work.rows += 1
            value = self.plan.answers(one_row(row)).item()
            if code is not None:
                if len(self._by_state) >= KEPT_STATES:
                    self._by_state.clear()
                self._by_state[code] = value
        if self.history.values[row] != value:
            self.history.write(row, value, 1)

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        self._work.rows += len(rows)
        values, history = self.plan.answers(rows), self.history
        differs = history.values[rows] != values
        if differs.any():
            changed = rows[differs]
            history.write(changed, values[differs], len(changed))

    # --- one value for all rows that agree in a label ---------------------------------------------------------------

    def _axis_of(self, plan: Plan) -> CodedFact | None:
        """The fact by which all inputs tell rows apart, if it has few values."""
        axis: Any = None
        for each in plan.inputs:
            of_input = getattr(each, "axis", None)
            if of_input is None or (of_input is not WHOLE and axis is not None and axis is not of_input):
                return None
            if of_input is not WHOLE:
                axis = of_input
        few = axis is not None and axis.size * FEW_VALUES <= self._rows.used
        return cast("CodedFact", axis) if few else None

    def _make_codes(self, axis: CodedFact) -> None:
        rows, codes = axis.representatives()
        self._work.rows += len(rows)
        values = self.plan.answers(rows)
        before, history, count = self._by_code, self.history, self._rows.used
        table = np.zeros(axis.size + 1, dtype=np.int64)
        table[codes] = values
        same_rows = len(history.values) == count and self._axis is axis and self._axis_version == axis.version
        self._axis, self._axis_version, self._by_code = axis, axis.version, table
        low, high = min(found := values.tolist()), max(found)
        if low == high:
            if history.limits != (low, high) or len(history.values) != count:
                history.fill(low, count)
            return
        if same_rows and before is not None and len(before) == len(table):
            changed = np.flatnonzero(before != table)
            if not len(changed):
                return
            self._work.whole += 1
            rows = axis.rows_of(changed.tolist())
            if len(rows) * 2 < count:
                history.write(rows, table[axis.codes[rows]], len(rows))
                return
        self._work.whole += 1
        history.replace(table.astype(narrowest(low, high)).take(axis.codes), (low, high))


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
    """The scores of a plan whose inputs tell rows apart by few things, one per state that a row can be in.

    5,000 nodes in 3 zones with 0 to 4 pods of a workload are in at most 15 states. A placement brings one row to
    another state and changes the scores of some states, so a kernel sees one row of each state, and normalising is a
    matter of 15 numbers. ``states`` are those of the plan's inputs.
    """

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


C = TypeVar("C", bound="PlanColumn | StateColumn")
T = TypeVar("T")

KEPT_BYTES: Final = 256 << 20
"""What the columns of a profile may take."""
BYTES_OF_ROW: Final = 16
"""Of a column: its values and the whole copy its history begins with."""
LEAST_KEPT: Final = 64
SEEN_ONCE: Final = 8192


class ColumnStore:
    """The columns of a profile, and what is made from them, shared by all classes of pods.

    Columns by row are not kept when they are asked for the first time: it may be the last time.
    """

    def __init__(self, snapshot: Snapshot, *, keeps: bool) -> None:
        """``keeps`` False: every column is made anew."""
        self.work = Work()
        self._snapshot = snapshot
        self._keeps = keeps
        self._seen = Sights(SEEN_ONCE)
        self._columns: dict[Hashable, PlanColumn | StateColumn] = {}
        self._states: WeakValueDictionary[tuple[Input, ...], States] = WeakValueDictionary()
        self._shared: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
        self.of_attempt: set[PlanColumn] = set()
        """Columns by row that the attempt under way made and nobody else has."""

    def by_row(self, whose: Hashable, plan: Plan) -> PlanColumn:
        """The column of equal plans; ``whose`` says of which plugin, and for what."""
        return self._column(whose, plan, partial(PlanColumn, self._snapshot, self.work, plan))

    def by_row_or_state(self, whose: Hashable, plan: Plan) -> PlanColumn | StateColumn:
        """By state where the plan's inputs tell rows apart by few things."""

        def make() -> PlanColumn | StateColumn:
            if plan.inputs and groupings(plan.inputs) is not None:
                return StateColumn(self._states_of(plan.inputs), self.work, plan)
            return PlanColumn(self._snapshot, self.work, plan)

        return self._column(whose, plan, make)

    def _column(self, whose: Hashable, plan: Plan, make: Callable[[], C]) -> C:
        if not self._keeps or not plan.inputs:
            return make()
        key = (whose, plan.constants, plan.inputs)
        known = self._columns.pop(key, None)
        if known is not None:
            self._columns[key] = known
            return cast("C", known)
        found = make()
        if self._seen.again(key):
            self._columns[key] = found
            room = KEPT_BYTES // (BYTES_OF_ROW * max(1, self._snapshot.row_count))
            drop_oldest(self._columns, max(LEAST_KEPT, room))
        elif isinstance(found, PlanColumn):
            self.of_attempt.add(found)
        return found

    def _states_of(self, inputs: tuple[Input, ...]) -> States:
        found = self._states.get(inputs)
        if found is None:
            found = self._states[inputs] = States(self._snapshot, inputs)
        return found

    def shared(self, key: Hashable, columns: Iterable[PlanColumn], make: Callable[[], T]) -> T:
        """What is made from ``columns``, the same for all who have them, while somebody does."""
        if not self._keeps or not self.of_attempt.isdisjoint(columns):
            return make()
        found: T | None = self._shared.get(key)
        if found is None:
            found = self._shared[key] = make()
        return found


def drop_oldest(kept: dict[Any, Any], limit: int) -> None:
    while len(kept) > limit:
        del kept[next(iter(kept))]

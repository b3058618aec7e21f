"""PlanColumn: a plugin's answer for every row, kept and worked out again only where an input of its plan has changed.

What changed is in the column's history, so a column is a source of other incremental arrays. Many classes of pods may
share it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from framework.columns import WHOLE, CodedFact, Incremental, Snapshot, Unknown, are_facts
from framework.interface.columns import ALL_ROWS, Plan, Rows, one_row
from framework.reuse.work import Work
from framework.trace.history import History, narrowest

KEPT_STATES: Final = 4096
FEW_VALUES: Final = 8
"""A plan is worked out per value of its axis when there are at least this many rows for every value."""


class PlanColumn(Incremental):
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

    def follow(self) -> History:
        """Brought up to date."""
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

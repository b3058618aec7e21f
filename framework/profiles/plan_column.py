"""PlanColumn: a plugin's answer for every row, kept and worked out again only where an input of its plan has changed.

What changed is in the column's history, by which everybody who uses the column follows it at a pace of his own: it may
be shared by many classes of pods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from framework.columns import WHOLE, CodedFact, Snapshot, are_facts, union
from framework.interface.columns import ALL_ROWS, Input, Plan, Rows
from framework.profiles.work import Work
from framework.trace.history import History, narrowest

KEPT_STATES: Final = 4096
FEW_VALUES: Final = 8
"""A plan is worked out per value of its axis when there are at least this many rows for every value."""


class PlanColumn:
    __slots__ = (
        "_axis",
        "_axis_version",
        "_by_code",
        "_by_state",
        "_code",
        "_is_of_nodes",
        "_of_nodes",
        "_only",
        "_snapshot",
        "_versions",
        "_work",
        "history",
        "is_constant",
        "plan",
    )

    def __init__(self, snapshot: Snapshot, work: Work, plan: Plan) -> None:
        self.plan = plan
        self._snapshot = snapshot
        self._work = work
        self._versions: list[int] | None = None
        # Facts of nodes stay the same while node objects do.
        self._only = plan.inputs[0] if len(plan.inputs) == 1 else None
        self._is_of_nodes = bool(plan.inputs) and are_facts(plan.inputs)
        self._of_nodes = -1
        """The version of the nodes it was brought up to, if it depends on nothing else."""
        self._axis: CodedFact | None = None
        """Set when rows with equal codes of this fact have equal values: those in ``_by_code``."""
        self._axis_version = -1
        self._by_code: NDArray[Any] | None = None
        self.is_constant = False
        """Known to be one value for all rows."""
        self.history = History()
        self._code: Callable[[int], int | None] | None = (
            getattr(plan.inputs[0], "code", None) if len(plan.inputs) == 1 else None
        )
        """Set when one input is all that the answer depends on, and numbers its states."""
        self._by_state: dict[int | None, Any] = {}

    def follow(self) -> History:
        """Brought up to date."""
        nodes = self._snapshot.nodes_log.version
        if self._of_nodes == nodes:
            return self.history
        plan, before, only = self.plan, self._versions, self._only
        if only is not None and before is not None and len(self.history.values) == self._snapshot.row_count:
            version = only.version
            if version != before[0]:
                changed = only.changed_since(before[0]) if self._axis is None else ALL_ROWS
                self._evaluate(plan, [version], changed)
            if self._is_of_nodes:
                self._of_nodes = nodes
            return self.history
        versions = [each.version for each in plan.inputs]
        if before is None or not versions or not self.is_whole:
            self._by_state.clear()
            self._evaluate(plan, versions, ALL_ROWS)
        elif versions != before:
            rows = changed_rows(plan.inputs, before, versions) if self._axis is None else ALL_ROWS
            self._evaluate(plan, versions, rows)
        if self._is_of_nodes:
            self._of_nodes = nodes
        return self.history

    @property
    def is_whole(self) -> bool:
        """No node has come since."""
        return len(self.history.values) == self._snapshot.row_count

    def _evaluate(self, plan: Plan, versions: list[int], rows: Rows) -> None:
        history, before = self.history, self._versions
        self._versions = versions
        if rows is not None:
            if len(rows) == 1 and self._code is not None:
                self._write_one(plan, int(rows[0]), rows)
            elif len(rows):
                self._work.rows += len(rows)
                self._write(rows, self._run(plan, rows))
            return
        if not self._snapshot.row_count:
            self.is_constant = False
            history.replace(np.zeros(0, dtype=np.int8))
            return
        known = before is not None and self.is_whole
        axis = self._axis_of(plan)
        if axis is not None:
            self._evaluate_codes(plan, axis, known)
            return
        self._axis = self._by_code = None
        self._work.rows += self._snapshot.row_count
        self._work.whole += 1
        values = self._run(plan, ALL_ROWS)
        if values.strides == (0,):
            low = high = values.item(0)  # ``framework.interface.columns.everywhere``
        else:
            low, high = int(np.minimum.reduce(values)), int(np.maximum.reduce(values))
        if low == high:
            self.is_constant = True
            history.fill(low, len(values))
            return
        if known and not self.is_constant:
            changed = np.flatnonzero(history.values != values)
            if len(changed) * 2 < len(values):
                if len(changed):
                    history.write(changed, values[changed], len(changed))
                return
        self.is_constant = False
        # A copy, unless it gets narrower: a kernel may hand out an array that is somebody else's.
        history.replace(values.astype(narrowest(low, high)), (low, high))

    def _write_one(self, plan: Plan, row: int, rows: NDArray[np.intp]) -> None:
        """Nodes that offer and hold the same have the same answer: it may be known."""
        assert self._code is not None
        code = self._code(row)
        value = self._by_state.get(code)
        if value is None:
            self._work.rows += 1
            value = self._run(plan, rows).item()
            if code is not None:
                if len(self._by_state) >= KEPT_STATES:
                    self._by_state.clear()
                self._by_state[code] = value
        if self.history.values[row] != value:
            self.is_constant = False
            self.history.write(row, value, 1)

    def _run(self, plan: Plan, rows: Rows) -> NDArray[Any]:
        return plan.kernel(*[each.gather(rows) for each in plan.inputs])

    def _write(self, rows: NDArray[np.intp], values: NDArray[Any]) -> None:
        history = self.history
        if len(rows) == 1:
            row, value = int(rows[0]), int(values[0])
            if history.values[row] != value:
                self.is_constant = False
                history.write(row, value, 1)
            return
        differs = history.values[rows] != values
        self.is_constant = self.is_constant and not differs.any()
        if differs.all():
            history.write(rows, values, len(rows))
        elif differs.any():
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
        few = axis is not None and axis.size * FEW_VALUES <= self._snapshot.row_count
        return cast("CodedFact", axis) if few else None

    def _evaluate_codes(self, plan: Plan, axis: CodedFact, known: bool) -> None:
        rows, codes = axis.representatives()
        self._work.rows += len(rows)
        values = self._run(plan, rows)
        before, history = self._by_code, self.history
        table = np.zeros(axis.size + 1, dtype=np.int64)
        table[codes] = values
        same_rows = known and self._axis is axis and self._axis_version == axis.version
        self._axis, self._axis_version, self._by_code = axis, axis.version, table
        low, high = min(found := values.tolist()), max(found)
        if low == high:
            self.is_constant = True
            history.fill(low, self._snapshot.row_count)
            return
        self.is_constant = False
        if same_rows and before is not None and len(before) == len(table):
            changed = np.flatnonzero(before != table)
            if not len(changed):
                return
            self._work.whole += 1
            rows = axis.rows_of(changed.tolist())
            if len(rows) * 2 < len(history.values):
                history.write(rows, table[axis.codes[rows]], len(rows))
                return
        self._work.whole += 1
        history.replace(table.astype(narrowest(low, high)).take(axis.codes), (low, high))


def changed_rows(inputs: tuple[Input, ...], before: list[int], now: list[int]) -> Rows:
    """Rows that one of the inputs names; None for all."""
    found: NDArray[np.intp] | None = None
    for each, old, new in zip(inputs, before, now, strict=True):
        if old == new:
            continue
        rows = each.changed_since(old)
        if rows is None:
            return None
        if found is None:
            found = rows
        elif len(rows) and rows is not found:
            found = union((found, rows)) if len(found) else rows
    return np.zeros(0, dtype=np.intp) if found is None else found

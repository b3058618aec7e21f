"""Verdicts: which nodes can take the pods of a class, and which plugin was the first to say no elsewhere.

Follows the columns of Filter plugins; classes with the same columns share their verdicts. Verdicts are numbers: 0
passes, -1 is a row without a node, every other stands for one answer of one plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from framework.columns import Incremental, Snapshot
from framework.interface.columns import Plan
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo
from framework.interface.status import SUCCESS, Status
from framework.objects import Pod
from framework.profiles.node_plans import FilterNodePlans
from framework.profiles.outcomes import error_text
from framework.reuse.columns import ColumnStore, PlanColumn, Work
from framework.trace.history import History

Rank = tuple[int, int, int, tuple[str, ...]]
"""(place of the plugin, its verdict code; of a plugin that answers node by node instead the status's code and reasons).

The order in which an attempt lists its statuses, which must not depend on what came before it."""
PerNodeFilter = Callable[[CycleState, Pod, NodeInfo], Status | None]


class FilterEntry:
    """Either ``per_node``, or ``plan`` with its ``column``, or an ``error`` for every node.

    With ``local`` it is both: answers about the nodes as they are stand in a column that the plugin itself filled.
    """

    __slots__ = ("_follows", "_statuses", "asked", "column", "error", "local", "per_node", "plan", "plugin")

    def __init__(
        self,
        plugin: str,
        *,
        per_node: PerNodeFilter | None = None,
        plan: Plan | None = None,
        column: PlanColumn | None = None,
        error: Status | None = None,
        local: FilterNodePlans | None = None,
    ) -> None:
        self.plugin = plugin
        self.per_node = per_node
        self.plan = plan
        self.column = column
        self.error = error
        self.local = local
        self.asked = per_node is not None and column is None
        """The plugin has to be called for every node in question."""
        self._follows: bool | None = None
        self._statuses: dict[int, Status] = {}

    @property
    def follows_pods(self) -> bool:
        """Whether pods that come to a node or leave it can change this plugin's answer there."""
        if self._follows is None:
            assert self.plan is not None
            self._follows = any(getattr(each, "follows_pods", True) for each in self.plan.inputs)
        return self._follows

    @property
    def passes_everywhere(self) -> bool:
        """Known of its column, as far as that was followed."""
        return self.column is not None and self.column.history.limits == (0, 0)

    def rank(self, place: int, code: int) -> Rank:
        """Of what ``code`` stands for. ``place``: of this plugin."""
        return (place, code, 0, ()) if self.local is None else rank_of(place, self.local.statuses[code])

    def all_codes(self) -> NDArray[Any]:
        """Verdict codes of all rows; for reading."""
        assert self.plan is not None
        assert self.column is not None
        return self.column.follow().values

    def status(self, code: int) -> Status:
        found = self._statuses.get(code)
        if found is None and self.local is not None:
            found = self._statuses[code] = filter_status(self.plugin, self.local.statuses[code])
        elif found is None:
            assert self.plan is not None
            reasons = self.plan.reasons
            reason = reasons(code) if callable(reasons) else reasons[code]
            found = self._statuses[code] = filter_status(self.plugin, Status(reason.code, tuple(reason.texts)))
        return found


def rank_of(place: int, status: Status) -> Rank:
    """Of what a plugin said node by node."""
    return (place, 0, status.code.value, status.all_reasons)


def filter_status(plugin: str, status: Status) -> Status:
    """A code that Filter does not know is an error; both carry the plugin's name."""
    if status.is_success or status.is_rejected:
        return status if status.is_success else status.with_plugin(plugin)
    return Status.as_error(f'running "{plugin}" filter plugin: {error_text(status)}', plugin)


NO_NODE: Final = -1
_DENSE_CODES: Final = 1 << 12
ALL_PASS: Final = ([SUCCESS], np.array([0, NO_NODE], dtype=np.int32))
"""``canonical`` where no plugin has ever objected. For reading."""


def shared_verdicts(columns: ColumnStore, snapshot: Snapshot, entries: Sequence[FilterEntry]) -> Verdicts:
    """Those of these columns."""
    make = partial(Verdicts, snapshot, columns.work, entries)
    mine = [entry.column for entry in entries]
    if None in mine and any(entry.error is not None for entry in entries):
        return make()
    key = ("verdicts", tuple([each for each in enumerate(mine) if each[1] is not None]))
    return columns.shared(key, cast("list[PlanColumn]", mine), make)


class Verdicts(Incremental):
    __slots__ = (
        "__weakref__",
        "_entries",
        "_feasible_rows",
        "_is_followed",
        "_known",
        "_numbers",
        "_order",
        "_ranks",
        "_snapshot",
        "_work",
        "counts",
        "feasible",
        "history",
        "statuses",
    )

    def __init__(self, snapshot: Snapshot, work: Work, entries: Sequence[FilterEntry]) -> None:
        self._entries = [(i, entry) for i, entry in enumerate(entries) if not entry.asked]
        """With their places among all entries."""
        columns = [entry.column for _, entry in self._entries if entry.column is not None]
        super().__init__(snapshot.extent, columns)
        self._snapshot = snapshot
        self._work = work
        self._is_followed = len(columns) == len(self._entries)
        """An entry without a column is an error that every node gets."""
        self._order = snapshot.order
        self._known: dict[tuple[int, int], int] = {}
        """(place, code) → verdict number."""
        self._ranks: list[Rank] = [(-1, 0, 0, ())]
        self._numbers: tuple[tuple[int, ...], list[Status], NDArray[np.int32]] | None = None
        self._feasible_rows: tuple[object, NDArray[np.intp]] | None = None
        self.statuses: list[Status] = [SUCCESS]
        self.counts: list[int] = [0]
        """Verdict number → nodes that have it."""
        self.feasible = object()
        """Another object whenever the feasible nodes are others."""
        self.history = History()

    # --- following --------------------------------------------------------------------------------------------------

    def follow(self) -> None:
        order = self._snapshot.order
        if order is not self._order or not self._is_followed:
            self._order = order
            self.forget()
        self.refresh()

    def _number(self, place: int, entry: FilterEntry, code: int) -> int:
        number = self._known.get((place, code))
        if number is None:
            number = self._known[place, code] = len(self.statuses)
            self.statuses.append(entry.error if entry.error is not None else entry.status(code))
            self.counts.append(0)
            self._ranks.append(entry.rank(place, code))
        return number

    def rank(self, number: int) -> Rank:
        """Begins with the place of the entry that gave this verdict."""
        return self._ranks[number]

    def _make_all(self) -> None:
        snapshot, rows = self._snapshot, self._snapshot.row_count
        somebody_objects = rows == 0 or len(snapshot) < rows
        for _, entry in self._entries:
            somebody_objects = somebody_objects or not entry.passes_everywhere
        if not somebody_objects:
            if self.counts[0] != rows or len(self.history.values) != rows:
                self.feasible = object()
            self.history.fill(0, rows)
            self.counts = [rows, *[0] * (len(self.statuses) - 1)]
            return
        self._work.whole += 1
        numbers = self._first_failing(None, rows)
        numbers[snapshot.position_of_row < 0] = NO_NODE
        if not np.array_equal(self.history.values == 0, numbers == 0):
            self.feasible = object()
        self.history.update(numbers)
        found = np.bincount(numbers[numbers >= 0], minlength=len(self.statuses))
        self.counts = found.tolist()

    def _first_failing(self, rows: NDArray[np.intp] | None, size: int) -> NDArray[np.int16]:
        numbers = np.zeros(size, dtype=np.int16)
        for place, entry in self._entries:
            if entry.column is None:
                numbers[numbers == 0] = self._number(place, entry, 1)
                continue
            if entry.passes_everywhere:
                continue
            codes = entry.column.history.values if rows is None else entry.column.history.values[rows]
            if not codes.any():
                continue
            failing = (codes != 0) & (numbers == 0)
            found = codes[failing].astype(np.int64)
            if not len(found):
                continue
            low, high = int(found.min()), int(found.max())
            if low == high:
                numbers[failing] = self._number(place, entry, low)
            elif low >= 0 and high < _DENSE_CODES:
                table = np.zeros(high + 1, dtype=np.int16)
                for code in np.flatnonzero(np.bincount(found)).tolist():
                    table[code] = self._number(place, entry, code)
                numbers[failing] = table[found]
            else:
                distinct, inverse = np.unique(found, return_inverse=True)
                table = np.array([self._number(place, entry, code) for code in distinct.tolist()], dtype=np.int16)
                numbers[failing] = table[inverse]
        return numbers

    def _make_one(self, row: int) -> None:
        old = int(self.history.values[row])
        if old == NO_NODE:
            return
        new = 0
        for place, entry in self._entries:
            assert entry.column is not None
            code = int(entry.column.history.values[row])
            if code:
                new = self._number(place, entry, code)
                break
        if new != old:
            self.history.write(row, new, 1)
            self.counts[old] -= 1
            self.counts[new] += 1
            if new == 0 or old == 0:
                self.feasible = object()

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        old = self.history.values[rows]
        new = self._first_failing(rows, len(rows))
        differs = (new != old) & (old != NO_NODE)
        if not differs.any():
            return
        rows, old, new = rows[differs], old[differs], new[differs]
        self.history.write(rows, new, len(rows))
        size = len(self.statuses)
        change = np.bincount(new, minlength=size) - np.bincount(old, minlength=size)
        self.counts = (np.array(self.counts) + change).tolist()
        if (new == 0).any() or (old == 0).any():
            self.feasible = object()

    # --- reading ----------------------------------------------------------------------------------------------------

    def feasible_rows(self) -> NDArray[np.intp]:
        if self._feasible_rows is None or self._feasible_rows[0] is not self.feasible:
            self._feasible_rows = (self.feasible, np.flatnonzero(self.history.values == 0))
        return self._feasible_rows[1]

    def canonical(self) -> tuple[list[Status], NDArray[np.int32]]:
        """(success and the statuses that occur, by rank; verdict number → index in them).

        The last entry of the table is for rows without a node.
        """
        if len(self.counts) == 1:
            return ALL_PASS
        used = tuple([number for number, count in enumerate(self.counts) if count and number])
        if self._numbers is None or self._numbers[0] != used or len(self._numbers[2]) != len(self.counts) + 1:
            table = np.full(len(self.counts) + 1, NO_NODE, dtype=np.int32)
            table[0] = 0
            ranked = sorted(used, key=self._ranks.__getitem__)
            for index, number in enumerate(ranked):
                table[number] = index + 1
            self._numbers = (used, [SUCCESS, *(self.statuses[number] for number in ranked)], table)
        return self._numbers[1], self._numbers[2]

"""What the pods on each node add up to, as int64 columns: requests per resource, counts, used host ports.

int64 as in Go: sums wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.columns.facts import Extent, grown
from framework.columns.incremental import Incremental, RowLog
from framework.columns.row_values import RowValues
from framework.interface.columns import Column, PodChange, Rows, WorkOut, lowest_of
from framework.interface.node_info import HostPort, NodeInfo, PodInfo, ports_after, ports_conflict

Ints = NDArray[np.int64]
LOWEST: Final = -(1 << 63)
HIGHEST: Final = (1 << 63) - 1
NO_POD: Final = HIGHEST
"""Stands for the lowest priority on a node without pods."""
KEPT_CODES: Final = 1 << 15
"""Different states of nodes that are remembered."""


def wrap(value: int) -> int:
    """``value`` as Go's int64 holds it."""
    if LOWEST <= value <= HIGHEST:
        return value
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class Usage:
    """Allocatable and requested of every node. ``log``: the rows where a pod came or went or allocatable changed."""

    def __init__(self, extent: Extent) -> None:
        self._extent = extent
        self._allocatable: dict[str, Ints] = {}
        self._requested: dict[str, Ints] = {}
        self.non_zero_cpu = self._zeros()
        self.non_zero_memory = self._zeros()
        self.pods = self._zeros()
        self.allowed_pods = self._zeros()
        self.lowest_priority = np.full(self._extent.capacity, NO_POD, dtype=np.int64)
        self.log = RowLog()
        self.largest: int | None = 0
        """No number ever written is above this or negative; None when one was."""
        self.offers = 0
        """Another number whenever something allocatable may have changed."""
        self.arrays = 0
        """Another number whenever a column is another array."""
        self.ports_log = RowLog()
        self.rows_with_ports: dict[int, NodeInfo] = {}
        self._codes: dict[tuple[Any, ...], int] = {}
        self._code_of_row: dict[int, int] = {}
        self._next_code = 0

    def code_of(self, row: int, info: NodeInfo) -> int:
        """A number for what is offered and used on the node of ``row``: equal numbers, equal columns."""
        code = self._code_of_row.get(row)
        if code is None:
            offered = (*info.allocatable.items(), info.allowed_pods)
            used = (*info.requested.items(), info.non_zero_cpu, info.non_zero_memory, len(info.pods))
            key = (offered, used)
            code = self._codes.get(key)
            if code is None:
                if len(self._codes) >= KEPT_CODES:
                    self._codes.clear()
                code = self._codes[key] = self._next_code
                self._next_code += 1
            self._code_of_row[row] = code
        return code

    def _zeros(self) -> Ints:
        return np.zeros(self._extent.capacity, dtype=np.int64)

    def grow(self) -> None:
        capacity = self._extent.capacity
        self.offers += 1
        self.arrays += 1
        for columns in (self._allocatable, self._requested):
            for name in columns:
                columns[name] = grown(columns[name], capacity, 0)
        self.non_zero_cpu = grown(self.non_zero_cpu, capacity, 0)
        self.non_zero_memory = grown(self.non_zero_memory, capacity, 0)
        self.pods = grown(self.pods, capacity, 0)
        self.allowed_pods = grown(self.allowed_pods, capacity, 0)
        self.lowest_priority = grown(self.lowest_priority, capacity, NO_POD)

    def set_node(self, row: int, info: NodeInfo) -> None:
        """Everything of the row anew."""
        self.offers += 1
        self._bound(max(info.allocatable.values(), default=0), min(info.allocatable.values(), default=0))
        for name, column in self._allocatable.items():
            column[row] = wrap(info.allocatable.get(name, 0))
        for name in info.allocatable:
            if name not in self._allocatable:
                column = self._allocatable[name] = self._zeros()
                column[row] = wrap(info.allocatable[name])
        self.allowed_pods[row] = wrap(info.allowed_pods)
        self._code_of_row.pop(row, None)
        for name, column in self._requested.items():
            column[row] = wrap(info.requested.get(name, 0))
        self._write_requested(row, info, info.requested)
        self._rank_anew(row, info)
        self._ports_changed(row, info)

    def _bound(self, highest: int, lowest: int) -> None:
        if lowest < 0:
            self.largest = None
        elif self.largest is not None and highest > self.largest:
            self.largest = highest

    def clear(self, row: int) -> None:
        self.offers += 1
        for columns in (self._allocatable, self._requested):
            for column in columns.values():
                column[row] = 0
        for array in (self.non_zero_cpu, self.non_zero_memory, self.pods, self.allowed_pods):
            array[row] = 0
        self.lowest_priority[row] = NO_POD
        self._code_of_row.pop(row, None)
        self.log.append(row)
        if self.rows_with_ports.pop(row, None) is not None:
            self.ports_log.append(row)

    def pod_changed(self, row: int, info: NodeInfo, pod: PodInfo) -> None:
        """``pod`` came to or left ``info``."""
        priority = pod.pod.spec.priority or 0
        lowest = self.lowest_priority.item(row)
        if len(info.pods) > self.pods.item(row):
            if priority < lowest:
                self.lowest_priority[row] = priority
        elif priority == lowest:
            self._rank_anew(row, info)
        self._write_requested(row, info, pod.requests)
        if pod.host_ports:
            self._ports_changed(row, info)

    def _rank_anew(self, row: int, info: NodeInfo) -> None:
        self.lowest_priority[row] = min((p.pod.spec.priority or 0 for p in info.pods), default=NO_POD)

    def _write_requested(self, row: int, info: NodeInfo, names: Iterable[str]) -> None:
        columns, requested = self._requested, info.requested
        cpu, memory = info.non_zero_cpu, info.non_zero_memory
        highest, lowest = (cpu, memory) if cpu > memory else (memory, cpu)
        for name in names:
            column = columns.get(name)
            if column is None:
                column = columns[name] = self._zeros()
                self.arrays += 1
            amount = requested[name]
            if amount > highest:
                highest = amount
            elif amount < lowest:
                lowest = amount
            column[row] = amount if LOWEST <= amount <= HIGHEST else wrap(amount)
        if lowest < 0 or self.largest is None or highest > self.largest:
            self._bound(highest, lowest)
        if lowest < LOWEST or highest > HIGHEST:
            cpu, memory = wrap(cpu), wrap(memory)
        self.non_zero_cpu[row] = cpu
        self.non_zero_memory[row] = memory
        self.pods[row] = len(info.pods)
        self._code_of_row.pop(row, None)
        self.log.append(row)

    def _ports_changed(self, row: int, info: NodeInfo) -> None:
        before = row in self.rows_with_ports
        if info.used_ports:
            self.rows_with_ports[row] = info
        elif before:
            del self.rows_with_ports[row]
        if before or info.used_ports:
            self.ports_log.append(row)

    def allocatable_of(self, name: str) -> Ints:
        column = self._allocatable.get(name)
        return (self._zeros() if column is None else column)[: self._extent.used]

    def requested_of(self, name: str) -> Ints:
        column = self._requested.get(name)
        return (self._zeros() if column is None else column)[: self._extent.used]


class OwnRows:
    """Input: a Column of some resources."""

    __slots__ = (
        "_extent",
        "_info_of",
        "_resources",
        "_usage",
        "_whole",
        "_worked_out",
    )

    def __init__(
        self, extent: Extent, usage: Usage, resources: tuple[str, ...], info_of: Callable[[int], NodeInfo | None]
    ) -> None:
        self._extent = extent
        self._info_of = info_of
        self._usage = usage
        self._resources = resources
        self._whole: tuple[tuple[int, int, int, int | None], Column] | None = None
        """(what it looks at, all rows). The arrays are the very ones in which rows change."""
        self._worked_out: dict[WorkOut, WorkedOut] = {}

    @property
    def change_log(self) -> RowLog:
        """The very source of its changes: whoever follows it asks that, without a detour."""
        return self._usage.log

    @property
    def version(self) -> int:
        return self._usage.log.version

    def changed_since(self, version: int) -> Rows:
        return self._usage.log.changed_since(version)

    def code(self, row: int) -> int | None:
        """Rows with one code gather the same, now and later; None where there is none."""
        info = self._info_of(row)
        return None if info is None else self._usage.code_of(row, info)

    def gather(self, rows: Rows) -> Column:
        if rows is not None:
            return self._gathered(rows)
        usage, used = self._usage, self._extent.used
        seen = (usage.offers, usage.arrays, used, usage.largest)
        if self._whole is None or self._whole[0] != seen:
            column = Column(
                self._resources,
                tuple([usage.allocatable_of(name) for name in self._resources]),
                tuple([usage.requested_of(name) for name in self._resources]),
                usage.non_zero_cpu[:used],
                usage.non_zero_memory[:used],
                usage.pods[:used],
                usage.allowed_pods[:used],
                tuple([bool(usage.allocatable_of(name).all()) for name in self._resources]),
                usage.largest,
                keeper=self,
            )
            self._whole = (seen, column)
        return self._whole[1]

    def worked_out(self, work_out: WorkOut) -> NDArray[Any]:
        return (self._worked_out.get(work_out) or self._keep(work_out)).follow()

    def lowest(self, work_out: WorkOut, lines: slice) -> Sequence[Any]:
        """For reading, until something changes."""
        return (self._worked_out.get(work_out) or self._keep(work_out)).lowest(lines)

    def _keep(self, work_out: WorkOut) -> WorkedOut:
        found = self._worked_out[work_out] = WorkedOut(self._extent, self._usage, work_out, self._gathered)
        return found

    def _gathered(self, index: NDArray[np.intp] | slice) -> Column:
        whole = self.gather(None)
        return Column(
            self._resources,
            tuple([each[index] for each in whole.allocatable]),
            tuple([each[index] for each in whole.requested]),
            whole.non_zero_cpu[index],
            whole.non_zero_memory[index],
            whole.pods[index],
            whole.allowed_pods[index],
            whole.everywhere,
            whole.largest,
        )

    def gather_changed(self, change: PodChange) -> Column:
        """Removed pods first, then added ones; a pod may be in both."""
        column = self.gather(np.array([change.row], dtype=np.intp))
        for sign, pods in ((-1, change.removed), (1, change.added)):
            for pod in pods:
                for name, requested in zip(column.resources, column.requested, strict=True):
                    requested[0] = wrap(int(requested[0]) + sign * pod.requests.get(name, 0))
                cpu, memory = pod.non_zero
                column.non_zero_cpu[0] = wrap(int(column.non_zero_cpu[0]) + sign * cpu)
                column.non_zero_memory[0] = wrap(int(column.non_zero_memory[0]) + sign * memory)
                column.pods[0] += sign
        return column._replace(largest=None)


class WorkedOut(Incremental):
    """What a function makes of the nodes' amounts alone, line by line, and the least number of some lines."""

    __slots__ = ("_gathered", "_least", "_of_row", "_of_rows", "_offers", "_usage", "_values")

    def __init__(
        self, extent: Extent, usage: Usage, work_out: WorkOut, gathered: Callable[[NDArray[np.intp] | slice], Column]
    ) -> None:
        super().__init__(extent, (usage.log,))
        self._usage = usage
        self._of_rows = work_out.of_rows
        self._of_row = work_out.of_row or work_out.of_rows
        self._gathered = gathered
        self._offers = -1
        self._values: NDArray[Any] = np.zeros((0, 0))
        self._least: tuple[slice, list[Any]] | None = None
        """Of the lines that were asked for last, if it is known."""

    def follow(self) -> NDArray[Any]:
        if self._offers != self._usage.offers:
            self._offers = self._usage.offers
            self.forget()
        self.refresh()
        return self._values

    def _make_all(self) -> None:
        self._values = self._of_rows(self._gathered(slice(0, self._rows.used)))
        self._least = None

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        self._values[:, rows] = self._of_rows(self._gathered(rows))
        self._least = None

    def _make_one(self, row: int) -> None:
        # A slice costs less than a list of one row.
        now = self._of_row(self._gathered(slice(row, row + 1)))
        if self._least is not None:
            lines, least = self._least
            before, after = self._values[lines, row].tolist(), now[lines, 0].tolist()
            for line, number in enumerate(after):
                if number < least[line]:
                    least[line] = number
                elif number > before[line] == least[line]:
                    self._least = None  # another row may have it now
                    break
        self._values[:, row] = now[:, 0]

    def lowest(self, lines: slice) -> Sequence[Any]:
        values = self.follow()
        if self._least is None or self._least[0] != lines:
            self._least = lines, lowest_of(values[lines])
        return self._least[1]


class PortConflicts(RowValues):
    """Input: whether one of the wanted host ports is taken on the node (docs/semantics/cache.md#nodeinfo)."""

    def __init__(self, extent: Extent, usage: Usage, wanted: tuple[HostPort, ...]) -> None:
        super().__init__(extent, (usage.ports_log,), np.bool_)
        self._usage = usage
        self._wanted = wanted

    def _conflicts(self, used: set[HostPort]) -> bool:
        return any(ports_conflict(used, wanted) for wanted in self._wanted)

    def _values_of(self, rows: Rows) -> NDArray[np.bool_]:
        holders = self._usage.rows_with_ports
        values = np.zeros(self._extent.used, dtype=np.bool_)
        for row in holders if rows is None else rows.tolist():
            values[row] = row in holders and self._conflicts(holders[row].used_ports)
        return values if rows is None else values[rows]

    def gather_changed(self, change: PodChange) -> NDArray[np.bool_]:
        info = self._usage.rows_with_ports.get(change.row)
        used = ports_after(set() if info is None else info.used_ports, change.port_moves)
        return np.array([self._conflicts(used)], dtype=np.bool_)

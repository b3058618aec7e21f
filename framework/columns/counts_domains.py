"""Numbers per domain: what is counted on rows, added up per value of a topology key, with minimum and presence.

A ``DomainTable`` follows the numbers of rows (told by its owner) and the rows' way from domain to domain (read from the
label's and the eligibility's logs). ``PodsInDomains`` feeds one with the pods of a query; minimum and presence are
inputs of their own, because most kernels do not need them and they change for all rows at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from framework.columns.counts_pods import MatchedPods
from framework.columns.facts import CodedFact, Extent, grown
from framework.columns.groups import Grouping
from framework.columns.incremental import Log, union
from framework.columns.whole import Whole
from framework.interface.columns import ABSENT, DomainCounts, DomainMinimum, Input, PodChange, Rows
from framework.interface.node_info import PodInfo
from framework.interface.remembered import remembered

T = TypeVar("T")

NOWHERE: Final = -2
"""The domain of a row that does not count."""
NO_DOMAIN: Final = -1
"""Stands for the number of a row without the key."""
NO_MINIMUM: Final = (1 << 31) - 1
"""math.MaxInt32, upstream's start value: what is left when there are no domains."""
NO_ROWS: Final = np.zeros(0, dtype=np.intp)
FEW_DOMAINS: Final = 32
"""So many that nobody asked for cost less than to leave them out."""
_NO_CODES: Final = np.zeros(0, dtype=np.int32)

Moves = Sequence[tuple[int, int]]
"""(row, how many more), of a what-if."""
DomainLog = Log[tuple[CodedFact, int]]
"""Domains (a fact's code) whose number changed, or to which a row came."""


def rows_of_domains(log: DomainLog, version: int) -> Rows:
    """Rows in the domains logged after ``version``; None for all rows."""
    entries = log.since(version)
    if entries is None:
        return None
    if not entries:
        return NO_ROWS
    codes_of: dict[CodedFact, list[int]] = {}
    for fact, code in dict.fromkeys(entries):
        codes_of.setdefault(fact, []).append(code)
    rows = [fact.rows_of(codes) for fact, codes in codes_of.items()]
    return rows[0] if len(rows) == 1 else union(rows)


class _Tracked:
    """How often which number occurs among domains with at least one row that counts."""

    def __init__(self, table: NDArray[np.int64], row_codes: NDArray[np.int32]) -> None:
        counted = row_codes[row_codes >= 0]
        self.members = np.bincount(counted, minlength=len(table))
        numbers, times = np.unique(table[self.members > 0], return_counts=True)
        self.times: dict[int, int] = dict(zip(numbers.tolist(), times.tolist(), strict=True))
        self.domains = int(np.count_nonzero(self.members))

    def _count(self, number: int, sign: int) -> None:
        times = self.times.get(number, 0) + sign
        if times:
            self.times[number] = times
        else:
            del self.times[number]

    def joined(self, code: int, number: int) -> None:
        self.members[code] += 1
        if self.members[code] == 1:
            self.domains += 1
            self._count(number, 1)

    def left(self, code: int, number: int) -> None:
        self.members[code] -= 1
        if self.members[code] == 0:
            self.domains -= 1
            self._count(number, -1)

    def changed(self, code: int, old: int, new: int) -> None:
        if self.members[code]:
            self._count(old, -1)
            self._count(new, 1)

    def minimum(self) -> DomainMinimum:
        return DomainMinimum(min(self.times, default=NO_MINIMUM), self.domains)

    def minimum_if(self, changes: Sequence[tuple[int, int]]) -> DomainMinimum:
        """With tracked domains, at least one, at other numbers: (old, new) of each."""
        gone = Counter([old for old, _ in changes])
        others = (number for number, times in self.times.items() if times > gone[number])
        new = min([number for _, number in changes])
        return DomainMinimum(min(new, min(others, default=new)), self.domains)


class RowDomains:
    """In which domain each row counts: its code of a label, or NOWHERE where it is not eligible.

    The same for all queries, so tables that agree in both share it.
    """

    def __init__(self, extent: Extent, fact: CodedFact, eligible: Input | None, *, keyless_as_empty: bool) -> None:
        self.fact = fact
        self.eligible = eligible
        self._extent = extent
        self._keyless_as_empty = keyless_as_empty
        self._state: tuple[int, ...] = ()
        self._all: NDArray[np.int32] = np.zeros(0, dtype=np.int32)

    def state(self) -> tuple[int, int, int, int]:
        """(version of the label, of eligibility, code of those without a label, rows)."""
        eligible = self.eligible
        return self.fact.version, 0 if eligible is None else eligible.version, self._empty(), self._extent.used

    def _empty(self) -> int:
        code = self.fact.code_of("") if self._keyless_as_empty else None
        return ABSENT if code is None else code

    def all(self) -> NDArray[np.int32]:
        """Of all rows, not to be written to: stays as it is when a node changes."""
        state = self.state()
        if state != self._state:
            self._state, self._all = state, self.codes(None)
        return self._all

    def codes(self, rows: Rows) -> NDArray[np.int32]:
        codes = self.fact.gather(rows).codes.copy()
        empty = self._empty()
        if empty != ABSENT:
            codes[codes == ABSENT] = empty
        if self.eligible is not None:
            codes[~self.eligible.gather(rows)] = NOWHERE
        return codes


class DomainTable:
    """Σ of the numbers of rows per domain. ``table[-1]`` is the sum over rows without the key.

    The owner calls ``reset`` or ``add`` with what happened on rows, then ``follow_rows``.
    """

    def __init__(self, extent: Extent, domains: RowDomains, log: DomainLog) -> None:
        self._extent = extent
        self._domains = domains
        self.fact = domains.fact
        self._nodes = -1
        self._state: tuple[int, int, int, int] = (-1, -1, ABSENT, 0)
        """Of the domains, as the table has followed them."""
        self._numbers: dict[int, int] = {}
        self._row_codes = _NO_CODES
        """Perhaps not its own: another array when a row moves."""
        self._tracked: _Tracked | None = None
        self.log = log
        self.table = np.zeros(1, dtype=np.int64)
        self.not_zero = 0
        """Domains whose number is not 0."""

    def reset(self, numbers: Mapping[int, int]) -> None:
        self._numbers = dict(numbers)
        self._row_codes = _NO_CODES

    def add(self, row: int, number: int) -> None:
        total = self._numbers.get(row, 0) + number
        if total:
            self._numbers[row] = total
        else:
            self._numbers.pop(row, None)
        if row < len(self._row_codes):
            code = int(self._row_codes[row])
            if code != NOWHERE:
                self._change(code, number)

    def _change(self, code: int, number: int) -> None:
        old = int(self.table[code])
        new = old + number
        self.table[code] = new
        self.log.append((self.fact, code))
        if code >= 0:
            self.not_zero += (new != 0) - (old != 0)
            if self._tracked is not None:
                self._tracked.changed(code, old, new)

    def follow_rows(self) -> None:
        """Moves rows whose label or eligibility changed."""
        used = self._extent.used
        nodes = self._extent.nodes_log.version
        if nodes == self._nodes and len(self._row_codes) == used:
            return
        self._nodes = nodes
        state, before = self._domains.state(), self._state
        same_size = len(self._row_codes) == used
        if same_size and state == before:
            return
        self._state = state
        changed = self._changed(before) if same_size and state[2] == before[2] else None
        if changed is None:
            self._start_over()
            return
        self._make_room()
        codes = self._domains.codes(changed)
        seen = self.fact.gather(changed).codes
        self._row_codes = self._row_codes.copy()
        for row, code, seen_code in zip(changed.tolist(), codes.tolist(), seen.tolist(), strict=True):
            self._move(row, code)
            self.log.append((self.fact, seen_code))

    def _changed(self, before: tuple[int, int, int, int]) -> Rows:
        changed, eligible = self.fact.changed_since(before[0]), self._domains.eligible
        if eligible is None or changed is None:
            return changed
        more = eligible.changed_since(before[1])
        return None if more is None else union((changed, more))

    def _make_room(self) -> None:
        """The last slot stays the one of rows without the key, whatever the length."""
        needed = self.fact.size + 1
        if needed > len(self.table):
            keyless = self.table[-1]
            self.table = grown(self.table[:-1], 2 * needed, 0)
            self.table[-1] = keyless
            if self._tracked is not None:
                self._tracked.members = grown(self._tracked.members, len(self.table), 0)

    def _move(self, row: int, code: int) -> None:
        before = int(self._row_codes[row])
        if before == code:
            return
        number = self._numbers.get(row, 0)
        if before != NOWHERE:
            if number:
                self._change(before, -number)
            if self._tracked is not None and before >= 0:
                self._tracked.left(before, int(self.table[before]))
        self._row_codes[row] = code
        if code != NOWHERE:
            if self._tracked is not None and code >= 0:
                self._tracked.joined(code, int(self.table[code]))
            if number:
                self._change(code, number)

    def _start_over(self) -> None:
        size = self.fact.size
        if len(self.table) <= size:
            self.table = np.zeros(size + 1 + size // 4, dtype=np.int64)
        else:
            self.table[:] = 0
        self._row_codes = self._domains.all()
        self._tracked = None
        numbers = self._numbers
        if numbers:
            codes = self._row_codes[list(numbers)]
            counts = codes != NOWHERE
            np.add.at(self.table, codes[counts], np.array(list(numbers.values()), dtype=np.int64)[counts])
        self.not_zero = int(np.count_nonzero(self.table[:-1]))
        self.log.everything()

    def _tracking(self) -> _Tracked:
        if self._tracked is None:
            self._tracked = _Tracked(self.table, self._row_codes)
        return self._tracked

    def minimum(self) -> DomainMinimum:
        return self._tracking().minimum()

    def _changes_if(self, moves: Moves) -> list[tuple[int, int]]:
        """(old number, new number) of the domains that change."""
        by_code: dict[int, int] = {}
        for row, number in moves:
            code = int(self._row_codes[row])
            if code >= 0 and number:
                by_code[code] = by_code.get(code, 0) + number
        return [(old := int(self.table[code]), old + number) for code, number in by_code.items()]

    def minimum_if(self, moves: Moves) -> DomainMinimum:
        changes = self._changes_if(moves)
        return self._tracking().minimum_if(changes) if changes else self.minimum()

    def not_zero_if(self, moves: Moves) -> int:
        return self.not_zero + sum((new != 0) - (old != 0) for old, new in self._changes_if(moves))

    def number_of(self, row: int) -> int | None:
        """Of the row's domain; None without one."""
        code = int(self.fact.codes[row])
        return None if code < 0 else int(self.table[code])

    def gather(self, rows: Rows) -> DomainCounts:
        codes = self.fact.codes if rows is None else self.fact.codes[rows]
        if len(codes) + FEW_DOMAINS >= len(self.table):
            return DomainCounts(codes, self.table)
        # Only the domains of these rows; the last slot stays the one of rows without the key.
        table = np.empty(len(codes) + 1, dtype=np.int64)
        table[:-1] = self.table[codes]
        table[-1] = self.table[-1]
        places = np.arange(len(codes), dtype=np.int32)
        places[codes < 0] = ABSENT
        return DomainCounts(places, table)

    def gather_if(self, row: int, moves: Moves) -> DomainCounts:
        """Of this one row."""
        seen = int(self.fact.codes[row])
        there = int(self.table[seen])
        for moved, number in moves:
            if self._row_codes[moved] == seen:
                there += number
        # Two slots: for code 0 and for -1, the node without the key.
        return DomainCounts(np.array([min(seen, 0)], dtype=np.int32), np.array([there, there], dtype=np.int64))


Held = Callable[[], T | None]
"""A weak reference: who has the input has what it is read from, and that must not be a circle that only the garbage
collector breaks."""


def nothing_held() -> None:
    return None


class PodsInDomains:
    """Input: DomainCounts of the placed pods that a query counts."""

    def __init__(self, matched: MatchedPods, extent: Extent, domains: RowDomains) -> None:
        self._matched = matched
        self._extent = extent
        self._domains = domains
        self._changes = -1
        self._position = -1
        self._minimum: Held[Whole] = nothing_held
        self._any: Held[Whole] = nothing_held

    @remembered
    def _table(self) -> DomainTable:
        return DomainTable(self._extent, self._domains, Log())

    @property
    def axis(self) -> CodedFact:
        return self._domains.fact

    def refresh(self) -> DomainTable:
        matched, table = self._matched, self._table
        if self._changes == self._extent.changes:
            return table
        self._changes = self._extent.changes
        matched.refresh()
        if self._position != matched.log.version:
            entries = matched.log.since(self._position)
            self._position = matched.log.version
            if entries is None:
                table.reset(matched.rows)
            else:
                for row, number in entries:
                    table.add(row, number)
        table.follow_rows()
        return table

    @property
    def version(self) -> int:
        return self.refresh().log.version

    def changed_since(self, version: int) -> Rows:
        return rows_of_domains(self.refresh().log, version)

    def grouping(self) -> Grouping:
        fact = self._domains.fact
        return Grouping((fact,)) if fact.has_few_values else Grouping(numbered=True)

    def number_of(self, row: int) -> int:
        number = self._table.number_of(row)
        return NO_DOMAIN if number is None else number

    def numbers(self) -> NDArray[np.int64]:
        table = self.refresh()
        codes = table.fact.codes
        numbers = table.table.take(codes)
        numbers[codes < 0] = NO_DOMAIN
        return numbers

    def gather(self, rows: Rows) -> DomainCounts:
        return self.refresh().gather(rows)

    def gather_changed(self, change: PodChange) -> DomainCounts:
        return self.refresh().gather_if(change.row, self._matched.moves(change))

    def is_counted(self, pod: PodInfo) -> bool:
        return self._matched.is_counted(pod)

    def minimum(self) -> Input:
        found = self._minimum()
        if found is None:
            found = Whole(self._read_minimum, self._minimum_if, self._matched.is_counted)
            self._minimum = ref(found)
        return found

    def any(self) -> Input:
        found = self._any()
        if found is None:
            found = Whole(self._read_any, self._any_if, self._matched.is_counted)
            self._any = ref(found)
        return found

    def _read_minimum(self) -> DomainMinimum:
        return self.refresh().minimum()

    def _minimum_if(self, change: PodChange) -> DomainMinimum:
        return self.refresh().minimum_if(self._matched.moves(change))

    def _read_any(self) -> bool:
        self._matched.refresh()
        return bool(self._matched.rows) and self.refresh().not_zero > 0

    def _any_if(self, change: PodChange) -> bool:
        return self.refresh().not_zero_if(self._matched.moves(change)) > 0


class PodsOnNode:
    """Input: int64 per row, the pods on the node itself that a query counts."""

    def __init__(self, matched: MatchedPods, extent: Extent) -> None:
        self._matched = matched
        self._extent = extent

    @property
    def version(self) -> int:
        self._matched.refresh()
        return self._matched.log.version

    def changed_since(self, version: int) -> Rows:
        self._matched.refresh()
        entries = self._matched.log.since(version)
        if not entries:
            return None if entries is None else NO_ROWS
        rows = [entries[0][0]] if len(entries) == 1 else sorted({row for row, _ in entries})
        return np.array(rows, dtype=np.intp)

    def grouping(self) -> Grouping:
        return Grouping(numbered=True)

    def number_of(self, row: int) -> int:
        return self._matched.rows.get(row, 0)

    def numbers(self) -> NDArray[np.int64]:
        return self.gather(None)

    def gather(self, rows: Rows) -> NDArray[np.int64]:
        self._matched.refresh()
        counted = self._matched.rows
        if rows is not None:
            return np.array([counted.get(row, 0) for row in rows.tolist()], dtype=np.int64)
        values = np.zeros(self._extent.used, dtype=np.int64)
        if counted:
            values[list(counted)] = list(counted.values())
        return values

    def gather_changed(self, change: PodChange) -> NDArray[np.int64]:
        self._matched.refresh()
        return np.array([self.number_of(change.row) + self._matched.change(change)], dtype=np.int64)

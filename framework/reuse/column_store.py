"""ColumnStore: the columns of a profile, and what is made from them, shared by all classes of pods."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any, Final, TypeVar, cast
from weakref import WeakValueDictionary

from framework.columns import Sights, Snapshot, groupings
from framework.interface.columns import Input, Plan
from framework.reuse.plan_column import PlanColumn
from framework.reuse.state_column import StateColumn, States
from framework.reuse.work import Work

C = TypeVar("C", bound="PlanColumn | StateColumn")
T = TypeVar("T")

KEPT_BYTES: Final = 256 << 20
"""What the columns of a profile may take."""
BYTES_OF_ROW: Final = 16
"""Of a column: its values and the whole copy its history begins with."""
LEAST_KEPT: Final = 64
SEEN_ONCE: Final = 8192


class ColumnStore:
    """Columns by row are not kept when they are asked for the first time: it may be the last time."""

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

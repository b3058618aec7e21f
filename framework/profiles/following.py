"""What PostFilter plugins keep about nodes from one pod of a class to the next (``Handle.follow``)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from framework.columns import NO_ROWS, Incremental, Snapshot, union
from framework.interface.columns import Input, Rows
from framework.profiles.filter_entry import FilterEntry

T = TypeVar("T")


class Following(Incremental):
    """One value, the filters it was found with, and how far the snapshot was then."""

    __slots__ = ("_changed", "_entries", "_order", "_promised", "value")

    def __init__(self, snapshot: Snapshot, entries: Sequence[FilterEntry], value: Any) -> None:
        self.value = value
        self._entries = entries
        inputs: dict[Input, None] = {}
        for entry in entries:
            if entry.plan is not None:
                inputs.update(dict.fromkeys(entry.plan.inputs))
        super().__init__(snapshot.extent, (*inputs, snapshot.usage.log))
        self._changed: Rows = None
        """Since the last call."""
        self._order: object = None
        self._promised: NDArray[np.intp] = np.zeros(0, dtype=np.intp)

    def is_of(self, entries: Sequence[FilterEntry]) -> bool:
        return entries is self._entries

    def changed(self, snapshot: Snapshot, promised: Sequence[int]) -> Rows:
        """Rows whose answers, pods or promises may be others than at the last call; None for all."""
        if snapshot.order is not self._order:
            self._order = snapshot.order
            self.forget()
        self._changed = cast("Rows", NO_ROWS)
        self.refresh()
        rows: Rows = self._changed
        now = np.array(promised, dtype=np.intp)
        if rows is not None and (len(now) or len(self._promised)):
            rows = union((rows, now, self._promised))
        self._promised = now
        return rows

    def _make_all(self) -> None:
        self._changed = None

    def _make_some(self, rows: NDArray[np.intp]) -> None:
        self._changed = rows


class RowStates:
    """Names the state of a row, if filters look at nothing on it but amounts that pods add up to."""

    __slots__ = ("_amounts_only", "_fixed", "_promised", "_snapshot")

    def __init__(self, snapshot: Snapshot, entries: Sequence[FilterEntry], promised: Sequence[int]) -> None:
        self._snapshot = snapshot
        self._promised = frozenset(promised)
        moving = [entry for entry in entries if entry.plan is not None and entry.follows_pods]
        self._fixed = [entry.all_codes() for entry in entries if entry.plan is not None and not entry.follows_pods]
        self._amounts_only = all(entry.plan is not None for entry in entries) and all(
            hasattr(each, "code") for entry in moving if entry.plan is not None for each in entry.plan.inputs
        )

    def __call__(self, row: int) -> Hashable | None:
        if not self._amounts_only or row in self._promised or any(codes[row] for codes in self._fixed):
            return None
        info = self._snapshot.info_of_row(row)
        return None if info is None else self._snapshot.usage.code_of(row, info)


@dataclass(frozen=True, slots=True)
class FollowedRows(Generic[T]):
    value: T
    changed: Rows
    states: RowStates

    def state_of(self, row: int) -> Hashable | None:
        return self.states(row)

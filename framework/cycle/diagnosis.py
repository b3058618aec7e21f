"""Why a pod fits nowhere: a status per node, the plugins to blame, the message.

Rules: docs/semantics/framework.md#the-message.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.fit_error import counted_fit_error_message
from framework.interface.plugin import NodeStatuses
from framework.interface.status import SUCCESS, Code, Status
from framework.queue import Nomination
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED, FilterTrace, Recorded

ABSENT_BY_DEFAULT: Final = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


class NodeToStatus(NodeStatuses):
    """Statuses by position in the node list; distinct ones are kept once. Feasible nodes have none."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._absent = ABSENT_BY_DEFAULT
        self.trace = FilterTrace(snapshot.order_names, None)
        self._numbers: dict[Status, int] = {}
        self._counted: list[tuple[Status, int]] | None = None
        self.named: dict[str, Status] = {}
        """What extenders said, by names that need not be nodes'. It counts instead of what plugins said."""

    def __len__(self) -> int:
        explicit = self.trace.explicit
        return explicit + sum(self._verdict_of(name) <= FEASIBLE for name in self.named) if self.named else explicit

    def _position(self, name: str) -> int | None:
        if self._snapshot.get(name) is None:
            return None
        return int(self._snapshot.position_of_row[self._snapshot.row(name)])

    def _verdict_of(self, name: str) -> int:
        position = self._position(name)
        return NOT_EVALUATED if position is None else self.trace.at(position)

    def plugins_looked_again(self) -> None:
        """What they refused now was said after the extenders."""
        self.named = {name: status for name, status in self.named.items() if self._verdict_of(name) <= FEASIBLE}

    def _number(self, status: Status) -> int:
        if status.is_success:
            return FEASIBLE
        number = self._numbers.get(status)
        if number is None:
            number = self._numbers[status] = len(self.trace.verdicts)
            self.trace.verdicts.append(status)
        return number

    def set(self, position: int, status: Status) -> None:
        """A success leaves an earlier status of the node in place, as upstream's map does."""
        trace = self.trace
        if status is SUCCESS and trace.few is not None:
            trace.few.setdefault(position, FEASIBLE)
        elif not status.is_success or trace.at(position) == NOT_EVALUATED:
            trace.set(position, self._number(status))

    def set_many(self, positions: NDArray[np.intp], verdict: NDArray[np.int32], statuses: list[Status]) -> None:
        """``verdict`` holds indices into ``statuses``, of which the first is success."""
        numbers = np.array([self._number(status) for status in statuses], dtype=np.int32)
        mine = self.trace.verdict
        write = (verdict != FEASIBLE) | (mine[positions] == NOT_EVALUATED)
        mine[positions[write]] = numbers[verdict[write]]

    def set_all(
        self, statuses: list[Status], explicit: int, recorded: Recorded, counted: list[tuple[Status, int]] | None
    ) -> None:
        """Every node was looked at, and the answers are on record. ``counted``: statuses with numbers of nodes."""
        self.trace.record(statuses, explicit, recorded)
        self._counted = counted

    def set_absent(self, status: Status) -> None:
        self._absent = status

    def get(self, node_name: str) -> Status:
        if node_name in self.named:
            return self.named[node_name]
        number = self._verdict_of(node_name)
        return self.trace.verdicts[number] if number > FEASIBLE else self._absent

    def rows_with_unschedulable(self) -> NDArray[np.intp]:
        wanted = np.array([status.code is Code.UNSCHEDULABLE for status in self.trace.verdicts] + [False])
        verdict = self.trace.verdict[: len(self._snapshot.order)]
        chosen = wanted[verdict]
        if self._absent.code is Code.UNSCHEDULABLE:
            chosen = chosen | (verdict <= FEASIBLE)
        for name, status in self.named.items():
            position = self._position(name)
            if position is not None:
                chosen[position] = status.code is Code.UNSCHEDULABLE
        rows: NDArray[np.intp] = self._snapshot.order[chosen]
        return rows

    @property
    def absent_status(self) -> Status:
        return self._absent

    def counted(self) -> list[tuple[Status, int]]:
        """Explicit statuses with the number of nodes that have each."""
        if self._counted is not None and not self.named:
            return self._counted
        verdict = self.trace.verdict
        counts = np.bincount(verdict[verdict > FEASIBLE], minlength=len(self.trace.verdicts)).tolist()
        if self.named:
            for name in self.named:
                number = self._verdict_of(name)
                counts[number] -= number > FEASIBLE
            by_plugins = [(status, count) for status, count in zip(self.trace.verdicts, counts, strict=True) if count]
            return [*by_plugins, *((status, 1) for status in self.named.values())]
        return [(status, count) for status, count in zip(self.trace.verdicts, counts, strict=True) if count]


@dataclass(slots=True)
class Diagnosis:
    statuses: NodeToStatus
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    pre_filter_message: str = ""
    post_filter_message: str = ""

    def add_plugin_status(self, status: Status) -> None:
        if not status.plugin:
            return
        if status.is_rejected:
            self.unschedulable_plugins.add(status.plugin)
        if status.code is Code.PENDING:
            self.pending_plugins.add(status.plugin)

    def message(self, total_nodes: int) -> str:
        return counted_fit_error_message(
            total_nodes,
            self.statuses.counted(),
            self.statuses.absent_status,
            pre_filter_message=self.pre_filter_message,
            post_filter_message=self.post_filter_message,
        )


@dataclass(frozen=True, slots=True)
class FitError:
    """What the failure handler takes over from a diagnosis."""

    total_nodes: int
    unschedulable_plugins: frozenset[str]
    pending_plugins: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Failed:
    """An attempt that found no node, for the failure handler."""

    status: Status
    fit_error: FitError | None
    nomination: Nomination | None


def rejected_on_one_node(status: Status, plugins: frozenset[str], pending: frozenset[str]) -> tuple[Status, FitError]:
    """Reserve and Permit rejections are fit errors over the chosen node alone."""
    message = counted_fit_error_message(1, [(status, 1)])
    return Status(status.code, error=message), FitError(1, plugins, pending)

"""One Filter plugin of a profile, as it is asked about one class of pods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from framework.interface.columns import Plan
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo
from framework.interface.status import Status
from framework.objects import Pod
from framework.profiles.outcomes import error_text
from framework.profiles.plan_column import PlanColumn

PerNodeFilter = Callable[[CycleState, Pod, NodeInfo], Status | None]


class FilterEntry:
    """Either ``per_node``, or ``plan`` with its ``column``, or an ``error`` for every node."""

    __slots__ = ("_follows", "_statuses", "column", "error", "per_node", "plan", "plugin")

    def __init__(
        self,
        plugin: str,
        *,
        per_node: PerNodeFilter | None = None,
        plan: Plan | None = None,
        column: PlanColumn | None = None,
        error: Status | None = None,
    ) -> None:
        self.plugin = plugin
        self.per_node = per_node
        self.plan = plan
        self.column = column
        self.error = error
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
        column = self.column
        return column is not None and column.is_constant and not column.history.values[0]

    def all_codes(self) -> NDArray[Any]:
        """Verdict codes of all rows; for reading."""
        assert self.plan is not None
        assert self.column is not None
        return self.column.follow(self.plan).values

    def status(self, code: int) -> Status:
        found = self._statuses.get(code)
        if found is None:
            assert self.plan is not None
            reasons = self.plan.reasons
            reason = reasons(code) if callable(reasons) else reasons[code]
            found = self._statuses[code] = filter_status(self.plugin, Status(reason.code, tuple(reason.texts)))
        return found


def filter_status(plugin: str, status: Status) -> Status:
    """A code that Filter does not know is an error; both carry the plugin's name."""
    if status.is_success or status.is_rejected:
        return status if status.is_success else status.with_plugin(plugin)
    return Status.as_error(f'running "{plugin}" filter plugin: {error_text(status)}', plugin)

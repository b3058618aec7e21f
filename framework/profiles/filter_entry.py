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
from framework.profiles.node_plans import FilterNodePlans
from framework.profiles.outcomes import error_text
from framework.reuse.plan_column import PlanColumn

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

"""Plans for plugins that answer node by node and promise that an answer holds until its node changes.

The kernel calls the plugin for the rows it is given; what is kept, followed and compared is as with a plugin that
brings plans itself. All of it rests on the author's promise (``Plugin.node_local``, and ``Plugin.node_values``), which
``verify_reuse`` checks.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.columns import Plan
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import NodeInfo, PodInfo
from framework.interface.plugin import FilterPlugin, Plugin, ScorePlugin
from framework.interface.signature import exact_signature
from framework.interface.status import SUCCESS, Status
from framework.profiles.outcomes import answer, raised
from framework.reuse.columns import Work

NO_SCORE: Final = int(np.iinfo(np.int64).min)
"""Stands for a score that the plugin did not give."""
MOST_STATUSES: Final = 1024

Kernel = Callable[..., NDArray[Any]]
"""Of nodes, None for rows without one; the values that follow only say which rows have to be asked again."""


class TooManyStatuses(Exception):
    """A Filter plugin says something else about every node: then columns of numbers are of no use."""


class NodePlans(abc.ABC):
    """Of one plugin at one extension point."""

    def __init__(self, plugin: Plugin, work: Work) -> None:
        self._values, self._work = plugin.node_values, work

    def plan(self, pod: PodInfo, snapshot: Snapshot, *, kept: bool) -> Plan | None:
        """None: the plugin has to be asked about every node that is in question.

        ``kept``: more pods like this one came before. Of a pod that comes once, fewer nodes may be in question.
        """
        if not kept:
            return None
        inputs = (snapshot.whole_nodes(), *map(snapshot.node_values, self._values))
        return Plan(self._kernel(pod), inputs, constants=(exact_signature(pod),))

    @abc.abstractmethod
    def _kernel(self, pod: PodInfo) -> Kernel: ...


class FilterNodePlans(NodePlans):
    def __init__(self, plugin: FilterPlugin, work: Work) -> None:
        super().__init__(plugin, work)
        self._filter = plugin.filter
        self.statuses: list[Status] = [SUCCESS]
        """Verdict code → what the plugin said."""
        self._codes: dict[Status, int] = {}

    def plan(self, pod: PodInfo, snapshot: Snapshot, *, kept: bool) -> Plan | None:
        return super().plan(pod, snapshot, kept=kept) if self.is_valid() else None

    def is_valid(self) -> bool:
        """Whether plans that were made are still good."""
        return len(self.statuses) <= MOST_STATUSES

    def _kernel(self, pod: PodInfo) -> Kernel:
        """Raises TooManyStatuses."""
        state = CycleState()

        def kernel(nodes: Sequence[NodeInfo | None], *values: object) -> NDArray[np.int32]:
            self._work.node_calls += len(nodes)
            codes = np.zeros(len(nodes), dtype=np.int32)
            for place, node in enumerate(nodes):
                if node is None:
                    continue
                try:
                    status = answer(self._filter(state, pod.pod, node))
                except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                    status = raised(error)
                if not status.is_success:
                    codes[place] = self._code(status)
            return codes

        return kernel

    def _code(self, status: Status) -> int:
        code = self._codes.get(status)
        if code is None:
            if len(self.statuses) > MOST_STATUSES:
                raise TooManyStatuses
            code = self._codes[status] = len(self.statuses)
            self.statuses.append(status)
        return code


class ScoreNodePlans(NodePlans):
    def __init__(self, plugin: ScorePlugin, work: Work) -> None:
        super().__init__(plugin, work)
        self._score = plugin.score
        self._incomplete = False

    def lacks_one(self, scores: NDArray[np.int64], rows: Callable[[], NDArray[np.intp]]) -> bool:
        """Whether one of ``rows`` has no score; what the plugin says instead is worth asking it again."""
        return self._incomplete and bool((scores[rows()] == NO_SCORE).any())

    def _kernel(self, pod: PodInfo) -> Kernel:
        state = CycleState()

        def kernel(nodes: Sequence[NodeInfo | None], *values: object) -> NDArray[np.int64]:
            self._work.node_calls += len(nodes)
            scores = np.zeros(len(nodes), dtype=np.int64)
            for place, node in enumerate(nodes):
                if node is None:
                    continue
                try:
                    score, status = self._score(state, pod.pod, node)
                except Exception:  # noqa: BLE001 - a plugin may raise anything
                    score, status = NO_SCORE, None
                fits = type(score) is int and NO_SCORE < score <= -(NO_SCORE + 1)
                if not fits or not answer(status).is_success:
                    score = NO_SCORE
                    self._incomplete = True
                scores[place] = score
            return scores

        return kernel

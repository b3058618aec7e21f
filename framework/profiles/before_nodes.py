"""PreFilter and PreScore: what plugins say to a pod before they are asked about nodes.

Rules: docs/semantics/framework.md#extension-points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.plugin import PreFilterPlugin, PreFilterResult, PreScorePlugin
from framework.interface.status import SKIP, SUCCESS, Code, Status
from framework.profiles.outcomes import Repeated, error_text, raised
from framework.profiles.pod_class import PreFilterAnswer
from framework.trace.attempt import AttemptTrace, PluginOutcome, PreFilterOutcome

NOBODY: Final[frozenset[str]] = frozenset()
EVERY_NODE: Final = PreFilterResult()


class PreFilterPoint:
    """The PreFilter plugins of a profile, in order. Outcomes that are usual are made once."""

    __slots__ = ("_passing", "_plugins", "_said", "_skipping")

    def __init__(self, plugins: Sequence[PreFilterPlugin]) -> None:
        self._plugins = tuple((plugin.name, plugin.pre_filter) for plugin in plugins)
        self._passing = {plugin.name: PreFilterOutcome(plugin.name, SUCCESS, None) for plugin in plugins}
        self._skipping = {plugin.name: PreFilterOutcome(plugin.name, SKIP, None) for plugin in plugins}
        self._said = Repeated[PreFilterOutcome]()

    def ask(self, state: CycleState, pod: PodInfo, view: Snapshot, trace: AttemptTrace) -> PreFilterAnswer:
        """Writes outcomes to ``trace`` and whom Filter leaves out to ``state``."""
        outcomes: list[PreFilterOutcome] = []
        skipped: list[str] = []
        try:
            return self._ask(state, pod, view, outcomes, skipped)
        finally:
            trace.pre_filter = self._said.shared(outcomes)
            state.skip_filter = frozenset(skipped)

    def _ask(
        self, state: CycleState, pod: PodInfo, view: Snapshot, outcomes: list[PreFilterOutcome], skipped: list[str]
    ) -> PreFilterAnswer:
        limiting: set[str] = set()
        names: frozenset[str] | None = None
        remembered = SUCCESS
        for plugin, pre_filter in self._plugins:
            try:
                result, status = pre_filter(state, pod, view)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                result, status = None, raised(error)
            if result is None:
                if status is None or status is SUCCESS:
                    outcomes.append(self._passing[plugin])
                    continue
                if status is SKIP:
                    outcomes.append(self._skipping[plugin])
                    skipped.append(plugin)
                    continue
            elif status is None:
                status = SUCCESS
            only = None if result is None else result.node_names
            outcomes.append(PreFilterOutcome(plugin, status, None if only is None else tuple(sorted(only))))
            if status.code is Code.SKIP:
                skipped.append(plugin)
                continue
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                # Node lists given so far are forgotten (docs/semantics/framework.md#node-lists-of-prefilter).
                return PreFilterAnswer(EVERY_NODE, status.with_plugin(plugin), NOBODY)
            if status.code is Code.UNSCHEDULABLE:
                remembered = status.with_plugin(plugin)
                continue
            if not status.is_success:
                # Pending too (docs/semantics/framework.md#extension-points).
                text = f'running PreFilter plugin "{plugin}": {error_text(status)}'
                return PreFilterAnswer(EVERY_NODE, Status.as_error(text, plugin), NOBODY)
            if only is not None:
                limiting.add(plugin)
                names = only if names is None else names & only
                if not names:
                    return PreFilterAnswer(PreFilterResult(names), _nothing_left(limiting), frozenset(limiting))
        return PreFilterAnswer(EVERY_NODE if names is None else PreFilterResult(names), remembered, frozenset(limiting))


def _nothing_left(limiting: set[str]) -> Status:
    """Upstream's texts for an empty intersection; the status has no plugin of its own.

    Rules: docs/semantics/framework.md#node-lists-of-prefilter.
    """
    names = sorted(limiting)
    if len(names) == 1:
        return Status.unresolvable(f"node(s) didn't satisfy plugin {names[0]}")
    return Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(names)}] simultaneously")


class PreScorePoint:
    """The same of PreScore."""

    __slots__ = ("_passing", "_plugins", "_said", "_skipping")

    def __init__(self, plugins: Sequence[PreScorePlugin]) -> None:
        self._plugins = tuple((plugin.name, plugin.pre_score) for plugin in plugins)
        self._passing = {plugin.name: PluginOutcome(plugin.name, SUCCESS) for plugin in plugins}
        self._skipping = {plugin.name: PluginOutcome(plugin.name, SKIP) for plugin in plugins}
        self._said = Repeated[PluginOutcome]()

    def ask(
        self, state: CycleState, pod: PodInfo, view: Snapshot, feasible: NDArray[np.intp], trace: AttemptTrace
    ) -> Status:
        outcomes: list[PluginOutcome] = []
        skipped: list[str] = []
        result = SUCCESS
        for plugin, pre_score in self._plugins:
            try:
                status = pre_score(state, pod, view, feasible)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                status = raised(error)
            if status is None or status is SUCCESS:
                outcomes.append(self._passing[plugin])
            elif status is SKIP:
                outcomes.append(self._skipping[plugin])
                skipped.append(plugin)
            else:
                outcomes.append(PluginOutcome(plugin, status))
                if status.code is Code.SKIP:
                    skipped.append(plugin)
                elif not status.is_success:
                    result = Status.as_error(f'running PreScore plugin "{plugin}": {error_text(status)}')
                    break
        trace.pre_score = self._said.shared(outcomes)
        state.skip_score = frozenset(skipped)
        return result

"""Filtering: which nodes can take a pod, as far as its profile is asked: PreFilter, and the plugins of Filter.

Rules: docs/semantics/framework.md#extension-points.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from framework.interface import plugin as points
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.plugin import PreFilterResult
from framework.interface.status import SKIP, SUCCESS, Code, Status
from framework.profiles.build import EnabledPlugins
from framework.profiles.filter_run import AsTheyAre, FilterRun, asked_by_node
from framework.profiles.node_plans import FilterNodePlans, TooManyStatuses
from framework.profiles.outcomes import SharedOutcomes, error_text, raised
from framework.profiles.pod_class import FilterMemo, PodClass, PreFilterAnswer
from framework.profiles.services import Services
from framework.profiles.verdicts import FilterEntry, shared_verdicts
from framework.reuse.columns import ColumnStore
from framework.reuse.pod_classes import Dependencies, PodClasses, WrittenState
from framework.trace.attempt import AttemptTrace, PreFilterOutcome

NOBODY: Final[frozenset[str]] = frozenset()
EVERY_NODE: Final = PreFilterResult()


class Filtering:
    def __init__(
        self, enabled: EnabledPlugins, services: Services, classes: PodClasses[PodClass], columns: ColumnStore
    ) -> None:
        self._enabled = enabled
        self._services = services
        self._snapshot = services.snapshot
        self._classes = classes
        self._columns = columns
        self._pre_filter = tuple((each.name, each.pre_filter) for each in enabled.pre_filter)
        # Outcomes that are usual are made once.
        self._passing = {each.name: PreFilterOutcome(each.name, SUCCESS, None) for each in enabled.pre_filter}
        self._skipping = {each.name: PreFilterOutcome(each.name, SKIP, None) for each in enabled.pre_filter}
        self._outcomes = SharedOutcomes[PreFilterOutcome]()
        self._nominated: Callable[[str], Sequence[PodInfo]] | None = None
        """Of the queue, which is made after the profiles."""
        self._filter = tuple((each.name, each) for each in enabled.filter)
        self._plans = {
            each.name: each.filter_plan
            for each in enabled.filter
            if isinstance(each, points.ColumnFilterPlugin) and points.filters_columns(each)
        }
        self._node_plans = {
            each.name: FilterNodePlans(each, columns.work)
            for each in enabled.filter
            if isinstance(each, points.FilterPlugin)
            and each.is_node_local
            and each.name not in self._plans
            and services.reuse == "used"
        }

    # --- PreFilter --------------------------------------------------------------------------------------------------

    def run_pre_filter(
        self, state: CycleState, pod: PodInfo, trace: AttemptTrace, pod_class: PodClass | None = None
    ) -> PreFilterAnswer:
        """``pod_class`` None: asked for something else than this pod's cycle."""
        if pod_class is None:
            return self._ask_pre_filter(state, pod, trace)
        memo = pod_class.filter_memo
        revision = self._services.objects.others_revision
        if memo is not None and pod_class.reuses_filter and memo.dependencies.unchanged(revision):
            memo.written.restore(state)
            state.skip_filter = memo.skipped
            trace.pre_filter = memo.outcomes
            return memo.answer
        answered = self._ask_pre_filter(state, pod, trace)
        inputs, _ = state.take_grounds()
        dependencies = Dependencies(revision, inputs)
        # Also when it must not be used again: Filter of this attempt goes on with it.
        written = WrittenState(state.snapshot())
        pod_class.filter_memo = FilterMemo(dependencies, answered, trace.pre_filter, state.skip_filter, written)
        return answered

    def _ask_pre_filter(self, state: CycleState, pod: PodInfo, trace: AttemptTrace) -> PreFilterAnswer:
        """Writes outcomes to ``trace`` and whom Filter leaves out to ``state``."""
        outcomes: list[PreFilterOutcome] = []
        skipped: list[str] = []
        try:
            return self._ask_in_order(state, pod, outcomes, skipped)
        finally:
            trace.pre_filter = self._outcomes.shared(outcomes)
            state.skip_filter = frozenset(skipped)

    def _ask_in_order(
        self, state: CycleState, pod: PodInfo, outcomes: list[PreFilterOutcome], skipped: list[str]
    ) -> PreFilterAnswer:
        limiting: set[str] = set()
        names: frozenset[str] | None = None
        remembered = SUCCESS
        for plugin, pre_filter in self._pre_filter:
            try:
                result, status = pre_filter(state, pod, self._snapshot)
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

    # --- Filter -----------------------------------------------------------------------------------------------------

    def make_run(self, state: CycleState, pod: PodInfo, pod_class: PodClass | None = None) -> FilterRun:
        snapshot = self._snapshot
        memo = None if pod_class is None else pod_class.filter_memo
        if memo is None or memo.entries is None or (memo.local and not _follow_local(memo.local)):
            per_node = None
            entries = self._followed_entries(state, pod, kept=pod_class is not None and pod_class.kept)
            extensions = self._extensions(state)
            verdicts = shared_verdicts(self._columns, snapshot, entries)
            if memo is not None and not self._classes.is_fleeting(pod_class):
                memo.entries, memo.extensions, memo.written = entries, extensions, WrittenState(state.snapshot())
                memo.local = tuple([entry for entry in entries if entry.local is not None])
                memo.verdicts, memo.per_node, memo.nodes = verdicts, asked_by_node(entries), -1
        else:
            assert memo.verdicts is not None
            entries, extensions, verdicts, per_node = memo.entries, memo.extensions, memo.verdicts, memo.per_node
        if (nominated := self._nominated) is None:
            nominated = self._nominated = self._services.ready_queue.nominated_pods_for_node
        work = self._columns.work
        return FilterRun(entries, extensions, state, pod, snapshot, nominated, verdicts, work, pod_class, per_node)

    def known_answers(self, pod_class: PodClass) -> AsTheyAre | None:
        """What the plugins say of nodes without nominated pods, where an earlier pod of the class has their columns.

        None where they were not asked before, or some plugin is asked node by node.
        """
        memo = pod_class.filter_memo
        if memo is None or memo.entries is None or memo.local or memo.per_node:
            return None
        nodes = self._snapshot.nodes_log.version
        if memo.nodes != nodes:
            memo.nodes = nodes
            memo.objecting = tuple([entry for entry in memo.entries if not _passes_as_long_as_nodes_stay(entry)])
        return AsTheyAre(memo.objecting, self._snapshot)

    def _followed_entries(self, state: CycleState, pod: PodInfo, *, kept: bool) -> tuple[FilterEntry, ...]:
        """With the answers of plugins whose plans were made for them up to date."""
        while True:
            entries = self.entries(state, pod, kept=kept)
            if _follow_local(entries):
                return entries

    def entries(self, state: CycleState, pod: PodInfo, *, kept: bool) -> tuple[FilterEntry, ...]:
        """``kept``: the pod's class is."""
        entries: list[FilterEntry] = []
        for plugin, each in self._filter:
            if plugin in state.skip_filter:
                continue
            make_plan = self._plans.get(plugin)
            if make_plan is None:
                assert isinstance(each, points.FilterPlugin)
                entries.append(self._per_node_entry(each, pod, kept=kept))
                continue
            self._columns.work.plans += 1
            try:
                plan = make_plan(state, pod, self._snapshot)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                text = f'running "{plugin}" filter plugin: {error_text(raised(error))}'
                entries.append(FilterEntry(plugin, error=Status.as_error(text, plugin)))
                continue
            if plan is not None:
                column = self._columns.by_row(("filter", plugin), plan)
                entries.append(FilterEntry(plugin, plan=plan, column=column))
        return tuple(entries)

    def _per_node_entry(self, plugin: points.FilterPlugin, pod: PodInfo, *, kept: bool) -> FilterEntry:
        local = self._node_plans.get(plugin.name)
        plan = None if local is None else local.plan(pod, self._snapshot, kept=kept)
        if plan is None:
            return FilterEntry(plugin.name, per_node=plugin.filter)
        column = self._columns.by_row(("filter", plugin.name), plan)
        return FilterEntry(plugin.name, per_node=plugin.filter, plan=plan, column=column, local=local)

    def _extensions(self, state: CycleState) -> tuple[tuple[str, points.PreFilterExtensions], ...]:
        return tuple(
            (each.name, extension)
            for each in self._enabled.pre_filter
            if each.name not in state.skip_filter and (extension := each.pre_filter_extensions()) is not None
        )


def _passes_as_long_as_nodes_stay(entry: FilterEntry) -> bool:
    column = entry.column
    return column is not None and column.is_of_nodes and column.follow().limits == (0, 0)


def _nothing_left(limiting: set[str]) -> Status:
    """Upstream's texts for an empty intersection; the status has no plugin of its own.

    Rules: docs/semantics/framework.md#node-lists-of-prefilter.
    """
    names = sorted(limiting)
    if len(names) == 1:
        return Status.unresolvable(f"node(s) didn't satisfy plugin {names[0]}")
    return Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(names)}] simultaneously")


def _follow_local(entries: Sequence[FilterEntry]) -> bool:
    """Brings answers of plugins whose plans were made for them up to date; False: the plans are no longer good."""
    for entry in entries:
        if entry.local is None:
            continue
        assert entry.column is not None
        if not entry.local.is_valid():
            return False
        try:
            entry.column.follow()
        except TooManyStatuses:
            return False
    return True

"""Profile: the plugins of one scheduler name, and how each extension point runs them.

Rules: docs/semantics/framework.md#extension-points.

What the loops need is prepared when the profile is built: per point a tuple of names and bound methods. A point returns
the framework's Status and notes what every plugin said in the attempt's trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from framework.configuration.effective import EffectiveProfile
from framework.interface import plugin as points
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.plugin import NodeStatuses, PostFilterResult
from framework.interface.status import SKIP, SUCCESS, Code, Status
from framework.objects import Pod
from framework.profiles.before_nodes import PreFilterPoint, PreScorePoint
from framework.profiles.build import EnabledPlugins, ask_for_events
from framework.profiles.feasible import FeasibleNodes
from framework.profiles.filter_entry import FilterEntry
from framework.profiles.filter_run import FilterRun
from framework.profiles.handle import ProfileHandle
from framework.profiles.node_plans import FilterNodePlans, ScoreNodePlans, TooManyStatuses
from framework.profiles.outcomes import Repeated, answer, error_text, raised
from framework.profiles.pod_class import FilterMemo, PodClass, PreFilterAnswer, ScoreMemo
from framework.profiles.post_filter_outcome import PostFilterOutcomes
from framework.profiles.score_part import ScorePart, ScorePoint
from framework.profiles.score_run import Scored, complete, score_nodes, score_parts
from framework.profiles.services import Services
from framework.profiles.verdicts import shared_verdicts
from framework.queue import HintMap, build_hint_map
from framework.reuse.column_store import ColumnStore
from framework.reuse.grounds import Grounds, Written
from framework.reuse.pod_classes import PodClasses
from framework.reuse.sums import totals_type
from framework.trace.attempt import AttemptTrace, PluginOutcome


class Profile:
    def __init__(
        self,
        effective: EffectiveProfile,
        plugins: dict[str, points.Plugin],
        handle: ProfileHandle,
        services: Services,
    ) -> None:
        self.name = effective.scheduler_name
        self._effective = effective
        self.percentage_of_nodes_to_score = effective.percentage_of_nodes_to_score
        self.plugins = plugins
        self.handle = handle
        self._services = services
        self.prepare()

    def prepare(self) -> None:
        """Everything that follows from the plugins; also after unpickling, when all of them are there again."""
        effective = self._effective
        on = EnabledPlugins(effective, self.plugins)
        self.hints = HintMap(())
        self.queue_sort = on.of("queueSort", points.QueueSortPlugin)[0]
        self.pre_enqueue = tuple(on.of("preEnqueue", points.PreEnqueuePlugin))
        self.pre_filter = tuple((p.name, p) for p in on.of("preFilter", points.PreFilterPlugin))
        self._pre_filter_point = PreFilterPoint([plugin for _, plugin in self.pre_filter])
        self.filter = tuple((p.name, p) for p in on.listed("filter"))
        self._filter_plans = {
            name: each.filter_plan
            for name, each in self.filter
            if isinstance(each, points.ColumnFilterPlugin) and not isinstance(each, points.FilterPlugin)
        }
        self.post_filter = tuple((p.name, p.post_filter) for p in on.of("postFilter", points.PostFilterPlugin))
        self._pre_score_point = PreScorePoint(list(on.of("preScore", points.PreScorePlugin)))
        self.reserve = tuple((p.name, p.reserve, p.unreserve) for p in on.of("reserve", points.ReservePlugin))
        self.deciding = tuple(
            (p.name, p.decisions)
            for p in on.of("reserve", points.ReservePlugin)
            if type(p).decisions is not points.ReservePlugin.decisions
        )
        """Reserve plugins that decide about claims."""
        self.permit = tuple((p.name, p) for p in on.of("permit", points.PermitPlugin))
        self.pre_bind = tuple((p.name, p) for p in on.of("preBind", points.PreBindPlugin))
        self.bind = tuple((p.name, p.bind) for p in on.of("bind", points.BindPlugin))
        self.post_bind = tuple((p.name, p.post_bind) for p in on.of("postBind", points.PostBindPlugin))
        planned = [p for p in on.listed("filter") if isinstance(p, points.ColumnFilterPlugin)]
        scored = [p for p in on.listed("score") if isinstance(p, points.ColumnScorePlugin)]
        filtering = [*on.of("preFilter", points.PreFilterPlugin), *planned]
        scoring = [*on.of("preScore", points.PreScorePlugin), *scored]
        reading = tuple(dict.fromkeys((*filtering, *scoring)))
        """Plugins whose fragments tell classes of pods apart."""
        make_class = partial(
            PodClass,
            frozenset(number for number, each in enumerate(reading) if each in filtering),
            frozenset(number for number, each in enumerate(reading) if each in scoring),
        )
        snapshot, keeps = self._services.snapshot, self._services.reuse == "used"
        self.columns = ColumnStore(snapshot, keeps=keeps)
        fragments = [each.fragment for each in reading]
        self.classes = PodClasses(fragments, snapshot, self.columns, make_class, keeps=keeps)
        self.totals_type = totals_type(sum(abs(effective.weights.get(each.name, 1)) for each in on.listed("score")))
        self._local_filters = {
            name: FilterNodePlans(each, self.columns.work)
            for name, each in self.filter
            if isinstance(each, points.FilterPlugin) and self._keeps_by_node(each)
        }
        self.score = tuple(self._score_point(p, effective.weights.get(p.name, 1)) for p in on.listed("score"))
        generate = on.of("placementGenerate", points.PlacementGeneratePlugin)
        self.placement_generate = (generate[0].name, generate[0]) if generate else None
        weights = {plugin.name: plugin.weight or 1 for plugin in effective.point("placementScore").plugins}
        self.placement_score = tuple(
            (p.name, p, weights[p.name]) for p in on.of("placementScore", points.PlacementScorePlugin)
        )
        self.asking_plugins = frozenset(name for name, each in self.permit if each.asks_a_person)
        """Permit plugins that wait for a person."""
        rejecting = (*self.pre_filter, *self.filter, *((p.name, p) for p in on.listed("postFilter")))
        self.repeatable = all(plugin.repeatable for _, plugin in rejecting)
        """Whether a failed attempt rests on nothing but snapshot, pod and objects."""
        self.announces_node = self.handle.feature_gates.enabled("NominatedNodeNameForExpectation")
        """The gate: PreBindPreFlight is asked, and where the pod is about to go is written to its status."""
        self._post_filter_outcomes = PostFilterOutcomes()
        self._final_skips = frozenset(plugin.name for plugin in self.plugins.values() if plugin.skip_is_final)
        self._reserving = frozenset(name for name, _, _ in self.reserve)
        self._idle_reserve = tuple(PluginOutcome(name, SUCCESS) for name, _, _ in self.reserve)
        self.pre_binding = frozenset(name for name, _ in self.pre_bind)
        self.idle_pre_flight = tuple(PluginOutcome(name, SKIP) for name, _ in self.pre_bind)
        self._said_reserve = Repeated[PluginOutcome]()
        self.said_pre_flight = Repeated[PluginOutcome]()
        self.said_pre_bind = Repeated[PluginOutcome]()
        self.said_bind = Repeated[PluginOutcome]()
        self.handle.make_filter_run = self.make_filter_run

    def __getstate__(self) -> dict[str, Any]:
        """The plugins with what they remember; bound methods and hints are prepared again by ``Scheduler``."""
        kept = ("name", "_effective", "percentage_of_nodes_to_score", "plugins", "handle", "_services")
        return {name: self.__dict__[name] for name in kept}

    def _keeps_by_node(self, plugin: points.Plugin) -> bool:
        return plugin.node_local and self._services.reuse == "used"

    def _score_point(self, plugin: points.Plugin, weight: int) -> ScorePoint:
        normalizer = plugin if isinstance(plugin, points.NormalizeScore) else None
        bounds = normalizer if isinstance(normalizer, points.BoundsNormalizer) else None
        if isinstance(plugin, points.ScorePlugin):
            local = ScoreNodePlans(plugin, self.columns.work) if self._keeps_by_node(plugin) else None
            return ScorePoint(plugin.name, weight, plugin.score, None, normalizer, bounds, local)
        assert isinstance(plugin, points.ColumnScorePlugin)
        return ScorePoint(plugin.name, weight, None, plugin.score_plan, normalizer, bounds)

    def ask_for_events(self) -> None:
        """Separate from construction: upstream asks when all profiles stand. Raises ProfileError."""
        self.hints = build_hint_map(ask_for_events(self.plugins))

    # --- PreFilter --------------------------------------------------------------------------------------------------

    def run_pre_filter(
        self, state: CycleState, pod: PodInfo, trace: AttemptTrace, pod_class: PodClass | None = None
    ) -> PreFilterAnswer:
        """``pod_class`` None: asked for something else than this pod's cycle."""
        if pod_class is None:
            return self._pre_filter_point.ask(state, pod, self._services.snapshot, trace)
        memo = pod_class.filter_memo
        if memo is not None and pod_class.reuses_filter and memo.grounds.stand(self._services.objects.others_revision):
            memo.written.restore(state)
            state.skip_filter = memo.skipped
            trace.pre_filter = memo.outcomes
            return memo.answer
        answered = self._pre_filter_point.ask(state, pod, self._services.snapshot, trace)
        inputs, _ = state.take_grounds()
        grounds = Grounds(self._services.objects.others_revision, inputs)
        # Also when it must not be used again: Filter of this attempt goes on with it.
        written = Written(state.snapshot())
        pod_class.filter_memo = FilterMemo(grounds, answered, trace.pre_filter, state.skip_filter, written)
        return answered

    # --- Filter -----------------------------------------------------------------------------------------------------

    def make_filter_run(self, state: CycleState, pod: PodInfo, pod_class: PodClass | None = None) -> FilterRun:
        snapshot, queue = self._services.snapshot, self._services.ready_queue
        memo = None if pod_class is None else pod_class.filter_memo
        if memo is None or memo.entries is None or not _follow_local(memo.local):
            entries = self._followed_entries(state, pod, kept=pod_class is not None and pod_class.kept)
            extensions = self._extensions(state)
            verdicts = shared_verdicts(self.columns, snapshot, entries)
            if memo is not None and not self.classes.is_fleeting(pod_class):
                memo.entries, memo.extensions, memo.written = entries, extensions, Written(state.snapshot())
                memo.local = tuple([entry for entry in entries if entry.local is not None])
                memo.verdicts = verdicts
        else:
            assert memo.verdicts is not None
            entries, extensions, verdicts = memo.entries, memo.extensions, memo.verdicts
        nominated = queue.nominated_pods_for_node
        return FilterRun(entries, extensions, state, pod, snapshot, nominated, verdicts, self.columns.work, pod_class)

    def _followed_entries(self, state: CycleState, pod: PodInfo, *, kept: bool) -> tuple[FilterEntry, ...]:
        """With the answers of plugins whose plans were made for them up to date."""
        while True:
            entries = self.filter_entries(state, pod, kept=kept)
            if _follow_local(entries):
                return entries

    def filter_entries(self, state: CycleState, pod: PodInfo, *, kept: bool) -> tuple[FilterEntry, ...]:
        """``kept``: the pod's class is."""
        entries: list[FilterEntry] = []
        for plugin, each in self.filter:
            if plugin in state.skip_filter:
                continue
            make_plan = self._filter_plans.get(plugin)
            if make_plan is None:
                assert isinstance(each, points.FilterPlugin)
                entries.append(self._per_node_entry(each, pod, kept=kept))
                continue
            self.columns.work.plans += 1
            try:
                plan = make_plan(state, pod, self._services.snapshot)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                text = f'running "{plugin}" filter plugin: {error_text(raised(error))}'
                entries.append(FilterEntry(plugin, error=Status.as_error(text, plugin)))
                continue
            if plan is not None:
                column = self.columns.by_row(("filter", plugin), plan)
                entries.append(FilterEntry(plugin, plan=plan, column=column))
        return tuple(entries)

    def _per_node_entry(self, plugin: points.FilterPlugin, pod: PodInfo, *, kept: bool) -> FilterEntry:
        local = self._local_filters.get(plugin.name)
        plan = None if local is None else local.plan(pod, self._services.snapshot, kept=kept)
        if plan is None:
            return FilterEntry(plugin.name, per_node=plugin.filter)
        column = self.columns.by_row(("filter", plugin.name), plan)
        return FilterEntry(plugin.name, per_node=plugin.filter, plan=plan, column=column, local=local)

    def _extensions(self, state: CycleState) -> tuple[tuple[str, points.PreFilterExtensions], ...]:
        return tuple(
            (plugin, extension)
            for plugin, each in self.pre_filter
            if plugin not in state.skip_filter and (extension := each.pre_filter_extensions()) is not None
        )

    # --- PostFilter -------------------------------------------------------------------------------------------------

    def run_post_filter(
        self, state: CycleState, pod: PodInfo, statuses: NodeStatuses, trace: AttemptTrace
    ) -> tuple[PostFilterResult | None, Status]:
        """Success, UnschedulableAndUnresolvable and Error end it and drop what came before; the others add up."""
        if state.skip_post_filter:
            return None, Status.unschedulable("All PostFilter plugins are skipped")
        result: PostFilterResult | None = None
        reasons: tuple[str, ...] = ()
        rejector = ""
        for plugin, post_filter in self.post_filter:
            try:
                given, said = post_filter(state, pod, statuses)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                given, said = None, raised(error)
            status = answer(said)
            trace.post_filter = (*trace.post_filter, self._post_filter_outcomes.of(plugin, status, given))
            if status.is_success:
                return given, status
            if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return given, status.with_plugin(plugin)
            if not status.is_rejected:
                # Skip and Wait crash the real scheduler; here they are an error of this pod
                # (docs/semantics/framework.md#extension-points).
                return None, Status.as_error(error_text(status), plugin)
            if given is not None and given.nominated_node is not None:
                result = given
            reasons += status.all_reasons
            rejector = rejector or plugin
        return result, Status(Code.UNSCHEDULABLE, reasons, rejector)

    # --- PreScore, Score --------------------------------------------------------------------------------------------

    def run_pre_score(self, state: CycleState, pod: PodInfo, found: FeasibleNodes, trace: AttemptTrace) -> Status:
        pod_class = found.pod_class
        memo = pod_class.score_memo
        revision = self._services.objects.others_revision
        if memo is not None and pod_class.reuses_score and memo.grounds.stand(revision, found.token):
            memo.written.restore(state)
            state.skip_score = memo.skipped
            trace.pre_score = memo.outcomes
            return SUCCESS
        if self.classes.is_fleeting(pod_class):
            result = self.ask_pre_score(state, pod, found.rows, trace)
            state.take_grounds()
            return result
        before = state.snapshot()
        result = self.ask_pre_score(state, pod, found.rows, trace)
        inputs, feasible = state.take_grounds()
        pod_class.score_memo = None
        if result.is_success:
            after = state.snapshot()
            written = {key: value for key, value in after.items() if before.get(key) is not value}
            grounds = Grounds(revision, inputs, found.token if feasible else None)
            pod_class.score_memo = ScoreMemo(grounds, trace.pre_score, state.skip_score, Written(written))
        return result

    def ask_pre_score(self, state: CycleState, pod: PodInfo, feasible: NDArray[np.intp], trace: AttemptTrace) -> Status:
        return self._pre_score_point.ask(state, pod, self._services.snapshot, feasible, trace)

    def run_score(self, state: CycleState, pod: PodInfo, found: FeasibleNodes) -> Scored | Status:
        memo = found.pod_class.score_memo
        if memo is None or memo.parts is None:
            parts = self.score_parts(state, pod, kept=found.pod_class.kept)
            local = any([part.point.local is not None for part in parts])  # noqa: C419 (half of the time)
            if memo is not None:
                memo.parts, memo.local = parts, local
        else:
            parts, local = memo.parts, memo.local
        return self.run_score_by(complete(parts, found) if local else parts, state, pod, found)

    def run_score_by(
        self, parts: Sequence[ScorePart], state: CycleState, pod: PodInfo, found: FeasibleNodes
    ) -> Scored | Status:
        return score_nodes(parts, state, pod, self._services.snapshot, found, self.columns, self.totals_type)

    def score_parts(self, state: CycleState, pod: PodInfo, *, kept: bool) -> list[ScorePart]:
        """``kept``: the pod's class is."""
        wanted = [point for point in self.score if point.plugin not in state.skip_score]
        return score_parts(wanted, state, pod, self._services.snapshot, self.columns, kept=kept)

    # --- Reserve, Permit --------------------------------------------------------------------------------------------

    def run_reserve(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> Status:
        """SUCCESS itself, or what ends the attempt."""
        idle = self.idle(state)
        if self._reserving <= idle:
            trace.reserve = self._idle_reserve
            return SUCCESS
        status = self._ask_reserve(state, pod, node_name, trace, idle)
        if not status.is_success:
            return status
        for plugin, decisions in self.deciding:
            if plugin in idle:
                continue
            try:
                trace.decisions += decisions(state, pod, node_name)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                return Status.as_error(f'running Reserve plugin "{plugin}": {error_text(raised(error))}')
        return SUCCESS

    def idle(self, state: CycleState) -> frozenset[str]:
        """Plugins that this pod need not be brought to any more (``Plugin.skip_is_final``)."""
        return state.skip_filter & self._final_skips

    def _ask_reserve(
        self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace, idle: frozenset[str]
    ) -> Status:
        outcomes: list[PluginOutcome] = []
        try:
            for plugin, reserve, _ in self.reserve:
                status = SUCCESS
                if plugin not in idle:
                    try:
                        status = answer(reserve(state, pod, node_name))
                    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                        status = raised(error)
                outcomes.append(PluginOutcome(plugin, status))
                if status is SUCCESS:
                    continue
                if status.is_rejected:
                    return status.with_plugin(plugin)
                if not status.is_success:
                    return Status.as_error(f'running Reserve plugin "{plugin}": {error_text(status)}')
            return SUCCESS
        finally:
            trace.reserve = self._said_reserve.shared(outcomes)

    def run_unreserve(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> None:
        """All Reserve plugins in reverse order, whichever failed and also those that never reserved."""
        for plugin, _, unreserve in reversed(self.reserve):
            note = plugin
            try:
                unreserve(state, pod, node_name)
            except Exception as error:  # noqa: BLE001 - the others must still be asked to clean up
                note = f"{plugin}: {error_text(raised(error))}"
            trace.unreserve = (*trace.unreserve, note)


def _follow_local(entries: Sequence[FilterEntry]) -> bool:
    """Brings answers of plugins whose plans were made for them up to date; False: the plans are no longer good."""
    for entry in entries:
        if entry.local is None:
            continue
        assert entry.column is not None
        if not entry.local.stands():
            return False
        try:
            entry.column.follow()
        except TooManyStatuses:
            return False
    return True

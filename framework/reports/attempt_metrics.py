"""What one attempt adds to the metrics, read from its trace. Rules: docs/semantics/log.md#metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from framework.interface.plugin import NormalizeScore
from framework.interface.status import Code, Status
from framework.objects.timestamps import SECOND
from framework.profiles.batch import EMPTY_LIST, NOT_BATCHABLE, HintTold, KeptTold
from framework.profiles.build import EnabledPlugins
from framework.reports.log_entries import PREEMPTION
from framework.reports.metric_families import Registry
from framework.trace.attempt import FEASIBLE, NOT_EVALUATED, AttemptTrace, FilterTrace, PostFilterOutcome

_POINT: Final = "framework_extension_point_duration_seconds"
_PLUGIN: Final = "plugin_execution_duration_seconds"
_EVALUATED: Final = "plugin_evaluation_total"
_SUCCESS: Final = Code.SUCCESS.name_
_SKIP: Final = Code.SKIP.name_
_MOST_HELD: Final = 256
NO_HINT, USED, NOT_USED = "no_hint", "hint_used", "hint_not_used"
Batching = Literal["off", "never", "sometimes"]
"""Of a profile: the gate is off, or extenders are there; no pod of it is ever signed; equal pods are batched."""


class _Plugins:
    """The names that are needed of a profile's plugins."""

    __slots__ = ("filter", "is_batched", "normalizing")

    def __init__(self, enabled: EnabledPlugins, *, is_batched: bool) -> None:
        self.filter = tuple(plugin.name for plugin in enabled.filter)
        self.normalizing = frozenset(plugin.name for plugin in enabled.score if isinstance(plugin, NormalizeScore))
        self.is_batched = is_batched


class AttemptMetrics:
    def __init__(self, registry: Registry) -> None:
        self.asynchronous = True
        """Whether evictions are done by goroutines of their own."""
        self._registry = registry
        self._profiles: dict[str, _Plugins] = {}
        self._held: dict[tuple[int, str, str], tuple[Sequence[Any], list[int]]] = {}
        """What plugins said, which attempts share, with how often they did; by its place in memory."""
        self._batching: dict[str, Batching] = {}
        self._hinted: set[int] = set()
        """Cycles in which batching was asked, until their attempt is told."""
        self._waiting: set[int] = set()
        """Cycles of pods that wait on Permit."""

    def configured(self, profile: str, enabled: EnabledPlugins, batching: Batching) -> None:
        self._profiles[profile] = _Plugins(enabled, is_batched=batching == "never")
        self._batching[profile] = batching
        # Upstream makes these series when it makes the profile.
        for point, plugins in (
            ("PreFilter", enabled.pre_filter),
            ("Filter", enabled.filter),
            ("PreScore", enabled.pre_score),
            ("Score", enabled.score),
        ):
            for plugin in plugins:
                self._registry.add(_EVALUATED, (point, plugin.name, profile), 0)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Checkpoints of before know whether no pod is signed, and of no hint."""
        self.__dict__.update({"_batching": {}, "_hinted": set()} | state)

    def rejected(self, profile: str, plugins: Iterable[str]) -> None:
        """Their gauge is there from now on."""
        for plugin in plugins:
            self._registry.add("unschedulable_pods", (plugin, profile), 0)

    def tell(self, trace: AttemptTrace, nominated: str) -> None:
        """``nominated``: the node that the pod was nominated on when it was popped."""
        if trace.wait_on_permit is None and trace.cycle not in self._waiting:
            self._scheduling(trace, nominated)
        if trace.result == "waiting":
            self._waiting.add(trace.cycle)
            return
        self._waiting.discard(trace.cycle)
        if trace.selected:
            self._binding(trace)
        if trace.result in ("bound", "failed"):
            self._ended(trace)

    # --- up to the node -----------------------------------------------------------------------------------------------

    def _scheduling(self, trace: AttemptTrace, nominated: str) -> None:
        registry, profile = self._registry, trace.profile
        registry.observe("scheduling_algorithm_duration_seconds")
        if trace.nodes_total == 0:
            return
        self._hold("PreFilter", profile, trace.pre_filter)
        if trace.filter is None:
            status = trace.pre_filter_status or trace.status
            registry.observe(_POINT, ("PreFilter", profile, _SUCCESS if status is None else status.code.name_))
        else:
            registry.observe(_POINT, ("PreFilter", profile, _SUCCESS))
            self._filter(trace, trace.filter, nominated)
        if trace.post_filter:
            self._post_filter(trace)
        if trace.pre_score:
            self._hold("PreScore", profile, trace.pre_score)
            failed = [each.status for each in trace.pre_score if not _passes(each.status)]
            registry.observe(_POINT, ("PreScore", profile, failed[0].code.name_ if failed else _SUCCESS))
        self._score(trace)
        self._batch(trace)
        self._placed(trace)

    def _filter(self, trace: AttemptTrace, searched: FilterTrace, nominated: str) -> None:
        registry, profile = self._registry, trace.profile
        plugins = self._profiles.get(profile)
        if any(each.plugin == "InterPodAffinity" for each in trace.pre_filter):
            self._runs("InterPodAffinity")
        if plugins is None:
            return
        counts = searched.counts()
        skipped = {each.plugin for each in trace.pre_filter if each.status.code is Code.SKIP}
        asked = [name for name in plugins.filter if name not in skipped]
        self._passes(profile, asked, trace.more_passes)
        for outcome in trace.post_filter:
            if outcome.dry_runs is not None:
                self._passes(profile, asked, outcome.dry_runs.passes)
        found = zip(counts, searched.verdicts, strict=True)
        is_broken = any(count and status.code is Code.ERROR for count, status in found)
        registry.observe(_POINT, ("Filter", profile, Code.ERROR.name_ if is_broken else _SUCCESS))
        if trace.nominated_node_used is None:
            self._runs("Filter")
            if nominated and nominated in searched.nodes:
                # It was looked at alone, in vain, before all were.
                registry.observe(_POINT, ("Filter", profile, _SUCCESS))
                index = int(searched.verdict[searched.nodes.index(nominated)])
                if index != NOT_EVALUATED:
                    counts[index] += 1
        left = sum(counts)
        refused: dict[str, dict[str, int]] = {}
        for count, status in zip(counts[FEASIBLE + 1 :], searched.verdicts[FEASIBLE + 1 :], strict=True):
            if count:
                by_code = refused.setdefault(status.plugin, {})
                by_code[status.code.name_] = by_code.get(status.code.name_, 0) + count
        for name in asked:
            if not left:
                break
            registry.add(_EVALUATED, ("Filter", name, profile), left)
            for code, count in refused.get(name, {}).items():
                registry.observe(_PLUGIN, ("Filter", name, code), 0.0, count)
                left -= count
            if left:
                registry.observe(_PLUGIN, ("Filter", name, _SUCCESS), 0.0, left)

    def _passes(self, profile: str, asked: Sequence[str], passes: Iterable[tuple[str, str, int]]) -> None:
        """``asked`` in their order, up to the one that refused."""
        registry = self._registry
        for refusing, code, times in passes:
            for name in asked if times else ():
                registry.add(_EVALUATED, ("Filter", name, profile), times)
                said = code if name == refusing else _SUCCESS
                registry.observe(_PLUGIN, ("Filter", name, said), 0.0, times)
                if name == refusing:
                    break

    def _post_filter(self, trace: AttemptTrace) -> None:
        registry = self._registry
        codes = [each.status.code for each in trace.post_filter]
        merged = next((code for code in codes if code not in (Code.UNSCHEDULABLE, Code.SKIP)), Code.UNSCHEDULABLE)
        registry.observe(_POINT, ("PostFilter", trace.profile, merged.name_))
        for outcome in trace.post_filter:
            registry.observe(_PLUGIN, ("PostFilter", outcome.plugin, outcome.status.code.name_))
            if outcome.plugin == PREEMPTION:
                self._preemption(outcome)

    def _preemption(self, outcome: PostFilterOutcome) -> None:
        registry = self._registry
        registry.add("preemption_attempts_total")
        if outcome.candidates or outcome.refused or outcome.not_tried:
            self._runs(PREEMPTION)
        if not outcome.victims:
            return
        registry.observe("preemption_victims", (), len(outcome.victims))
        if self.asynchronous:
            # Upstream reads label and duration when the goroutine begins: always a success that took no time.
            registry.observe("preemption_goroutines_duration_seconds", ("success",))
            registry.add("preemption_goroutines_execution_total", ("success",))

    def _score(self, trace: AttemptTrace) -> None:
        scores, plugins = trace.scores, self._profiles.get(trace.profile)
        if scores is None or plugins is None:
            return
        registry, profile = self._registry, trace.profile
        self._runs("Score")
        registry.observe(_POINT, ("Score", profile, _SUCCESS))
        names = [each.plugin for each in scores.recorded_plugins] or [each.plugin for each in scores.plugins]
        for name in names:
            registry.add(_EVALUATED, ("Score", name, profile), scores.places)
            registry.observe(_PLUGIN, ("Score", name, _SUCCESS), 0.0, scores.places)
            if name in plugins.normalizing:
                registry.observe(_PLUGIN, ("ScoreExtensionNormalize", name, _SUCCESS))

    def batched(self, told: HintTold | KeptTold) -> None:
        registry, profile = self._registry, told.profile
        if isinstance(told, HintTold):
            self._hinted.add(told.cycle)
            self._asked_for_a_hint(profile, has_one=bool(told.hint))
        else:
            registry.observe("store_schedule_results_duration_seconds", (profile,))
            if told.hint:
                registry.add("batch_attempts_total", (profile, USED if told.hint == told.chosen else NOT_USED))
        if told.unusable:
            registry.add("batch_cache_flushed_total", (profile, told.unusable))

    def _asked_for_a_hint(self, profile: str, *, has_one: bool) -> None:
        hinted = "hint" if has_one else NO_HINT
        self._registry.observe("get_node_hint_duration_seconds", (hinted, profile))
        if not has_one:
            self._registry.add("batch_attempts_total", (profile, NO_HINT))

    def _batch(self, trace: AttemptTrace) -> None:
        plugins, was_told = self._profiles.get(trace.profile), trace.cycle in self._hinted
        self._hinted.discard(trace.cycle)
        if plugins is None or trace.filter is None or was_told:
            return
        batching = self._batching.get(trace.profile, "never" if plugins.is_batched else "off")
        if batching == "off":
            return
        # Of a profile that batches this is an attempt that was repeated: batching was not asked again.
        self._asked_for_a_hint(trace.profile, has_one=False)
        if batching == "never" and trace.selected:
            registry, profile = self._registry, trace.profile
            registry.observe("store_schedule_results_duration_seconds", (profile,))
            reason = EMPTY_LIST if trace.feasible_nodes < 2 else NOT_BATCHABLE
            registry.add("batch_cache_flushed_total", (profile, reason))

    # --- from the node on ---------------------------------------------------------------------------------------------

    def _placed(self, trace: AttemptTrace) -> None:
        if not trace.selected:
            return
        registry, profile = self._registry, trace.profile
        self._hold("Reserve", profile, trace.reserve)
        failed = [each.status for each in trace.reserve if not each.status.is_success]
        registry.observe(_POINT, ("Reserve", profile, failed[0].code.name_ if failed else _SUCCESS))
        if failed:
            return
        for each in trace.permit:
            registry.observe(_PLUGIN, ("Permit", each.plugin, each.status.code.name_))
        said = [each.status.code for each in trace.permit if not each.status.is_success]
        refused = [code for code in said if code is not Code.WAIT]
        registry.observe(_POINT, ("Permit", profile, (refused or said or [Code.SUCCESS])[0].name_))

    def _binding(self, trace: AttemptTrace) -> None:
        registry, profile = self._registry, trace.profile
        began = trace.result == "bound" or bool(trace.bind or trace.bound_by or trace.pre_bind)
        if trace.pre_bind_pre_flight or began:
            self._runs("binding")
            self._hold("PreBindPreFlight", profile, trace.pre_bind_pre_flight)
            codes = [each.status.code for each in trace.pre_bind_pre_flight if each.status.code is not Code.SKIP]
            registry.observe(_POINT, ("PreBindPreFlight", profile, codes[-1].name_ if codes else _SKIP))
        if began:
            self._hold("PreBind", profile, trace.pre_bind)
            failed = [each.status.code for each in trace.pre_bind if not each.status.is_success]
            registry.observe(_POINT, ("PreBind", profile, failed[0].name_ if failed else _SUCCESS))
        if trace.bind:
            self._hold("Bind", profile, trace.bind)
            registry.observe(_POINT, ("Bind", profile, trace.bind[-1].status.code.name_))
        if trace.result == "bound":
            registry.observe(_POINT, ("PostBind", profile, _SUCCESS))
            for note in trace.post_bind:
                registry.observe(_PLUGIN, ("PostBind", note.partition(":")[0], _SUCCESS))
        else:
            registry.observe(_POINT, ("Unreserve", profile, _SUCCESS))
            for note in trace.unreserve:
                registry.observe(_PLUGIN, ("Unreserve", note.partition(":")[0], _SUCCESS))

    def _ended(self, trace: AttemptTrace) -> None:
        registry = self._registry
        result = "scheduled"
        if trace.result == "failed":
            result = "unschedulable" if trace.reason == "Unschedulable" else "error"
            self.rejected(trace.profile, (*trace.unschedulable_plugins, *trace.pending_plugins))
        registry.add("schedule_attempts_total", (trace.profile, result))
        took = (trace.finished_at - trace.at) / SECOND
        registry.observe("scheduling_attempt_duration_seconds", (trace.profile, result), took)

    # --- what plugins said --------------------------------------------------------------------------------------------

    def _runs(self, operation: str) -> None:
        self._registry.add("goroutines", (operation,), 0)

    def _hold(self, point: str, profile: str, outcomes: Sequence[Any]) -> None:
        """``outcomes`` name a plugin and its status. Attempts share them, so they are added up later."""
        if not outcomes:
            return
        held = self._held.get((id(outcomes), point, profile))
        if held is not None:
            held[1][0] += 1
            return
        if len(self._held) >= _MOST_HELD:
            self.fold()
        self._held[id(outcomes), point, profile] = outcomes, [1]

    def fold(self) -> None:
        """Adds up what is held."""
        registry = self._registry
        for (_, point, profile), (outcomes, (times,)) in self._held.items():
            for each in outcomes:
                code = each.status.code
                registry.observe(_PLUGIN, (point, each.plugin, code.name_), 0.0, times)
                if code is not Code.SKIP and point in ("PreFilter", "PreScore"):
                    registry.add(_EVALUATED, (point, each.plugin, profile), times)
        self._held.clear()


def _passes(status: Status) -> bool:
    return status.is_success or status.code is Code.SKIP

"""Binding: the points after a node was chosen: Reserve, Permit, PreBindPreFlight, PreBind, Bind, PostBind.

Rules: docs/semantics/framework.md#extension-points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.interface.cycle_state import CycleState
from framework.interface.plugin import PreBindPlugin, ReservePlugin, StillBinding
from framework.interface.status import SKIP, SUCCESS, Code, Status
from framework.objects import Pod
from framework.objects.timestamps import SECOND
from framework.profiles.build import EnabledPlugins
from framework.profiles.outcomes import MOST_USUAL, SharedOutcomes, answer, error_text, raised
from framework.profiles.waiting_pods import MAX_TIMEOUT
from framework.trace.attempt import AttemptTrace, PermitOutcome, PluginOutcome

WAITED_ON: Final = "one or more plugins asked to wait and no plugin rejected pod"


@dataclass(frozen=True, slots=True)
class PermitAnswer:
    status: Status
    waits: Mapping[str, int]
    """Plugin → nanoseconds; only with Code.WAIT."""


PERMITTED: Final = PermitAnswer(SUCCESS, {})


@dataclass(frozen=True, slots=True)
class PreBindWait:
    """A PreBind plugin that waits, and until when; the plugins after it have yet to run."""

    plugin: str
    deadline: int
    asks_a_person: bool = False


class Binding:
    """What a profile's plugins do at these points."""

    def __init__(self, enabled: EnabledPlugins, final_skips: frozenset[str], *, announces_node: bool) -> None:
        """``final_skips``: plugins with ``Plugin.skip_is_final``."""
        self.announces_node = announces_node
        """The gate NominatedNodeNameForExpectation: PreBindPreFlight is asked, and where the pod is about to go is
        written to its status."""
        self._final_skips = final_skips
        self._reserve = tuple((each.name, each.reserve, each.unreserve) for each in enabled.reserve)
        self._deciding = tuple(
            (each.name, each.decisions)
            for each in enabled.reserve
            if type(each).decisions is not ReservePlugin.decisions
        )
        """Reserve plugins that decide about claims."""
        self._reserving = frozenset(each.name for each in enabled.reserve)
        self._idle_reserve = tuple(PluginOutcome(each.name, SUCCESS) for each in enabled.reserve)
        self._permit = tuple((each.name, each) for each in enabled.permit)
        self._pre_bind_plugins = tuple((each.name, each) for each in enabled.pre_bind)
        self._pre_binding = frozenset(each.name for each in enabled.pre_bind)
        self._idle_pre_flight = tuple(PluginOutcome(each.name, SKIP) for each in enabled.pre_bind)
        self._bind = tuple((each.name, each.bind) for each in enabled.bind)
        self._post_bind = tuple((each.name, each.post_bind) for each in enabled.post_bind)
        self._bound_at_once = {each.name: (PluginOutcome(each.name, SUCCESS),) for each in enabled.bind[:1]}
        """What is on record when the first plugin binds the pod."""
        self._idle_of: dict[frozenset[str], tuple[frozenset[str], bool, bool]] = {}
        """Plugins that PreFilter skipped → (those that the pod need not be brought to, whether these are all of
        Reserve, and of PreBind)."""
        self._reserve_outcomes = SharedOutcomes[PluginOutcome]()
        self._pre_flight_outcomes = SharedOutcomes[PluginOutcome]()
        self._pre_bind_outcomes = SharedOutcomes[PluginOutcome]()
        self._bind_outcomes = SharedOutcomes[PluginOutcome]()

    def reserve(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> Status:
        """SUCCESS itself, or what ends the attempt."""
        idle, all_reserving, _ = self._idle_of.get(state.skip_filter) or self._find_idle(state)
        if all_reserving:
            trace.reserve = self._idle_reserve
            return SUCCESS
        status = self._ask_reserve(state, pod, node_name, trace, idle)
        if not status.is_success:
            return status
        for plugin, decisions in self._deciding:
            if plugin in idle:
                continue
            try:
                trace.decisions += decisions(state, pod, node_name)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                return Status.as_error(f'running Reserve plugin "{plugin}": {error_text(raised(error))}')
        return SUCCESS

    def idle(self, state: CycleState) -> frozenset[str]:
        """Plugins that this pod need not be brought to any more (``Plugin.skip_is_final``)."""
        return (self._idle_of.get(state.skip_filter) or self._find_idle(state))[0]

    def _find_idle(self, state: CycleState) -> tuple[frozenset[str], bool, bool]:
        if len(self._idle_of) >= MOST_USUAL:
            self._idle_of.clear()
        idle = state.skip_filter & self._final_skips
        found = self._idle_of[state.skip_filter] = (idle, self._reserving <= idle, self._pre_binding <= idle)
        return found

    def _ask_reserve(
        self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace, idle: frozenset[str]
    ) -> Status:
        outcomes: list[PluginOutcome] = []
        try:
            for plugin, reserve, _ in self._reserve:
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
            trace.reserve = self._reserve_outcomes.shared(outcomes)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> None:
        """All Reserve plugins in reverse order, whichever failed and also those that never reserved."""
        for plugin, _, unreserve in reversed(self._reserve):
            note = plugin
            try:
                unreserve(state, pod, node_name)
            except Exception as error:  # noqa: BLE001 - the others must still be asked to clean up
                note = f"{plugin}: {error_text(raised(error))}"
            trace.unreserve = (*trace.unreserve, note)

    def permit(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> PermitAnswer:
        waits: dict[str, int] = {}
        waiting: Status | None = None
        for plugin, each in self._permit:
            try:
                answered, timeout = each.permit(state, pod, node_name)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                answered, timeout = raised(error), 0.0
            status = answer(answered)
            outcome = PermitOutcome(plugin, status, timeout if status.code is Code.WAIT else 0.0)
            trace.permit = (*trace.permit, outcome)
            if status.is_success:
                continue
            if status.is_rejected:
                return PermitAnswer(status.with_plugin(plugin), {})
            if status.code is not Code.WAIT:
                text = f'running Permit plugin "{plugin}": {error_text(status)}'
                return PermitAnswer(Status.as_error(text, plugin), {})
            waits[plugin] = min(round(timeout * SECOND), MAX_TIMEOUT)
            waiting = status
        if waiting is None:
            return PERMITTED
        return PermitAnswer(Status(Code.WAIT, (*waiting.reasons, WAITED_ON), waiting.plugin), waits)

    def pre_bind_pre_flights(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> Status:
        """Success when some plugin will work in PreBind, Skip when none will; a rejection here is an error."""
        idle, _, all_pre_binding = self._idle_of.get(state.skip_filter) or self._find_idle(state)
        if all_pre_binding:
            state.skip_pre_bind = self._pre_binding
            trace.pre_bind_pre_flight = self._idle_pre_flight
            return SKIP
        result = SKIP
        skipped: list[str] = []
        outcomes: list[PluginOutcome] = []
        for plugin, each in self._pre_bind_plugins:
            status = SKIP
            if plugin not in idle:
                try:
                    status = answer(each.pre_bind_pre_flight(state, pod, node_name)[0])
                except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                    status = raised(error)
            outcomes.append(PluginOutcome(plugin, status))
            if status.code is Code.SKIP:
                skipped.append(plugin)
            elif status.is_success:
                result = SUCCESS
            else:
                result = Status.as_error(_refused(plugin, status))
                break
        else:
            state.skip_pre_bind = frozenset(skipped)
        trace.pre_bind_pre_flight = self._pre_flight_outcomes.shared(outcomes)
        return result

    def pre_bind(
        self,
        state: CycleState,
        pod: Pod,
        node_name: str,
        trace: AttemptTrace,
        now: int,
        waited: PreBindWait | None = None,
    ) -> Status | PreBindWait:
        """In configured order. Upstream's parallel groups differ from that only in time; the first failure ends it.

        ``waited``: goes on where an earlier call had to stop.
        """
        skipped = state.skip_pre_bind
        if waited is None and (skipped is self._pre_binding or self._pre_binding <= skipped):
            return SUCCESS
        outcomes = list(trace.pre_bind)
        result = self._pre_bind(state, pod, node_name, outcomes, now, waited)
        trace.pre_bind = self._pre_bind_outcomes.shared(outcomes)
        return result

    def _pre_bind(
        self,
        state: CycleState,
        pod: Pod,
        node_name: str,
        outcomes: list[PluginOutcome],
        now: int,
        waited: PreBindWait | None,
    ) -> Status | PreBindWait:
        idle = self.idle(state)
        for plugin, each in self._remaining(waited):
            if plugin in state.skip_pre_bind:
                continue
            status = SUCCESS
            if plugin not in idle:
                try:
                    answered: Status | StillBinding | None
                    if waited is not None and waited.plugin == plugin:
                        answered = each.pre_bind_again(state, pod, node_name, timed_out=now >= waited.deadline)
                        if answered is None:
                            return waited
                    else:
                        answered = each.pre_bind(state, pod, node_name)
                    if isinstance(answered, StillBinding):
                        return PreBindWait(plugin, now + answered.timeout, answered.asks_a_person)
                    status = answer(answered)
                except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                    status = raised(error)
            outcomes.append(PluginOutcome(plugin, status))
            if status.is_rejected:
                return status.with_plugin(plugin)
            if not status.is_success:
                return Status.as_error(f'running PreBind plugin "{plugin}": {error_text(status)}')
        return SUCCESS

    def _remaining(self, waited: PreBindWait | None) -> tuple[tuple[str, PreBindPlugin], ...]:
        if waited is None:
            return self._pre_bind_plugins
        names = [name for name, _ in self._pre_bind_plugins]
        return self._pre_bind_plugins[names.index(waited.plugin) :] if waited.plugin in names else ()

    def bind(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> Status:
        """The first plugin that does not skip decides; all skipping is a failure without error, in the words of the
        last plugin (docs/semantics/framework.md#binding-cycle)."""
        status = SKIP
        outcomes: list[PluginOutcome] = []
        for plugin, bind in self._bind:
            try:
                said = bind(state, pod, node_name)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                status = raised(error)
            else:
                status = SUCCESS if said is None else said
            if status is SUCCESS and not outcomes:
                trace.bind = self._bound_at_once[plugin]
                return SUCCESS
            outcomes.append(PluginOutcome(plugin, status))
            if status.code is not Code.SKIP:
                break
        trace.bind = self._bind_outcomes.shared(outcomes)
        if status is SUCCESS or status.code is Code.SKIP:
            return status
        if status.is_success:
            return SUCCESS
        if status.is_rejected:
            return status.with_plugin(plugin)
        return Status.as_error(f'running Bind plugin "{plugin}": {error_text(status)}')

    def post_bind(self, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> None:
        for plugin, post_bind in self._post_bind:
            note = plugin
            try:
                post_bind(state, pod, node_name)
            except Exception as error:  # noqa: BLE001 - the pod is bound, nothing can be undone
                note = f"{plugin}: {error_text(raised(error))}"
            trace.post_bind = (*trace.post_bind, note)


def _refused(plugin: str, status: Status) -> str:
    if status.code is Code.ERROR:
        return f'running PreBindPreFlight "{plugin}": {error_text(status)}'
    return (
        f'PreBindPreFlight {plugin} returned "{status.code.name_}", which is unsupported. '
        "It is supposed to return Success, Skip, or Error status"
    )

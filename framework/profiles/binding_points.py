"""The points around binding: Permit, PreBindPreFlight, PreBind, Bind, PostBind.

Rules: docs/semantics/framework.md#extension-points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.interface.cycle_state import CycleState
from framework.interface.plugin import PreBindPlugin, StillBinding
from framework.interface.status import SKIP, SUCCESS, Code, Status
from framework.objects import Pod
from framework.objects.timestamps import SECOND
from framework.profiles.outcomes import answer, error_text, raised
from framework.profiles.profile import Profile
from framework.profiles.waiting_pods import MAX_TIMEOUT
from framework.trace.attempt import AttemptTrace, PermitOutcome, PluginOutcome

WAITED_ON: Final = "one or more plugins asked to wait and no plugin rejected pod"


@dataclass(frozen=True, slots=True)
class PermitAnswer:
    status: Status
    waits: Mapping[str, int]
    """Plugin → nanoseconds; only with Code.WAIT."""


_PERMITTED: Final = PermitAnswer(SUCCESS, {})


def run_permit(profile: Profile, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> PermitAnswer:
    waits: dict[str, int] = {}
    waiting: Status | None = None
    for plugin, each in profile.permit:
        try:
            said, timeout = each.permit(state, pod, node_name)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            said, timeout = raised(error), 0.0
        status = answer(said)
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
        return _PERMITTED
    return PermitAnswer(Status(Code.WAIT, (*waiting.reasons, WAITED_ON), waiting.plugin), waits)


def run_pre_bind_pre_flights(
    profile: Profile, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace
) -> Status:
    """Success when some plugin will work in PreBind, Skip when none will; a rejection here is an error."""
    idle = profile.idle(state)
    if profile.pre_binding <= idle:
        state.skip_pre_bind = profile.pre_binding
        trace.pre_bind_pre_flight = profile.idle_pre_flight
        return SKIP
    result = SKIP
    skipped: list[str] = []
    outcomes: list[PluginOutcome] = []
    for plugin, each in profile.pre_bind:
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
    trace.pre_bind_pre_flight = profile.said_pre_flight.shared(outcomes)
    return result


def _refused(plugin: str, status: Status) -> str:
    if status.code is Code.ERROR:
        return f'running PreBindPreFlight "{plugin}": {error_text(status)}'
    return (
        f'PreBindPreFlight {plugin} returned "{status.code.name_}", which is unsupported. '
        "It is supposed to return Success, Skip, or Error status"
    )


@dataclass(frozen=True, slots=True)
class PreBindWait:
    """A PreBind plugin that waits, and until when; the plugins after it have yet to run."""

    plugin: str
    deadline: int
    asks_a_person: bool = False


def run_pre_bind(
    profile: Profile,
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
    if waited is None and profile.pre_binding <= state.skip_pre_bind:
        return SUCCESS
    outcomes = list(trace.pre_bind)
    result = _pre_bind(profile, state, pod, node_name, outcomes, now, waited)
    trace.pre_bind = profile.said_pre_bind.shared(outcomes)
    return result


def _pre_bind(
    profile: Profile,
    state: CycleState,
    pod: Pod,
    node_name: str,
    outcomes: list[PluginOutcome],
    now: int,
    waited: PreBindWait | None,
) -> Status | PreBindWait:
    idle = profile.idle(state)
    for plugin, each in _remaining(profile, waited):
        if plugin in state.skip_pre_bind:
            continue
        status = SUCCESS
        if plugin not in idle:
            try:
                said: Status | StillBinding | None
                if waited is not None and waited.plugin == plugin:
                    said = each.pre_bind_again(state, pod, node_name, timed_out=now >= waited.deadline)
                    if said is None:
                        return waited
                else:
                    said = each.pre_bind(state, pod, node_name)
                if isinstance(said, StillBinding):
                    return PreBindWait(plugin, now + said.timeout, said.asks_a_person)
                status = answer(said)
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                status = raised(error)
        outcomes.append(PluginOutcome(plugin, status))
        if status.is_rejected:
            return status.with_plugin(plugin)
        if not status.is_success:
            return Status.as_error(f'running PreBind plugin "{plugin}": {error_text(status)}')
    return SUCCESS


def _remaining(profile: Profile, waited: PreBindWait | None) -> tuple[tuple[str, PreBindPlugin], ...]:
    if waited is None:
        return profile.pre_bind
    names = [name for name, _ in profile.pre_bind]
    return profile.pre_bind[names.index(waited.plugin) :] if waited.plugin in names else ()


def run_bind(profile: Profile, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> Status:
    """The first plugin that does not skip decides; all skipping is a failure without error, in the words of the last
    plugin (docs/semantics/framework.md#binding-cycle)."""
    status = SKIP
    outcomes: list[PluginOutcome] = []
    for plugin, bind in profile.bind:
        try:
            status = answer(bind(state, pod, node_name))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            status = raised(error)
        outcomes.append(PluginOutcome(plugin, status))
        if status.code is not Code.SKIP:
            break
    trace.bind = profile.said_bind.shared(outcomes)
    if status is SUCCESS or status.code is Code.SKIP:
        return status
    if status.is_success:
        return SUCCESS
    if status.is_rejected:
        return status.with_plugin(plugin)
    return Status.as_error(f'running Bind plugin "{plugin}": {error_text(status)}')


def run_post_bind(profile: Profile, state: CycleState, pod: Pod, node_name: str, trace: AttemptTrace) -> None:
    for plugin, post_bind in profile.post_bind:
        note = plugin
        try:
            post_bind(state, pod, node_name)
        except Exception as error:  # noqa: BLE001 - the pod is bound, nothing can be undone
            note = f"{plugin}: {error_text(raised(error))}"
        trace.post_bind = (*trace.post_bind, note)

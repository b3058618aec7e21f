"""The binding cycle of an assumed pod (docs/semantics/framework.md#binding-cycle).

start → PreBindPreFlight → [waiting on Permit] → PreBind [waiting for controllers] → Bind → PostBind. Between two steps
it is plain data, so that a waiting pod survives a checkpoint; ``run`` goes on from where it stands.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

from framework.cache import CacheError
from framework.cycle.activation import activate_stashed
from framework.cycle.core import SchedulingCore
from framework.cycle.diagnosis import FitError, rejected_on_one_node
from framework.cycle.extending import binding_of
from framework.cycle.failure import handle_failure
from framework.extenders import Answer, Request
from framework.interface.cycle_state import CycleState
from framework.interface.handle import Unanswered
from framework.interface.node_info import PodInfo
from framework.interface.status import SUCCESS, Code, Status
from framework.objects import Pod
from framework.profiles import Profile, WaitingPod
from framework.profiles.binding import PreBindWait
from framework.profiles.outcomes import error_text
from framework.queue import CLEAR_NOMINATION, Nomination, QueuedPodInfo
from framework.queue.changes import POD_DELETE
from framework.trace.attempt import AttemptTrace

Said = TypeVar("Said")
ASKING: Final = Status(Code.WAIT)
"""Stands for the answer of an extender that has yet to come."""


class Phase(enum.Enum):
    START = "start"
    WAITING = "waiting on Permit"
    BINDING = "binding"
    """From PreBind on, also while a plugin waits there for controllers to do their part."""
    ASKING = "asking an extender"
    """PreBind is done; Bind begins, or an extender that binds has yet to answer."""
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class BindingCycle:
    profile_name: str
    state: CycleState
    queued: QueuedPodInfo
    assumed: PodInfo
    node_name: str
    trace: AttemptTrace
    phase: Phase = Phase.START
    waiting: WaitingPod | None = None
    will_pre_bind: bool = False
    pre_bind_wait: PreBindWait | None = None
    request: Request | None = None
    """What was asked of the extender in ``asked``, while it has not answered."""
    asked: int = 0
    answer: Answer | None = None

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        """A checkpoint from before there were extenders has asked none."""
        self.request, self.asked, self.answer = None, 0, None
        for name, value in state[1].items():
            setattr(self, name, value)

    @property
    def pod(self) -> Pod:
        return self.assumed.pod

    def run(self, core: SchedulingCore) -> Generator[str, None, None]:
        """To the end, or until it has to wait for a signal on Permit."""
        # A configuration without this profile may have been switched to meanwhile; the scheduler refuses that.
        profile = core.profiles[self.profile_name]
        pod, node_name, trace, state = self.assumed.pod, self.node_name, self.trace, self.state
        uid = self.assumed.uid
        if self.phase is Phase.START:
            # Without the gate nobody asks, and all PreBind plugins run (docs/semantics/framework.md#binding-cycle).
            if profile.binding.announces_node:
                status = profile.binding.pre_bind_pre_flights(state, pod, node_name, trace)
                if profile.enabled.pre_bind:
                    yield "PreBindPreFlight"
                if status.code is Code.ERROR:
                    # A waiting entry stays in the map with its timers (docs/semantics/framework.md#binding-cycle).
                    self._fail(core, profile, status, None)
                    return
                self.will_pre_bind = status is SUCCESS
            self.waiting = core.waiting_pods.get(uid)
            if self.will_pre_bind or (self.waiting is not None and profile.binding.announces_node):
                self._announce(core)
            self.phase = Phase.WAITING
            if self.waiting is not None:
                self.waiting.waiter = self
                state.drop_transient()
        if self.phase is Phase.WAITING:
            if self.waiting is not None:
                if self.waiting.signal is None:
                    return
                yield "WaitOnPermit"
                if not self._permitted(core, profile):
                    return
            # Done comes before PreBind: events from here on do not count for the pod.
            core.queue.done(uid)
            self.phase = Phase.BINDING

        if self.phase is Phase.BINDING:
            pre_bind, waited = profile.binding.pre_bind, self.pre_bind_wait
            if core.api.answers_later:
                write = partial(pre_bind, state, pod, node_name, trace, core.clock.now, waited)
                bound = self._answered(core, write)
            else:
                bound = pre_bind(state, pod, node_name, trace, core.clock.now, waited)
            if bound is None:
                return
            if isinstance(bound, PreBindWait):
                self.pre_bind_wait = bound
                state.drop_transient()
                core.pre_binding.add(self)
                return
            self.pre_bind_wait = None
            if profile.enabled.pre_bind:
                yield "PreBind"
            if bound is not SUCCESS:
                self._fail(core, profile, bound, None)
                return
            self.phase = Phase.ASKING
        told = self._bind_by_extender(core) if core.services.extenders else None
        if told is ASKING:
            state.drop_transient()
            core.binders.append(self)
            return
        bound = told
        if bound is None:
            bind = profile.binding.bind
            if core.api.answers_later:
                bound = self._answered(core, partial(bind, state, pod, node_name, trace))
            else:
                bound = bind(state, pod, node_name, trace)
            if bound is None:
                return
        yield "Bind"
        if bound is not SUCCESS:
            self._fail(core, profile, bound, None)
            return
        core.api.event("Normal", "Scheduled", pod, f"Successfully assigned {trace.pod} to {node_name}")
        core.queue.leave(self.queued, "Bound")
        if profile.enabled.post_bind:
            profile.binding.post_bind(state, pod, node_name, trace)
        self.phase = Phase.ENDED
        trace.result = "bound"
        trace.finished_at = core.clock.now
        core.observer.attempt(trace)
        if profile.enabled.post_bind:
            yield "PostBind"
        if state.pods_to_activate:
            activate_stashed(core, state)

    def _answered(self, core: SchedulingCore, ask: Callable[[], Said]) -> Said | None:
        """What plugins that write say; None while a write of theirs has no answer: ``run`` asks them again then."""
        api, uid = core.api, self.assumed.uid
        api.act_for(uid)
        try:
            said = ask()
        except Unanswered:
            self.state.drop_transient()
            core.standing[uid] = self
            return None
        api.settle(uid)
        return said

    def _bind_by_extender(self, core: SchedulingCore) -> Status | None:
        """What the extender that binds came to: None when none does, ASKING when it has to be asked.

        Rules: docs/semantics/extenders.md#bind.
        """
        extenders = core.extenders
        while self.asked < len(extenders):
            extender = extenders[self.asked]
            if not extender.binds or not extender.is_interested(self.pod):
                self.asked += 1
                continue
            if self.request is None:
                self.request = extender.bind_request(self.pod, self.node_name)
                if core.answerer is not None:
                    (self.answer,) = core.answerer((self.request,))
            if self.answer is None:
                return ASKING
            request, answer = self.request, self.answer
            self.request = self.answer = None
            self.asked += 1
            status = binding_of(core, extender, request, answer, self.pod, self.node_name, self.trace)
            if status is not None:
                return status
        return None

    def _announce(self, core: SchedulingCore) -> None:
        """status.nominatedNodeName tells others where the pod is about to go, unless it is bound at once."""
        error = core.api.patch_pod_status(self.pod, None, Nomination(self.node_name))
        if error is not None:
            core.observer.logged(f"Failed to update the nominated node name in the binding cycle: {error}")

    def _permitted(self, core: SchedulingCore, profile: Profile) -> bool:
        """Takes the signal."""
        status = self._signal(core)
        if status.is_success:
            return True
        if status.is_rejected:
            self.trace.placed_status = status
            # Upstream names the plugin as the only rejector, whatever its code: also ""
            # (docs/semantics/framework.md#waiting-on-permit).
            failed, fit_error = rejected_on_one_node(status, frozenset((status.plugin,)), frozenset())
            self._fail(core, profile, failed, fit_error)
        else:
            self._fail(core, profile, status, None)
        return False

    def _signal(self, core: SchedulingCore) -> Status:
        entry, self.waiting = self.waiting, None
        assert entry is not None
        core.waiting_pods.remove(self.pod.metadata.uid)
        signal = entry.signal
        assert signal is not None
        self.trace.wait_on_permit = signal
        core.observer.wait_ended(self.trace, signal)
        if signal.is_success or signal.is_rejected:
            return signal
        return Status.as_error(f"waiting on permit for pod: {error_text(signal)}", signal.plugin)

    def _fail(self, core: SchedulingCore, profile: Profile, status: Status, fit_error: FitError | None) -> None:
        """Unreserve, forget, tell the others that room is free again, and hand the pod to the failure handler."""
        self.phase = Phase.ENDED
        pod = self.pod
        profile.binding.unreserve(self.state, pod, self.node_name, self.trace)
        afterwards = False
        try:
            core.cache.forget_pod(pod)
        except CacheError as error:
            # No event without a successful ForgetPod (docs/semantics/framework.md#binding-cycle).
            core.observer.logged(f"ForgetPod failed: {error}")
        else:
            # A rejected pod must not wake itself with its own event, so that is sent when it is back in the queue.
            afterwards = status.is_rejected
            if not afterwards:
                core.queue.move_all(POD_DELETE, pod, None, core.now)
        handle_failure(core, self.queued, pod, status, fit_error, CLEAR_NOMINATION, self.trace)
        if afterwards:
            uid = pod.metadata.uid
            core.queue.move_all(POD_DELETE, pod, None, core.now, lambda other: other.metadata.uid != uid)

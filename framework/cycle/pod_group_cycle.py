"""The scheduling cycle of a pod group (docs/semantics/pod-groups.md#group-cycle).

All pods of the group that wait in the queue are tried out one after the other in one snapshot, each with its sisters
assumed where they found room, and everything is taken back. Only if the group can run, the same pods are then assumed,
reserved and permitted for real. Like a single pod's cycle, a generator that stops after every extension point.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial

from framework.cache.pod_groups import GroupKey, PodGroupState, group_of
from framework.cycle.binding_cycle import BindingCycle
from framework.cycle.core import SchedulingCore
from framework.cycle.diagnosis import Failed, rejected_on_one_node
from framework.cycle.failure import handle_failure
from framework.cycle.pod_group_condition import set_scheduled_condition
from framework.cycle.pod_group_placements import choose_placement
from framework.cycle.pod_group_result import GroupResult, Member, MemberOutcome, unschedulable
from framework.cycle.scheduling_cycle import (
    assumed_copy,
    must_be_skipped,
    new_trace,
    prepare_binding,
    schedule,
    skip,
)
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.pod_groups import PodGroupCycle
from framework.interface.status import SUCCESS, Code, Status
from framework.profiles import Profile, priority_of
from framework.queue import CLEAR_NOMINATION, Nomination, QueuedPodInfo
from framework.trace.attempt import AttemptTrace, PodGroupOutcome

Step = Generator[str, None, None]


class PodGroupRun:
    """``traces`` are those of all pods that were popped, in that order; ``trace`` of the one whose turn it is."""

    def __init__(self, core: SchedulingCore, queued: QueuedPodInfo, trace: AttemptTrace) -> None:
        self._core = core
        self._first = queued
        self.trace = trace
        self.traces = [trace]
        self._key: GroupKey = group_of(queued.pod) or ("", "")

    def run(self) -> Generator[str, None, list[BindingCycle]]:
        """Ends with the binding cycles to run."""
        core = self._core
        members = self._collect()
        profile = self._profile(members)
        if profile is None:
            return []
        members = [member for member in members if not self._skipped(*member)]
        if not members:
            return []
        core.cache.update_snapshot(core.snapshot)
        for _, trace in members:
            trace.nodes_total = len(core.snapshot)
        if profile.handle.feature_gates.enabled("TopologyAwareWorkloadScheduling"):
            group, try_out = self._group(), partial(self._try_out, profile)
            result = yield from choose_placement(core, profile, group, members, try_out)
        else:
            result = yield from self._try_out(profile, members)
        return (yield from self._submit(profile, members, result))

    # --- who takes part ---------------------------------------------------------------------------------------------

    def _collect(self) -> list[Member]:
        """All pods of the group that can leave the queue: by priority, then in the order of their first attempts."""
        core, first = self._core, self._first
        members = [(first, self.trace)]
        state = self._live_state()
        for pod in () if state is None else state.unscheduled_pods():
            if pod.metadata.name == first.pod.metadata.name:
                continue
            sister = core.queue.pop_specific(pod, core.now)
            if sister is not None:
                members.append((sister, new_trace(core, sister)))
                self.traces.append(members[-1][1])
        members.sort(
            key=lambda each: (-priority_of(each[0].pod), each[0].initial_attempt_timestamp or 0, each[0].sequence)
        )
        return members

    def _live_state(self) -> PodGroupState | None:
        groups = self._core.cache.pod_groups
        return None if groups is None else groups.get(*self._key)

    def _profile(self, members: list[Member]) -> Profile | None:
        """None after every pod failed, each under its own profile."""
        core = self._core
        name = ""
        text = ""
        for queued, _ in members:
            wanted = queued.pod.spec.scheduler_name
            if name and wanted != name:
                text = (
                    "all pods in a single pod group should have the same .spec.schedulerName set, "
                    f'got: "{wanted}" and "{name}"'
                )
                break
            name = name or wanted
        if not text and name in core.profiles:
            return core.profiles[name]
        status = Status.as_error(text or f'profile not found for scheduler name "{name}"')
        for queued, trace in members:
            handle_failure(core, queued, queued.pod, status, None, CLEAR_NOMINATION, trace)
        return None

    def _skipped(self, queued: QueuedPodInfo, trace: AttemptTrace) -> bool:
        if not must_be_skipped(self._core, queued.pod):
            return False
        skip(self._core, queued, trace)
        return True

    # --- trying out -------------------------------------------------------------------------------------------------

    def _group(self) -> PodGroupCycle:
        state = self._live_state()
        return PodGroupCycle(*self._key, members=PodGroupState() if state is None else state.copy())

    def _try_out(self, profile: Profile, members: Sequence[Member]) -> Generator[str, None, GroupResult]:
        """Upstream's default algorithm: the pods in their order, those that do not fit left aside."""
        core = self._core
        result = GroupResult(unschedulable())
        trial_group = self._group()
        try:
            for queued, trace in members:
                self.trace = trace
                tried = MemberOutcome(queued, trace, CycleState())
                tried.state.pod_group = trial_group
                yield from self._try_pod(profile, tried, trial_group)
                result.tried_pods.append(tried)
                if tried.assumed is None:
                    if tried.status.is_rejected:
                        continue
                    text = f"failed to schedule other pod from a pod group: {tried.status.message}"
                    result.status, result.waiting_on_preemption = Status.as_error(text), False
                    break
                if tried.permit is not None and tried.permit.is_success:
                    if any(each.requires_preemption for each in result.tried_pods):
                        result.status = unschedulable("pod group is waiting for preemption to complete")
                        result.waiting_on_preemption = True
                    else:
                        result.status = SUCCESS
        finally:
            for tried in reversed(result.tried_pods):
                if tried.assumed is not None:
                    self._take_back(core, profile, tried)
        return result

    def _try_pod(self, profile: Profile, tried: MemberOutcome, group: PodGroupCycle) -> Step:
        core, trace = self._core, tried.trace
        placed = yield from schedule(core, profile, tried.state, tried.queued.pod_info, trace)
        tried.state.filter_run = None
        if isinstance(placed, Failed):
            tried.failed(placed.status, placed.fit_error, placed.nomination)
            if placed.nomination is None or not placed.nomination.node_name:
                return
            # The others have to see it where its victims make room.
            tried.node_name, tried.requires_preemption = placed.nomination.node_name, True
        else:
            tried.node_name = trace.selected = placed
        assumed = assumed_copy(tried.queued.pod_info, tried.node_name)
        self._assume(assumed, group)
        status = profile.binding.reserve(tried.state, assumed.pod, tried.node_name, trace)
        if profile.enabled.reserve:
            yield "Reserve"
        tried.assumed = assumed
        if not status.is_success:
            self._reject(profile, tried, status)
            return
        permitted = profile.binding.permit(tried.state, assumed.pod, tried.node_name, trace).status
        if permitted.code is not Code.WAIT and not permitted.is_success:
            self._reject(profile, tried, permitted)
        else:
            tried.permit = permitted
        if profile.enabled.permit:
            yield "Permit"

    def _assume(self, assumed: PodInfo, group: PodGroupCycle) -> None:
        self._core.snapshot.assume_pod(assumed.pod.spec.node_name, assumed)
        members = group.members
        assert isinstance(members, PodGroupState)
        members.assume(assumed.pod)
        self._core.queue.nominator.delete(assumed.uid)

    def _reject(self, profile: Profile, tried: MemberOutcome, status: Status) -> None:
        """Reserve or Permit said no: the pod is out, the others are still tried after a rejection."""
        self._take_back(self._core, profile, tried)
        tried.assumed = None
        tried.requires_preemption = False
        fit_error = None
        if status.is_rejected:
            tried.trace.placed_status = status
            pending = frozenset((status.plugin,)) if status.code is Code.PENDING else frozenset[str]()
            status, fit_error = rejected_on_one_node(status, frozenset((status.plugin,)), pending)
        tried.failed(status, fit_error, CLEAR_NOMINATION)

    @staticmethod
    def _take_back(core: SchedulingCore, profile: Profile, tried: MemberOutcome) -> None:
        assert tried.assumed is not None
        assert tried.state.pod_group is not None
        pod = tried.assumed.pod
        profile.binding.unreserve(tried.state, pod, tried.node_name, tried.trace)
        core.snapshot.forget_pod(tried.node_name, tried.assumed.uid)
        members = tried.state.pod_group.members
        assert isinstance(members, PodGroupState)
        members.forget(tried.assumed.uid)
        if pod.status.nominated_node_name:
            core.queue.nominator.add(pod, Nomination(pod.status.nominated_node_name))

    # --- what follows -----------------------------------------------------------------------------------------------

    def _submit(
        self, profile: Profile, members: list[Member], result: GroupResult
    ) -> Generator[str, None, list[BindingCycle]]:
        core = self._core
        namespace, name = self._key
        bindings: list[BindingCycle] = []
        for i, (queued, trace) in enumerate(members):
            self.trace = trace
            tried = result.tried_pods[i] if i < len(result.tried_pods) else None
            trace.pod_group = PodGroupOutcome(
                f"{namespace}/{name}",
                tuple(each.key for each, _ in members),
                result.status,
                result.waiting_on_preemption,
                trace.permit,
                result.placement,
                result.placements,
            )
            if tried is not None and tried.status.is_success and result.status.is_success:
                binding = yield from self._for_real(profile, tried)
                if binding is not None:
                    bindings.append(binding)
                continue
            status, fit_error, nomination = result.failure_of(tried)
            handle_failure(core, queued, queued.pod, status, fit_error, nomination, trace)
        set_scheduled_condition(core, namespace, name, result.status)
        return bindings

    def _for_real(self, profile: Profile, tried: MemberOutcome) -> Generator[str, None, BindingCycle | None]:
        tried.state.pod_group = None
        trace = tried.trace
        # What the trial said at these points is kept with what the group came to.
        trace.reserve, trace.permit, trace.unreserve = (), (), ()
        return (yield from prepare_binding(self._core, profile, tried.state, tried.queued, tried.node_name, trace))

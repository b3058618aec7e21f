"""The scheduling cycle of one popped pod, a generator that stops after every extension point.

Rules: docs/semantics/framework.md#scheduling-cycle, docs/semantics/framework.md#binding-cycle.

Pop → snapshot → PreFilter, Filter, [PostFilter] → PreScore, Score → assume, Reserve, Permit → BindingCycle.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Final

import numpy as np
from msgspec.structs import replace

from framework.cache import CacheError
from framework.cycle import repetition
from framework.cycle.activation import activate_stashed
from framework.cycle.binding_cycle import BindingCycle
from framework.cycle.core import SchedulingCore
from framework.cycle.diagnosis import Diagnosis, Failed, FitError, rejected_on_one_node
from framework.cycle.extending import ExtenderFilter, Preemption, add_points, interested, positions_of, prioritize
from framework.cycle.failure import handle_failure
from framework.cycle.find_nodes import find_nodes
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.status import SUCCESS, Code, Status
from framework.objects import Pod
from framework.profiles import FeasibleNodes, Profile
from framework.profiles.batch import Batch, KeptTold, RankedNodes
from framework.profiles.binding import PERMITTED
from framework.queue import CLEAR_NOMINATION, Nomination, QueuedPodInfo
from framework.trace.attempt import AttemptTrace

NO_NODES: Final = "no nodes available to schedule pods"

Points = Generator[str, None, "BindingCycle | None"]
"""Yields the name of each extension point when it is done."""


def new_trace(core: SchedulingCore, queued: QueuedPodInfo) -> AttemptTrace:
    pod = queued.pod_info.pod
    return AttemptTrace(
        pod=queued.key,
        uid=queued.pod_info.uid,
        profile=pod.spec.scheduler_name,
        attempt=queued.attempts,
        cycle=core.queue.scheduling_cycle,
        at=core.clock.now,
        priority=pod.spec.priority or 0,
    )


def run_scheduling_cycle(core: SchedulingCore, queued: QueuedPodInfo, trace: AttemptTrace) -> Points:
    """Ends with the binding cycle to run, or None after a failure."""
    pod = queued.pod_info
    profile = core.profiles.get(pod.pod.spec.scheduler_name)
    if profile is None:
        core.observer.logged(f'profile not found for scheduler name "{pod.pod.spec.scheduler_name}"')
        skip(core, queued, trace)
        return None
    if must_be_skipped(core, pod.pod):
        skip(core, queued, trace)
        return None

    state = CycleState()
    core.cache.update_snapshot(core.snapshot)
    trace.nodes_total = len(core.snapshot.order_names)
    # What extenders say is asked anew each time.
    at_start = None if core.services.extenders and interested(core, pod.pod) else repetition.begin(core, profile, pod)
    if at_start is not None and at_start.last is not None and core.repeats.rule == "used":
        again = partial(schedule, core, profile, state, pod, trace)
        placed = yield from repetition.repeat(core, at_start.last, trace, again)
    else:
        placed = yield from schedule(core, profile, state, pod, trace)
        if at_start is not None:
            repetition.end(core, profile, state, pod, trace, at_start, placed)
    state.filter_run = None
    if isinstance(placed, Failed):
        handle_failure(core, queued, pod.pod, placed.status, placed.fit_error, placed.nomination, trace)
        return None
    return (yield from prepare_binding(core, profile, state, queued, placed, trace))


def skip(core: SchedulingCore, queued: QueuedPodInfo, trace: AttemptTrace) -> None:
    trace.result = "skipped"
    core.queue.done(queued.pod.metadata.uid)
    core.queue.leave(queued, "Skip")


def must_be_skipped(core: SchedulingCore, pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is not None:
        core.api.event("Warning", "FailedScheduling", pod, f"skip schedule deleting pod: {pod.key}")
        return True
    return core.cache.is_assumed(pod)


# --- where it goes ----------------------------------------------------------------------------------------------------


def schedule(
    core: SchedulingCore, profile: Profile, state: CycleState, pod: PodInfo, trace: AttemptTrace
) -> Generator[str, None, str | Failed]:
    """The node's name, or why there is none."""
    if trace.nodes_total == 0:
        status = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, error=NO_NODES)
        return Failed(status, None, CLEAR_NOMINATION)
    pod_class = profile.classes.begin(pod)
    extenders = ExtenderFilter(core, pod.pod, trace) if core.services.extenders else None
    try:
        found = yield from find_nodes(core, profile, state, pod, pod_class, trace, extenders)
        if isinstance(found, str):
            assert profile.batch is not None
            trace.feasible_nodes = trace.evaluated_nodes = 1
            _keep_for_equal_pods(core, profile, profile.batch, pod, found, found, trace)
            return found
        if found.error is not None:
            if trace.extender_calls:
                trace.extender_left = ()
            return Failed(found.error, None, CLEAR_NOMINATION)
        nodes = found.nodes
        if nodes.count == 0:
            if extenders is not None:
                extenders.dismiss()
                if trace.extender_calls:
                    trace.extender_left = ()
            return (yield from _no_fit(core, profile, state, pod, found.diagnosis, trace))
        trace.feasible_nodes = nodes.count
        trace.evaluated_nodes = nodes.count + len(found.diagnosis.statuses)
        # Who does not care for the pod leaves it at what plugins say; but without plugins nodes have 0 points, not 1.
        if extenders is not None and (interested(core, pod.pod) or not profile.enabled.score):
            return (yield from choose_with_extenders(core, profile, state, pod, nodes, trace))
        if nodes.count == 1:
            chosen: str | Failed = core.snapshot.name_of_row(nodes.only_row)
        elif not profile.enabled.score:
            chosen = core.ties.pick(core.snapshot.names_of_rows(nodes.rows))
        else:
            status = profile.scoring.run_pre_score(state, pod, nodes, trace)
            yield "PreScore"
            if status is not SUCCESS:
                return Failed(status, None, CLEAR_NOMINATION)
            chosen = _prioritize(core, profile, state, pod, nodes, trace)
            yield "Score"
        if profile.batch is not None and not isinstance(chosen, Failed):
            _keep_for_equal_pods(core, profile, profile.batch, pod, found.hint, chosen, trace)
        return chosen
    finally:
        if extenders is not None:
            extenders.dismiss()
        profile.classes.finish(pod_class)


def choose_with_extenders(
    core: SchedulingCore, profile: Profile, state: CycleState, pod: PodInfo, nodes: FeasibleNodes, trace: AttemptTrace
) -> Generator[str, None, str | Failed]:
    """As ``schedule`` chooses, with the points of extenders; they score also where no plugin does."""
    names = [core.snapshot.name_of_row(row) for row in nodes.rows.tolist()]
    positions = positions_of(core, nodes, trace)
    if nodes.verdicts is None and any(call.verb == "filter" for call in trace.extender_calls):
        trace.extender_left = tuple(positions)
    if nodes.count == 1:
        return names[0]
    status = profile.scoring.run_pre_score(state, pod, nodes, trace)
    yield "PreScore"
    if status is not SUCCESS:
        return Failed(status, None, CLEAR_NOMINATION)
    scored = profile.scoring.run_score(state, pod, nodes)
    if isinstance(scored, Status):
        yield "Score"
        return Failed(scored, None, CLEAR_NOMINATION)
    said = yield from prioritize(core, pod.pod, nodes, trace)
    trace.scores, trace.extender_points, has_entry = add_points(scored, names, positions, said)
    best = np.flatnonzero(trace.scores.total == trace.scores.best).tolist()
    if len(best) > 1:
        trace.tie_rule = core.ties.rule
    tied, drawn = [names[place] for place in best], [has_entry[place] for place in best]
    if len(best) > 1 and any(drawn):
        chosen = core.ties.pick_drawn(tied, drawn)
    else:
        chosen = core.ties.pick_scored(nodes.count, len(best), lambda: np.array(best, dtype=np.intp), lambda: tied)
    yield "Score"
    return tied[chosen]


def _no_fit(
    core: SchedulingCore, profile: Profile, state: CycleState, pod: PodInfo, diagnosis: Diagnosis, trace: AttemptTrace
) -> Generator[str, None, Failed]:
    nomination: Nomination | None = CLEAR_NOMINATION
    if profile.enabled.post_filter:
        review = Preemption(core, trace).review
        result, status = yield from profile.post_filter.run(state, pod, diagnosis.statuses, trace, review)
        diagnosis.post_filter_message = status.message
        named = None if result is None else result.nominated_node
        nomination = None if named is None else Nomination(named)
        yield "PostFilter"
    total = trace.nodes_total
    error = FitError(total, frozenset(diagnosis.unschedulable_plugins), frozenset(diagnosis.pending_plugins))
    return Failed(Status(Code.UNSCHEDULABLE, error=diagnosis.message(total)), error, nomination)


def _prioritize(
    core: SchedulingCore, profile: Profile, state: CycleState, pod: PodInfo, nodes: FeasibleNodes, trace: AttemptTrace
) -> str | Failed:
    scored = profile.scoring.run_score(state, pod, nodes)
    if isinstance(scored, Status):
        return Failed(scored, None, CLEAR_NOMINATION)
    trace.scores = scored.trace
    names, tied = core.snapshot.order_names, scored.tied
    if len(tied) > 1:
        trace.tie_rule = core.ties.rule
    chosen = core.ties.pick_scored(
        nodes.count, len(tied), scored.places, lambda: [names[position] for position in tied.tolist()]
    )
    return names[int(tied[chosen])]


def _keep_for_equal_pods(
    core: SchedulingCore, profile: Profile, batch: Batch, pod: PodInfo, hint: str, chosen: str, trace: AttemptTrace
) -> None:
    scores, names = trace.scores, core.snapshot.order_names
    rest = None if scores is None else partial(RankedNodes, core.ties, scores, names, chosen)
    cycle = core.queue.scheduling_cycle
    unusable = batch.placed(pod, hint, chosen, rest, cycle, core.clock.now)
    kept = 0 if unusable or hint == chosen else batch.left
    core.observer.batched(KeptTold(profile.name, cycle, hint, chosen, kept, unusable))


# --- taking it there --------------------------------------------------------------------------------------------------


def assumed_copy(pod: PodInfo, node_name: str) -> PodInfo:
    """The pod with its node; figures that were worked out do not depend on it and are taken along."""
    return pod.changed_to(replace(pod.pod, spec=replace(pod.pod.spec, node_name=node_name)))


def prepare_binding(
    core: SchedulingCore,
    profile: Profile,
    state: CycleState,
    queued: QueuedPodInfo,
    node_name: str,
    trace: AttemptTrace,
) -> Points:
    trace.selected = node_name
    assumed = assumed_copy(queued.pod_info, node_name)
    pod = assumed.pod
    try:
        core.cache.assume_pod(assumed)
    except CacheError as error:
        handle_failure(core, queued, pod, Status.as_error(str(error)), None, CLEAR_NOMINATION, trace)
        return None
    core.queue.nominator.delete(pod.metadata.uid)
    if core.proposals.is_used:
        core.proposals.attempt_ended(pod.metadata.uid, is_placed=True)

    status = profile.binding.reserve(state, pod, node_name, trace)
    if profile.enabled.reserve:
        yield "Reserve"
    if status is not SUCCESS:
        _undo(core, profile, state, queued, pod, status, trace)
        return None
    permitted = PERMITTED if not profile.enabled.permit else profile.binding.permit(state, pod, node_name, trace)
    if permitted.status.code is Code.WAIT:
        core.waiting_pods.add(pod, node_name, permitted.waits, core.now)
        trace.waiting_for = {plugin: wait / 1_000_000_000 for plugin, wait in permitted.waits.items()}
        trace.result = "waiting"
        core.observer.attempt(trace)
    elif permitted.status is not SUCCESS:
        _undo(core, profile, state, queued, pod, permitted.status, trace)
        return None
    if profile.enabled.permit:
        yield "Permit"
    if state.pods_to_activate:
        activate_stashed(core, state)
    return BindingCycle(profile.name, state, queued, assumed, node_name, trace)


def _undo(
    core: SchedulingCore,
    profile: Profile,
    state: CycleState,
    queued: QueuedPodInfo,
    pod: Pod,
    status: Status,
    trace: AttemptTrace,
) -> None:
    """After a failed Reserve or Permit."""
    profile.binding.unreserve(state, pod, pod.spec.node_name, trace)
    try:
        core.cache.forget_pod(pod)
    except CacheError as error:
        core.observer.logged(f"ForgetPod failed: {error}")
    fit_error = None
    if status.is_rejected:
        trace.placed_status = status
        pending = frozenset((status.plugin,)) if status.code is Code.PENDING else frozenset[str]()
        status, fit_error = rejected_on_one_node(status, frozenset((status.plugin,)), pending)
    handle_failure(core, queued, pod, status, fit_error, CLEAR_NOMINATION, trace)

"""Shadow, step by step: what this configuration would decide for a pod beside what the real scheduler decided.

The pod is decided on exactly the state at hand, which stays as it is: nothing is bound, evicted or moved in a queue,
and no draw of the seed is used up. So a difference is the configuration's, and any of the equally good nodes is
agreement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal, TypeVar

import msgspec

from framework.advice.placed_again import EVERY, RankedNode, ranking, refused_by
from framework.cycle.core import Answerer
from framework.cycle.diagnosis import Failed
from framework.cycle.find_nodes import feasible_nodes_to_find
from framework.cycle.scheduling_cycle import schedule
from framework.interface.cycle_state import CycleState
from framework.interface.node_info import PodInfo
from framework.interface.status import SUCCESS
from framework.objects import KubeObject, Pod
from framework.scheduler import Scheduler
from framework.scheduler.state import MidCycle
from framework.trace.attempt import AttemptTrace, PostFilterOutcome

O = TypeVar("O", bound=KubeObject)  # noqa: E741
Kind = Literal["same", "tie", "pending", "same_preemption", "other_node", "stays_pending", "preempts", "placed_here"]
ALIKE: Final[tuple[Kind, ...]] = ("same", "tie", "pending", "same_preemption")
UNSCHEDULABLE: Final = "Unschedulable"


class RealDecision(msgspec.Struct, frozen=True):
    """What the real scheduler did: the node that it bound the pod to, or why it did not."""

    node: str = ""
    nominated: str = ""
    """The node on which it preempts for the pod."""
    message: str = ""
    """Of the condition PodScheduled, when there is no node."""


class PluginPoints(msgspec.Struct, frozen=True):
    """Points times weight."""

    plugin: str
    own: int
    real: int


class Judgement(msgspec.Struct, frozen=True):
    """``kind``, where both agree: ``same`` (the only best node), ``tie`` (one of several best nodes), ``pending``
    (neither finds a node), ``same_preemption``. Else: ``other_node`` (bound, or preempting, elsewhere),
    ``stays_pending`` and ``preempts`` (the real one found a node without), ``placed_here``
    (the real one did not bind it).
    """

    pod: str
    """``namespace/name``."""
    uid: str
    profile: str
    kind: Kind
    real: RealDecision
    node: str
    """Ours, of several best the first by name; of a preemption the nominated one; "" for none."""
    tied: int
    """How many nodes are best; 0 when none was scored."""
    rank: int
    """Of the real node among ours; 0 when it is none of them."""
    margin: int
    """Points by which our node beats the real one."""
    plugin: str
    """That made the difference: the first Filter plugin that refuses the real node or the extender that leaves it out,
    or the Score plugin or the extender that favours our node most; "" when none did, and where both agree."""
    reasons: tuple[str, ...]
    """Of the plugin's refusal."""
    points: tuple[PluginPoints, ...]
    """Of our node and the real one, in the order of the profile, where both were scored."""
    victims: tuple[str, ...]
    """``namespace/name`` of those that would be evicted."""
    message: str
    """Ours, when we find no node."""
    sampled: int
    """How many feasible nodes would have ended a search with this configuration, where that is fewer than there are
    nodes; else 0. Here every node was looked at."""

    @property
    def agrees(self) -> bool:
        return self.kind in ALIKE


class _Unwritten:
    """Takes what PostFilter plugins write, and writes nothing."""

    def bind(self, pod: Pod, node_name: str) -> str | None:
        return None

    def update(self, obj: KubeObject) -> str | None:
        return None

    def create_object(self, obj: O) -> O | str:
        return obj

    def delete_object(self, obj: KubeObject) -> str | None:
        return None

    def delete_pod(self, pod: Pod) -> str | None:
        return None

    def patch_pod_condition(self, pod: Pod, type_: str, status: str, reason: str, message: str) -> str | None:
        return None

    def clear_nomination(self, pod: Pod) -> str | None:
        return None

    def evicts(self, preemptor: Pod, victims: Sequence[Pod]) -> None:
        return None

    def is_evicting_for(self, preemptor: Pod) -> bool:
        return False

    def event(self, type_: str, reason: str, pod: Pod, note: str) -> None:
        return None


def real_decision(before: KubeObject | None, after: KubeObject | None) -> RealDecision | None:
    """What a change of a pod says that the real scheduler decided; None when it says nothing of the kind.

    A pod that was not seen pending (``before`` None) was decided on a state that is not known.
    """
    if not isinstance(before, Pod) or not isinstance(after, Pod) or before.metadata.uid != after.metadata.uid:
        return None
    if before.spec.node_name:
        return None
    if after.spec.node_name:
        return RealDecision(node=after.spec.node_name)
    was, message = _unschedulable(before), _unschedulable(after)
    nominated = after.status.nominated_node_name
    if nominated and nominated != before.status.nominated_node_name:
        return RealDecision(nominated=nominated, message=message)
    return RealDecision(message=message) if message and message != was else None


def _unschedulable(pod: Pod) -> str:
    for each in pod.status.conditions:
        if each.type == "PodScheduled" and each.status == "False" and each.reason == UNSCHEDULABLE:
            return each.message
    return ""


def judged(scheduler: Scheduler, pod: Pod, real: RealDecision, ask: Answerer | None = None) -> Judgement:
    """``pod``: as it was before the real decision. Raises what ``decided`` raises."""
    return judge(scheduler, decided(scheduler, pod, ask), real)


def decided(scheduler: Scheduler, pod: Pod, ask: Answerer | None = None) -> AttemptTrace:
    """The attempt of ``pod`` up to the choice of its node, or up to PostFilter; ``message`` when it finds none.

    Every node is looked at. Members of a pod group are decided one by one. ``ask`` asks extenders, whose answers are
    about the time at which they are asked; what it raises is raised. Raises MidCycle within a cycle, and ValueError for
    a schedulerName without profile and for a configuration with extenders where nobody asks.
    """
    if scheduler.mid_cycle:
        raise MidCycle("a pod can only be decided between cycles")
    core = scheduler.core
    profile = scheduler.profiles.get(pod.spec.scheduler_name)
    if profile is None:
        raise ValueError(f"no profile for schedulerName {pod.spec.scheduler_name}")
    if core.services.extenders and ask is None:
        raise ValueError("the configuration names extenders, and nobody asks them here")
    trace = AttemptTrace(pod.key, pod.metadata.uid, profile.name, 0, 0, core.now, pod.spec.priority or 0)
    for plugin in profile.enabled.pre_enqueue:
        held = plugin.pre_enqueue(pod) or SUCCESS
        if not held.is_success:
            trace.status = held.with_plugin(plugin.name)
            trace.message = held.message
            return trace
    core.cache.update_snapshot(core.snapshot)
    trace.nodes_total = len(core.snapshot)
    with _as_it_was(scheduler, profile.name, ask):
        points = schedule(core, profile, CycleState(), PodInfo(pod), trace)
        while True:
            try:
                next(points)
            except StopIteration as end:
                placed: str | Failed = end.value
                break
    if isinstance(placed, Failed):
        trace.status, trace.message = placed.status, placed.status.message
    else:
        trace.selected = placed
    return trace


@contextmanager
def _as_it_was(scheduler: Scheduler, name: str, ask: Answerer | None) -> Iterator[None]:
    """Every node is looked at, nothing is written, and what attempts leave behind is taken back."""
    core, profile = scheduler.core, scheduler.profiles[name]
    services = core.services
    kept = core.next_start_node_index, core.takes_first_fit, services.api, services.asked
    percentage, batch = profile.percentage_of_nodes_to_score, profile.batch
    draws = services.generator.mark()
    profile.percentage_of_nodes_to_score, profile.batch = EVERY, None
    core.takes_first_fit, services.api = False, _Unwritten()
    answerer, core.answerer = core.answerer, ask
    try:
        yield
    finally:
        core.answerer = answerer
        core.next_start_node_index, core.takes_first_fit, services.api, services.asked = kept
        profile.percentage_of_nodes_to_score, profile.batch = percentage, batch
        services.generator.go_back(draws)


def judge(scheduler: Scheduler, attempt: AttemptTrace, real: RealDecision) -> Judgement:
    """``attempt``: of ``decided``, on the same state."""
    best, scored = _best(attempt)
    rank, plugins, _, ranked = ranking(attempt, real.node) if real.node else (0, (), (), ())
    preempting = next((each for each in attempt.post_filter if each.nominated_node), None)
    kind = _kind(best, preempting, real)
    node = "" if preempting is None else preempting.nominated_node or ""
    if best:
        node = real.node if real.node in best else best[0]
    plugin, margin = "", 0
    reasons: tuple[str, ...] = ()
    points: tuple[PluginPoints, ...] = ()
    if kind not in ALIKE and real.node:
        points, margin = _points(attempt, plugins, ranked, node, real.node)
        refusal = refused_by(attempt, real.node)
        if refusal is not None:
            plugin, reasons = refusal.plugin, refusal.all_reasons
        elif (left_out := left_out_by(attempt, real.node)) is not None:
            plugin, reasons = left_out
        elif attempt.nominated_node_used:
            reasons = (f"it is nominated to {attempt.nominated_node_used}",)
        elif points:
            plugin = max(points, key=lambda each: each.own - each.real).plugin
        elif attempt.status is not None:
            plugin, reasons = attempt.status.plugin, attempt.status.all_reasons
    percentage = scheduler.profiles[attempt.profile].percentage_of_nodes_to_score
    looked_for = feasible_nodes_to_find(percentage, attempt.nodes_total)
    return Judgement(
        pod=attempt.pod,
        uid=attempt.uid,
        profile=attempt.profile,
        kind=kind,
        real=real,
        node=node,
        tied=len(best) if scored else 0,
        rank=rank or int(real.node in best),
        margin=margin,
        plugin=plugin,
        reasons=reasons,
        points=points,
        victims=() if best or preempting is None else preempting.victims,
        message="" if best else attempt.message,
        sampled=looked_for if looked_for < attempt.nodes_total else 0,
    )


def _best(attempt: AttemptTrace) -> tuple[tuple[str, ...], bool]:
    """(the nodes that would do equally well by name, whether they were scored)."""
    if not attempt.selected:
        return (), False
    if attempt.filter is None:
        return (attempt.selected,), False
    names = attempt.filter.nodes
    if attempt.scores is not None:
        return tuple(sorted(names[position] for position in attempt.scores.candidates.tolist())), True
    if attempt.feasible_nodes == 1:
        return (attempt.selected,), False
    # A profile without Score plugins: all that it may take are alike.
    return tuple(sorted(names[position] for position in (attempt.filter.verdict == 0).nonzero()[0].tolist())), False


def _kind(best: tuple[str, ...], preempting: PostFilterOutcome | None, real: RealDecision) -> Kind:
    if best:
        if not real.node:
            return "placed_here"
        if real.node not in best:
            return "other_node"
        return "same" if len(best) == 1 else "tie"
    if real.node:
        return "stays_pending" if preempting is None else "preempts"
    if not real.nominated:
        return "pending" if preempting is None else "preempts"
    if preempting is None:
        return "stays_pending"
    # Equals of the chosen candidate were lost by no criterion.
    alike = {each.node for each in preempting.candidates if not each.lost_by} | {preempting.nominated_node}
    return "same_preemption" if real.nominated in alike else "other_node"


def _points(
    attempt: AttemptTrace, plugins: tuple[str, ...], ranked: tuple[RankedNode, ...], own: str, real: str
) -> tuple[tuple[PluginPoints, ...], int]:
    """(points of both nodes, by how many ours has more); nothing where one of the two was not scored."""
    rows = {each.node: each for each in ranked}
    if own not in rows or real not in rows:
        return (), 0
    pairs = [*zip(plugins, rows[own].scores, rows[real].scores, strict=True), *_points_of_extenders(attempt, own, real)]
    return tuple(PluginPoints(*each) for each in pairs), rows[own].total - rows[real].total


def _points_of_extenders(attempt: AttemptTrace, own: str, real: str) -> list[tuple[str, int, int]]:
    if not attempt.extender_points or attempt.scores is None or attempt.filter is None:
        return []
    names = [attempt.filter.nodes[position] for position in attempt.scores.whole().positions]
    mine, theirs = names.index(own), names.index(real)
    return [(each.extender, each.points[mine] or 0, each.points[theirs] or 0) for each in attempt.extender_points]


def left_out_by(attempt: AttemptTrace, node: str) -> tuple[str, tuple[str, ...]] | None:
    """(the extender that did not leave ``node``, which all plugins let pass; its reasons), or None."""
    if attempt.extender_left is None or attempt.filter is None:
        return None
    if node in {attempt.filter.nodes[position] for position in attempt.extender_left}:
        return None
    calls = [each for each in attempt.extender_calls if each.verb == "filter" and not each.error]
    # A call names the first of those that it left out; where none names the node it is among the others of the last.
    call = next((each for each in calls if node in each.left_out), calls[-1] if calls else None)
    said = dict(attempt.extender_statuses).get(node)
    return None if call is None else (call.extender, () if said is None else said.all_reasons)

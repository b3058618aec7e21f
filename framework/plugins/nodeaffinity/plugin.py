"""NodeAffinity: nodeSelector, required and preferred node affinity, and the profile's own.

Rules: docs/semantics/plugins.md#nodeaffinity.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    SKIP,
    ActionType,
    BoundsNormalizer,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Handle,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueueingHint,
    Reason,
    SignPlugin,
    StateKeyNotFound,
    Status,
    View,
    signing,
)
from framework.interface.scores import default_normalize
from framework.objects import KubeObject, Node, NodeSelector, Pod, PreferredSchedulingTerm
from framework.objects import NodeAffinity as NodeAffinitySpec
from framework.objects.field_errors import aggregate
from framework.objects.selectors import (
    NodeSelectorMatcher,
    PreferredTerm,
    compile_node_selector,
    compile_preferred_terms,
    field_node_names,
    required_node_affinity,
)
from framework.plugins.nodeaffinity.args import NodeAffinityArgs
from framework.sentences import noted

PRE_FILTER_KEY: Final = "PreFilterNodeAffinity"
PRE_SCORE_KEY: Final = "PreScoreNodeAffinity"
CONFLICT: Final = Status.unresolvable("pod affinity terms conflict")
ENFORCED, OWN = 1, 2
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match scheduler-enforced node affinity",)),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match Pod's node affinity/selector",)),
)


@dataclass(frozen=True, slots=True)
class Required:
    matcher: NodeSelectorMatcher

    def clone(self) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class Preferred:
    terms: tuple[PreferredTerm, ...]

    def clone(self) -> Self:
        return self


def _own_only(own: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(own, np.int8(0), np.int8(OWN))


def _enforced_then_own(enforced: NDArray[np.bool_], own: NDArray[np.bool_]) -> NDArray[np.int8]:
    return np.where(enforced, np.where(own, np.int8(0), np.int8(OWN)), np.int8(ENFORCED))


class NodeAffinity(
    PreFilterPlugin,
    ColumnFilterPlugin,
    PreScorePlugin,
    ColumnScorePlugin,
    BoundsNormalizer,
    EnqueueExtensions,
    SignPlugin,
):
    name: ClassVar[str] = "NodeAffinity"
    args_type: ClassVar[type[NodeAffinityArgs]] = NodeAffinityArgs
    description: ClassVar[str] = noted(
        "Keeps pods on nodes that match their node selector and affinity, and prefers some."
    )
    repeatable: ClassVar[bool] = True

    def __init__(self, args: NodeAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._added: NodeSelectorMatcher | None = None
        self._added_preferred: tuple[PreferredTerm, ...] | None = None
        added = args.added_affinity
        if added is not None:
            self._added = _added_selector(added)
            self._added_preferred = _added_preference(added)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        event = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (ClusterEventWithHint(event, self._after_node_change, of_equal_pods=True),)

    def _after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        assert isinstance(new, Node)
        if self._added is not None and not _matches(self._added, new):
            return QueueingHint.SKIP
        required = required_node_affinity(pod)
        if not _matches(required, new):
            # Upstream's hint fails on terms it cannot parse, and a failed hint queues.
            return QueueingHint.QUEUE if required.errors else QueueingHint.SKIP
        if not isinstance(old, Node):
            return QueueingHint.QUEUE
        return QueueingHint.SKIP if _matches(required, old) else QueueingHint.QUEUE

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        selector = _required_selector(pod.pod)
        if selector is None and self._added is None and pod.pod.spec.node_selector is None:
            return None, SKIP
        state.write(PRE_FILTER_KEY, Required(required_node_affinity(pod.pod)))
        if selector is None or not selector.node_selector_terms:
            return None, None
        names: set[str] = set()
        for term in selector.node_selector_terms:
            allowed = field_node_names(term)
            if allowed is None:
                return None, None
            names.update(allowed)
        if not names:
            return None, CONFLICT
        return PreFilterResult(frozenset(names)), None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            required = state.read(PRE_FILTER_KEY, Required).matcher
        except StateKeyNotFound:  # PreFilter is disabled for this plugin; upstream works it out here, too
            required = required_node_affinity(pod.pod)
        own = view.nodes_matching(required)
        if self._added is None:
            return Plan(_own_only, (own,), (), REASONS)
        return Plan(_enforced_then_own, (view.nodes_matching(self._added), own), (), REASONS)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return signing.node_affinity(pod.pod)

    def fragment(self, pod: PodInfo) -> Hashable:
        affinity = pod.pod.spec.affinity
        node_affinity = affinity.node_affinity if affinity else None
        preferred = node_affinity.preferred_during_scheduling_ignored_during_execution if node_affinity else None
        required = required_node_affinity(pod.pod), pod.pod.spec.node_selector is None, _required_selector(pod.pod)
        return *required, preferred

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        preferred, error = _preferred_terms(pod.pod)
        if error is not None:
            return error
        if preferred is None and self._added_preferred is None:
            return SKIP
        state.write(PRE_SCORE_KEY, Preferred(preferred or ()))
        return None

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            own = state.read(PRE_SCORE_KEY, Preferred).terms
        except StateKeyNotFound:  # PreScore is disabled for this plugin; upstream works it out here, too
            preferred, error = _preferred_terms(pod.pod)
            if error is not None:
                raise RuntimeError(error.message) from None
            own = preferred or ()
        terms = (*(self._added_preferred or ()), *own)
        weights = tuple(term.weight for term in terms)

        def kernel(*matches: NDArray[np.bool_]) -> NDArray[np.int64]:
            total = np.zeros(len(matches[0]), dtype=np.int64)
            for weight, matched in zip(weights, matches, strict=False):
                total += weight * matched.astype(np.int64)
            return total

        # Without terms one input is left, so that the kernel knows how many rows there are.
        matchers = [NodeSelectorMatcher(terms=(term.term,)) for term in terms] or [NodeSelectorMatcher()]
        return Plan(kernel, tuple(view.nodes_matching(matcher) for matcher in matchers), weights)

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return default_normalize(scores, highest, reverse=False)


def _matches(matcher: NodeSelectorMatcher, node: Node) -> bool:
    return matcher.matches(node.metadata.labels, node.metadata.name)


def _required_selector(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    return affinity.node_affinity.required_during_scheduling_ignored_during_execution


def _preferred_terms(pod: Pod) -> tuple[tuple[PreferredTerm, ...] | None, Status | None]:
    """None when the pod names no list at all (an empty list is one)."""
    affinity = pod.spec.affinity
    terms: tuple[PreferredSchedulingTerm, ...] | None = None
    if affinity is not None and affinity.node_affinity is not None:
        terms = affinity.node_affinity.preferred_during_scheduling_ignored_during_execution
    if terms is None:
        return None, None
    compiled, errors = compile_preferred_terms(terms)
    if errors:
        return None, Status.as_error(aggregate(errors))
    return compiled, None


def _added_selector(added: NodeAffinitySpec) -> NodeSelectorMatcher | None:
    required = added.required_during_scheduling_ignored_during_execution
    if required is None:
        return None
    matcher = compile_node_selector(required)
    if matcher.errors:
        texts = aggregate(matcher.errors)
        raise ValueError(f"parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: {texts}")
    return matcher


def _added_preference(added: NodeAffinitySpec) -> tuple[PreferredTerm, ...] | None:
    preferred = added.preferred_during_scheduling_ignored_during_execution
    if not preferred:
        return None
    compiled, errors = compile_preferred_terms(preferred)
    if errors:
        texts = aggregate(errors)
        raise ValueError(f"parsing addedAffinity.preferredDuringSchedulingIgnoredDuringExecution: {texts}")
    return compiled

"""InterPodAffinity: pods near or away from other pods (docs/semantics/plugins.md#interpodaffinity).

Both directions are inputs that follow placements by themselves: pods that the incoming pod's terms select, per domain,
and placed pods' terms that select the incoming pod.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from framework.interface import (
    SKIP,
    BoundsNormalizer,
    ClusterEventWithHint,
    Code,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    EnqueueExtensions,
    Handle,
    Input,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    Reason,
    SignPlugin,
    StateKeyNotFound,
    Status,
    View,
    signing,
)
from framework.interface.columns import DomainCounts, DomainInput, PodQuery, TermInput, TermKind, TermTarget
from framework.interface.scores import MAX_NODE_SCORE
from framework.plugins.interpodaffinity import hints
from framework.plugins.interpodaffinity.args import InterPodAffinityArgs
from framework.plugins.interpodaffinity.terms import Targets, parse_error, resolved
from framework.sentences import noted

PRE_FILTER_KEY: Final = "PreFilterInterPodAffinity"
PRE_SCORE_KEY: Final = "PreScoreInterPodAffinity"
NOT_NEAR, NOT_APART, UNWANTED = 1, 2, 3
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match pod affinity rules",)),
    Reason(Code.UNSCHEDULABLE, ("node(s) didn't match pod anti-affinity rules",)),
    Reason(Code.UNSCHEDULABLE, ("node(s) didn't satisfy existing pods anti-affinity rules",)),
)
EXISTING_ANTI: Final[tuple[tuple[TermKind, int | None], ...]] = ((TermKind.REQUIRED_ANTI, 1),)
PREFERENCES: Final[tuple[tuple[TermKind, int | None], ...]] = (
    (TermKind.PREFERRED, None),
    (TermKind.PREFERRED_ANTI, None),
)


@dataclass(frozen=True, slots=True)
class Required:
    """What PreFilter leaves for Filter. ``near``: the query for pods that match all affinity terms, and their keys."""

    near: PodQuery
    near_keys: tuple[str, ...]
    apart: tuple[tuple[PodQuery, str], ...]
    target: TermTarget

    def clone(self) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class Preferred:
    """What PreScore leaves for Score: placed terms that look at the pod, and pods that its own terms look at.

    ``placed`` None: there are no such terms.
    """

    transient: ClassVar[bool] = True
    placed: TermInput | None
    weights: tuple[int, ...]
    own: tuple[DomainInput, ...]

    def clone(self) -> Self:
        return self


class InterPodAffinity(
    PreFilterPlugin,
    ColumnFilterPlugin,
    PreScorePlugin,
    ColumnScorePlugin,
    BoundsNormalizer,
    EnqueueExtensions,
    SignPlugin,
):
    name: ClassVar[str] = "InterPodAffinity"
    args_type: ClassVar[type[InterPodAffinityArgs]] = InterPodAffinityArgs
    description: ClassVar[str] = noted("Puts pods near the pods they want to be with, and away from those they avoid.")
    repeatable: ClassVar[bool] = True

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._targets = Targets(handle)
        hard = args.hard_pod_affinity_weight
        self._weights = ((TermKind.REQUIRED, hard), *PREFERENCES) if hard > 0 else PREFERENCES

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return hints.events()

    def _required(self, pod: PodInfo, target: TermTarget) -> Required:
        terms = pod.affinity_terms
        return Required(
            PodQuery(tuple(resolved(term, self.handle) for term in terms.required)),
            tuple(dict.fromkeys(term.topology_key for term in terms.required)),
            tuple(
                dict.fromkeys(
                    (PodQuery((resolved(term, self.handle),)), term.topology_key) for term in terms.required_anti
                )
            ),
            target,
        )

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        error = parse_error(pod.affinity_terms)
        if error is not None:
            return None, Status.unresolvable(f"parsing pod: {error}")
        alone = not pod.affinity_terms.required and not pod.affinity_terms.required_anti
        if alone and not (some := view.any_terms(EXISTING_ANTI)).gather(None):
            state.rests_on(some)
            return None, SKIP
        target = self._targets.target_of(pod.pod)
        if alone:
            existing = view.placed_terms(EXISTING_ANTI, target).any()
            state.rests_on(existing)
            if not existing.gather(None):
                return None, SKIP
        state.write(PRE_FILTER_KEY, self._required(pod, target))
        return None, None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        try:
            required = state.read(PRE_FILTER_KEY, Required)
        except StateKeyNotFound as error:  # PreFilter is disabled for this plugin; upstream fails the attempt, too
            raise RuntimeError(f'error reading "{PRE_FILTER_KEY}" from cycleState: {error}') from None
        metadata = pod.pod.metadata
        near = [view.pods_in_domains(required.near, key) for key in required.near_keys]
        apart = [view.pods_in_domains(query, key) for query, key in required.apart]
        existing = view.placed_terms(EXISTING_ANTI, required.target)
        inputs: tuple[Input, ...] = (existing, *near, *(domains.any() for domains in near), *apart)
        own_match = bool(near) and required.near.matches(metadata.namespace, metadata.labels)
        constants = (len(near), own_match)
        return Plan(partial(_verdicts, *constants), inputs, constants, REASONS)

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        affinity = pod.pod.spec.affinity
        if affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None):
            return None
        if self.args.ignore_preferred_terms_of_existing_pods:
            return {}
        return {signing.LABELS: signing.pairs(pod.pod.metadata.labels)}

    def fragment(self, pod: PodInfo) -> Hashable | None:
        terms = pod.affinity_terms
        if terms.errors:
            return None
        return terms.required, terms.required_anti, terms.preferred, terms.preferred_anti, *_whom(pod)

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        terms = pod.affinity_terms
        prefers = _prefers(pod)
        if self.args.ignore_preferred_terms_of_existing_pods and not prefers:
            return SKIP
        error = parse_error(terms)
        if error is not None:
            return Status.as_error(f"failed to parse pod: {error}")
        weights, own = self._own(pod, view)
        placed: TermInput | None = None
        meant = view.any_terms(self._weights)
        if meant.gather(None):
            placed = view.placed_terms(self._weights, self._targets.target_of(pod.pod))
            meant = placed.any()
        state.rests_on(meant)
        found = is_meant = meant.gather(None)
        for domains in own:
            some = domains.any()
            state.rests_on(some)
            found = found or some.gather(None)
        if not found:
            return SKIP
        state.write(PRE_SCORE_KEY, Preferred(placed if is_meant else None, weights, own))
        return None

    def _own(self, pod: PodInfo, view: View) -> tuple[tuple[int, ...], tuple[DomainInput, ...]]:
        """The weights of the pod's terms, and whom they select."""
        weights: list[int] = []
        own: list[DomainInput] = []
        terms = pod.affinity_terms
        for sign, listed in ((1, terms.preferred), (-1, terms.preferred_anti)):
            for weight, term in listed:
                weights.append(sign * weight)
                own.append(view.pods_in_domains(PodQuery((resolved(term, self.handle),)), term.topology_key))
        return tuple(weights), tuple(own)

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        try:
            preferred = state.read(PRE_SCORE_KEY, Preferred)
        except StateKeyNotFound as error:  # PreScore is disabled for this plugin; upstream fails the attempt, too
            raise RuntimeError(f'failed to read "{PRE_SCORE_KEY}" from cycleState: {error}') from None
        if preferred.placed is None:
            return Plan(partial(_own_scores, preferred.weights), preferred.own, preferred.weights)
        constants = (preferred.weights, "placed")
        return Plan(partial(_scores, preferred.weights), (preferred.placed, *preferred.own), constants)

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        difference = highest - lowest
        if difference <= 0:
            return np.zeros_like(scores)
        # The division comes first, as upstream's rounding depends on it.
        scaled = MAX_NODE_SCORE * ((scores - lowest).astype(np.float64) / float(difference))
        return scaled.astype(np.int64)


def _whom(pod: PodInfo) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What placed pods' terms look at."""
    metadata = pod.pod.metadata
    return metadata.namespace, tuple(sorted(metadata.labels.items()))


def _prefers(pod: PodInfo) -> bool:
    return bool(pod.preferred_affinity or pod.preferred_anti_affinity)


def _in_some_domain(counts: DomainCounts) -> NDArray[np.bool_]:
    """Per row: its domain's number is above 0. Rows without the key have no domain."""
    of_domain = counts.table > 0
    of_domain[-1] = False
    return of_domain[counts.codes]


def _verdicts(near_count: int, own_match: bool, existing: NDArray[np.int64], *domains: Any) -> NDArray[np.int8]:
    near: tuple[DomainCounts, ...] = domains[:near_count]
    somewhere: tuple[bool, ...] = domains[near_count : 2 * near_count]
    verdicts = np.where(existing > 0, np.int8(UNWANTED), np.int8(0))
    for apart in domains[2 * near_count :]:
        verdicts[_in_some_domain(apart)] = NOT_APART
    if near:
        # The first pod of a series that wants to be near itself may go anywhere that has the keys.
        first = own_match and not any(somewhere)
        matched = [counts.codes >= 0 if first else _in_some_domain(counts) for counts in near]
        verdicts[~np.logical_and.reduce(matched)] = NOT_NEAR
    return verdicts


def _scores(weights: tuple[int, ...], placed: NDArray[np.int64], *domains: DomainCounts) -> NDArray[np.int64]:
    return placed + _own_scores(weights, *domains) if domains else placed


def _own_scores(weights: tuple[int, ...], *domains: DomainCounts) -> NDArray[np.int64]:
    total: NDArray[np.int64] | None = None
    for weight, counts in zip(weights, domains, strict=True):
        of_domain = counts.table * weight
        of_domain[-1] = 0
        mine = of_domain.take(counts.codes)
        total = mine if total is None else total + mine
    assert total is not None
    return total

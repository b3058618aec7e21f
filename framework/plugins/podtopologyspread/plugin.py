"""PodTopologySpread: pods of a kind spread over zones, hosts or any other label.

Rules: docs/semantics/plugins.md#podtopologyspread.

Filter reads two inputs per hard constraint, the pods in the node's domain and the smallest domain; both follow
placements by themselves, so nothing here counts pods. Score weighs the soft constraints' counts by how many domains
the feasible nodes make up.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple, Self

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
from framework.interface.columns import ABSENT, DomainCounts, DomainMinimum
from framework.interface.scores import MAX_NODE_SCORE
from framework.kernels.domains import Credit, scores_of, scores_of_few
from framework.objects import Pod
from framework.objects.selectors import SelectorError, required_node_affinity
from framework.objects.tolerations import COMPARISONS_GATE
from framework.plugins.podtopologyspread import hints
from framework.plugins.podtopologyspread.args import SYSTEM_DEFAULTING, PodTopologySpreadArgs
from framework.plugins.podtopologyspread.constraints import (
    DO_NOT_SCHEDULE,
    HOSTNAME,
    SCHEDULE_ANYWAY,
    SYSTEM_DEFAULTS,
    Constraint,
    constraints_of,
    controller_of,
    counted_nodes,
    default_selector,
    with_selector,
)
from framework.sentences import noted

PRE_FILTER_KEY: Final = "PreFilterPodTopologySpread"
PRE_SCORE_KEY: Final = "PreScorePodTopologySpread"
NOT_MATCHED: Final = "node(s) didn't match pod topology spread constraints"
KEY_MISSING, SKEWED = 1, 2
REASONS: Final = (
    Reason(Code.SUCCESS, ()),
    Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (f"{NOT_MATCHED} (missing required label)",)),
    Reason(Code.UNSCHEDULABLE, (NOT_MATCHED,)),
)


@dataclass(frozen=True, slots=True)
class Hard:
    """What PreFilter leaves for Filter."""

    constraints: tuple[Constraint, ...]

    def clone(self) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class Soft:
    """What PreScore leaves for Score. ``ignored``: per row, the node lacks a key and stays out; None: no node does."""

    constraints: tuple[Constraint, ...]
    weights: tuple[float, ...]
    require_all: bool
    ignored: NDArray[np.bool_] | None

    def clone(self) -> Self:
        return self


class _Limit(NamedTuple):
    max_skew: int
    min_domains: int
    self_match: int


class PodTopologySpread(
    PreFilterPlugin,
    ColumnFilterPlugin,
    PreScorePlugin,
    ColumnScorePlugin,
    BoundsNormalizer,
    EnqueueExtensions,
    SignPlugin,
):
    name: ClassVar[str] = "PodTopologySpread"
    args_type: ClassVar[type[PodTopologySpreadArgs]] = PodTopologySpreadArgs
    description: ClassVar[str] = noted("Spreads pods evenly over zones, nodes or other groups of nodes.")
    repeatable: ClassVar[bool] = True

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._comparisons = handle.feature_gates.enabled(COMPARISONS_GATE)
        self._system_defaulted = args.defaulting_type == SYSTEM_DEFAULTING
        self._defaults = SYSTEM_DEFAULTS if self._system_defaulted else args.default_constraints

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return hints.events(self._hard)

    def _constraints(self, pod: Pod, action: str) -> tuple[Constraint, ...]:
        """Raises SelectorError."""
        labels = pod.metadata.labels
        own = pod.spec.topology_spread_constraints
        if own:
            return constraints_of(own, labels, action)
        constraints = constraints_of(self._defaults, labels, action)
        if not constraints:
            return ()
        selector = default_selector(pod, self.handle)
        return () if selector.is_empty else with_selector(constraints, selector)

    def _hard(self, pod: Pod) -> tuple[Constraint, ...]:
        try:
            return self._constraints(pod, DO_NOT_SCHEDULE)
        except SelectorError as error:
            raise SelectorError(f"{_whose(pod, 'hard')}: {error}") from None

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        try:
            constraints = self._hard(pod.pod)
        except SelectorError as error:
            return None, Status.as_error(f"get constraints from pod: {error}")
        if not constraints:
            return None, SKIP
        state.write(PRE_FILTER_KEY, Hard(constraints))
        return None, None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        try:
            constraints = state.read(PRE_FILTER_KEY, Hard).constraints
        except StateKeyNotFound as error:  # PreFilter is disabled for this plugin; upstream fails the attempt, too
            raise RuntimeError(f'reading "{PRE_FILTER_KEY}" from cycleState: {error}') from None
        metadata = pod.pod.metadata
        required = required_node_affinity(pod.pod)
        keys = tuple(dict.fromkeys(c.topology_key for c in constraints))
        inputs: list[Input] = []
        limits: list[_Limit] = []
        for constraint in constraints:
            eligible = counted_nodes(view, constraint, keys, pod.pod, required, comparisons=self._comparisons)
            domains = view.pods_in_domains(constraint.query(metadata.namespace), constraint.topology_key, eligible)
            inputs += (domains, domains.minimum())
            self_match = int(constraint.selector.matches(metadata.labels))
            limits.append(_Limit(constraint.max_skew, constraint.min_domains, self_match))
        constants = tuple(limits)
        return Plan(partial(_verdicts, constants), tuple(inputs), constants, REASONS)

    @property
    def signs_pods(self) -> bool:
        return not self._defaults

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        return None if pod.pod.spec.topology_spread_constraints or self._defaults else {}

    def fragment(self, pod: PodInfo) -> Hashable | None:
        try:
            hard, soft = self._fragment(pod.pod, DO_NOT_SCHEDULE), self._fragment(pod.pod, SCHEDULE_ANYWAY)
        except SelectorError:
            return None
        return hard, soft, bool(pod.pod.spec.topology_spread_constraints)

    def _fragment(self, pod: Pod, action: str) -> Hashable:
        """Of the pod alone: what the defaults select depends on other objects, too."""
        metadata, spec = pod.metadata, pod.spec
        if spec.topology_spread_constraints:
            constraints = constraints_of(spec.topology_spread_constraints, metadata.labels, action)
            whom: Hashable = tuple(constraint.selector.matches(metadata.labels) for constraint in constraints)
        else:
            constraints = constraints_of(self._defaults, metadata.labels, action)
            whom = (tuple(sorted(metadata.labels.items())), controller_of(pod))
        if not constraints:
            return ()
        return metadata.namespace, constraints, whom, required_node_affinity(pod), spec.tolerations

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        try:
            constraints = self._constraints(pod.pod, SCHEDULE_ANYWAY)
        except SelectorError as error:
            return Status.as_error(f"calculating preScoreState: {_whose(pod.pod, 'soft')}: {error}")
        if not constraints:
            return SKIP
        # With the system's defaults a node without a zone still spreads by host name.
        require_all = bool(pod.pod.spec.topology_spread_constraints) or not self._system_defaulted
        labels = {constraint.topology_key: view.label(constraint.topology_key) for constraint in constraints}
        state.rests_on(*labels.values(), feasible=True)
        found = {key: label.occurring(feasible) for key, label in labels.items()}
        ignored = None
        scored = feasible
        # ABSENT is below all codes.
        if require_all and min([codes[0] for codes in found.values() if len(codes)], default=0) == ABSENT:
            lacking = np.logical_or.reduce([label.gather(feasible).codes == ABSENT for label in labels.values()])
            ignored = np.zeros(int(feasible.max()) + 1, dtype=np.bool_)
            ignored[feasible[lacking]] = True
            scored = feasible[~lacking]
            found = {key: label.occurring(scored) for key, label in labels.items()}
        weights = []
        for constraint in constraints:
            key = constraint.topology_key
            size = len(scored) if key == HOSTNAME else _distinct(found[key], labels[key].code_of(""))
            # Of many domains each holds few pods: without a weight host names would vanish beside zones. A logarithm
            # does not turn that round, and + 2 keeps the weight above 1 for one domain and above 0 for none
            # (docs/semantics/plugins.md#spread-score).
            weights.append(math.log(size + 2))
        state.write(PRE_SCORE_KEY, Soft(constraints, tuple(weights), require_all, ignored))
        return None

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        soft = _read_soft(state)
        namespace = pod.pod.metadata.namespace
        required = required_node_affinity(pod.pod)
        keys = tuple(dict.fromkeys([c.topology_key for c in soft.constraints])) if soft.require_all else ()
        inputs: list[Input] = []
        credits: list[Credit] = []
        for constraint, weight in zip(soft.constraints, soft.weights, strict=True):
            key, query = constraint.topology_key, constraint.query(namespace)
            per_node = key == HOSTNAME
            if per_node:
                # Upstream counts the pods of the very node here, whatever the inclusion policies say.
                inputs += (view.eligible((key,), None, None), view.pods_on_node(query))
            else:
                eligible = counted_nodes(view, constraint, keys, pod.pod, required, comparisons=self._comparisons)
                inputs.append(view.pods_in_domains(query, key, eligible, keyless_as_empty=not soft.require_all))
            # The same for all domains, so that normalising shows smaller differences the more skew is allowed; a
            # maxSkew of 1 changes nothing.
            credits.append(Credit(per_node, weight, constraint.max_skew - 1))
        constants = (tuple(credits), soft.require_all)
        return Plan(partial(scores_of, *constants), tuple(inputs), constants, few=partial(scores_of_few, *constants))

    def is_bounded(self, state: CycleState) -> bool:
        return _read_soft(state).ignored is None

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        highest = max(highest, 0)
        if highest == 0:
            return np.full_like(scores, MAX_NODE_SCORE)
        # No dividend of a node that counts is negative, so rounding down is Go's truncation.
        return MAX_NODE_SCORE * (highest + lowest - scores) // highest

    def normalize_score(
        self, state: CycleState, pod: Pod, scores: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], Status | None]:
        ignored = _read_soft(state).ignored
        if ignored is None:
            return super().normalize_score(state, pod, scores, rows)
        out = ignored[rows]
        kept = scores[~out]
        if not len(kept):
            return np.zeros_like(scores), None
        result = self.normalize_between(scores, int(kept.min()), int(kept.max()))
        result[out] = 0
        return result, None


def _whose(pod: Pod, kind: str) -> str:
    if pod.spec.topology_spread_constraints:
        return f"obtaining pod's {kind} topology spread constraints"
    return f"setting default {kind} topology spread constraints"


def _read_soft(state: CycleState) -> Soft:
    try:
        return state.read(PRE_SCORE_KEY, Soft)
    except StateKeyNotFound as error:  # PreScore is disabled for this plugin; upstream fails the attempt, too
        raise RuntimeError(f'error reading "{PRE_SCORE_KEY}" from cycleState: {error}') from None


def _distinct(codes: NDArray[np.int32], empty: int | None) -> int:
    """How many values; to upstream, a node without the key has the value ""."""
    return len(codes) - (empty is not None and ABSENT in codes and empty in codes)


def _verdicts(limits: tuple[_Limit, ...], *gathered: Any) -> NDArray[np.int8]:
    """Once per domain, then spread over the rows; the first constraint that fails decides."""
    result: NDArray[np.int8] | None = None
    for i, limit in enumerate(limits):
        counts: DomainCounts = gathered[2 * i]
        smallest: DomainMinimum = gathered[2 * i + 1]
        minimum = 0 if smallest.domains < limit.min_domains else smallest.minimum
        of_domain = (counts.table + (limit.self_match - minimum) > limit.max_skew).astype(np.int8) * SKEWED
        of_domain[-1] = KEY_MISSING
        of_row = of_domain[counts.codes]
        result = of_row if result is None else np.where(result == 0, of_row, result)
    assert result is not None
    return result

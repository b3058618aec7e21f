"""The constraints of a pod, its own or the profile's defaults, ready to be evaluated.

Rules: docs/semantics/plugins.md#podtopologyspread.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from framework.interface import Handle, Input, View
from framework.interface.affinity_terms import compiled
from framework.interface.columns import PodQuery
from framework.objects import (
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    TopologySpreadConstraint,
)
from framework.objects.selectors import (
    LabelMatcher,
    NodeSelectorMatcher,
    SelectorError,
    matcher_from_labels,
)
from framework.objects.tolerations import NO_EXECUTE, NO_SCHEDULE

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"
HONOR: Final = "Honor"
HARD_EFFECTS: Final = (NO_SCHEDULE, NO_EXECUTE)

# They stand for the plugin SelectorSpread of former versions: soft, as its scores were, and zones may differ by more
# pods than nodes because they hold more.
SYSTEM_DEFAULTS: Final = (
    TopologySpreadConstraint(topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY, max_skew=3),
    TopologySpreadConstraint(topology_key=ZONE, when_unsatisfiable=SCHEDULE_ANYWAY, max_skew=5),
)


class Constraint(NamedTuple):
    max_skew: int
    topology_key: str
    selector: LabelMatcher
    min_domains: int
    honor_affinity: bool
    honor_taints: bool

    def query(self, namespace: str) -> PodQuery:
        return PodQuery(((frozenset((namespace,)), self.selector),), spreading=True)


def constraints_of(
    constraints: Iterable[TopologySpreadConstraint], labels: dict[str, str], action: str
) -> tuple[Constraint, ...]:
    """Those with this whenUnsatisfiable. Raises SelectorError."""
    return tuple(
        [
            Constraint(
                constraint.max_skew,
                constraint.topology_key,
                _with_label_keys(compiled(constraint.label_selector), constraint.match_label_keys, labels),
                1 if constraint.min_domains is None else constraint.min_domains,
                constraint.node_affinity_policy in (None, HONOR),
                constraint.node_taints_policy == HONOR,
            )
            for constraint in constraints
            if constraint.when_unsatisfiable == action
        ]
    )


def _with_label_keys(selector: LabelMatcher, keys: tuple[str, ...], labels: dict[str, str]) -> LabelMatcher:
    wanted = {key: labels[key] for key in keys if key in labels} if keys else None
    if not wanted:
        return selector
    # A selector that is absent selects nothing, whatever the keys say.
    return selector.and_also(matcher_from_labels(wanted).requirements)


def with_selector(constraints: tuple[Constraint, ...], selector: LabelMatcher) -> tuple[Constraint, ...]:
    return tuple(
        Constraint(c.max_skew, c.topology_key, selector, c.min_domains, c.honor_affinity, c.honor_taints)
        for c in constraints
    )


def default_selector(pod: Pod, handle: Handle) -> LabelMatcher:
    """What the pod's Services and its controller select, together (upstream helper.DefaultSelector)."""
    objects, namespace, labels = handle.objects, pod.metadata.namespace, pod.metadata.labels
    merged: dict[str, str] = {}
    for service in objects.list(Service, namespace):
        wanted = service.spec.selector
        if wanted and matcher_from_labels(wanted).matches(labels):
            merged.update(wanted)
    owner = controller_of(pod)
    if owner is None:
        return matcher_from_labels(merged)
    kind = (owner.api_version, owner.kind)
    if kind == ("v1", "ReplicationController"):
        controller = objects.get(ReplicationController, namespace, owner.name)
        if controller is not None:
            merged.update(controller.spec.selector or {})
        return matcher_from_labels(merged)
    workload: ReplicaSet | StatefulSet | None = None
    if kind == ("apps/v1", "ReplicaSet"):
        workload = objects.get(ReplicaSet, namespace, owner.name)
    elif kind == ("apps/v1", "StatefulSet"):
        workload = objects.get(StatefulSet, namespace, owner.name)
    selector = matcher_from_labels(merged)
    if workload is None:
        return selector
    try:
        return selector.and_also(compiled(workload.spec.selector).requirements)
    except SelectorError:
        return selector


def controller_of(pod: Pod) -> OwnerReference | None:
    return next((owner for owner in pod.metadata.owner_references if owner.controller), None)


def counted_nodes(
    view: View,
    constraint: Constraint,
    keys: tuple[str, ...],
    pod: Pod,
    required: NodeSelectorMatcher,
    *,
    comparisons: bool,
) -> Input | None:
    """The nodes whose pods count for ``constraint``: they have all ``keys`` and pass its inclusion policies.

    ``comparisons``: the gate TaintTolerationComparisonOperators.
    """
    matcher = required if constraint.honor_affinity and not required.is_empty else None
    tolerating = view.tolerating(pod, HARD_EFFECTS, comparisons=comparisons) if constraint.honor_taints else None
    if not keys and matcher is None and tolerating is None:
        return None
    return view.eligible(keys, matcher, tolerating)
